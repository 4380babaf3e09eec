// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import type { AuditEntry, Grant } from "../../src/protocol/types";
import { capabilitiesIn } from "../../src/server/announced";
import { AuditPage } from "../../webview/parts/Audit";
import { Banner } from "../../webview/parts/Banner";
import { PermissionsPage } from "../../webview/parts/Permissions";
import { ruleInWords } from "../../webview/text/rule";
import { expectAccessible, READY, show, stateOf } from "../context/panel";

const state = stateOf("edit");
const listServers = () => Promise.resolve({ servers: [] });
const listMemories = () => Promise.resolve({ memories: [] });
const listSkills = () => Promise.resolve([]);
const listAgents = () => Promise.resolve({ enabled: true, agents: [] });
const LONG = `Bash(${"x".repeat(300)})`;

describe("what is allowed for good", () => {
  test("is listed with its whole rule and taken back", async () => {
    let grants: Grant[] = [
      { id: "a", rule: LONG, scope: "always" },
      { id: "b", rule: "Edit(src/\u202e**)", scope: "chat" },
    ];
    const revokeGrant = vi.fn((id: string) => {
      grants = grants.filter((grant) => grant.id !== id);
      return Promise.resolve();
    });
    const { container } = show(<PermissionsPage state={state} />, {
      listGrants: () => Promise.resolve(grants),
      listServers,
      listMemories,
      listSkills,
      listAgents,
      revokeGrant,
    });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(2));
    expect(container.querySelector("code")!.textContent).toBe(LONG);
    expect(container.textContent).not.toContain("\u202e");
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: `Take back ${LONG}` }));
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(1));
    expect(revokeGrant).toHaveBeenCalledExactlyOnceWith("a");
  });

  test("belongs to a folder", async () => {
    const grants: Grant[] = [
      { id: "a", rule: "Bash(make:*)", scope: "always", folder: "/home/ann/\u202eone", person: "ann" },
    ];
    const { container } = show(<PermissionsPage state={state} />, {
      listGrants: () => Promise.resolve(grants),
      listServers,
      listMemories,
      listSkills,
      listAgents,
    });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(1));
    const [one] = container.querySelectorAll("li");
    expect(one!.textContent).toContain("in /home/ann/");
    expect(one!.textContent).not.toContain("\u202e");
    expect(screen.getAllByRole("button", { name: /^Take back Bash/u })).toHaveLength(1);
    await expectAccessible(container);
  });

  test("says so when there is nothing, and Escape leads back", async () => {
    const { dispatched } = show(<PermissionsPage state={state} />, {
      listGrants: () => Promise.resolve([]),
      listServers,
      listMemories,
      listSkills,
      listAgents,
    });
    await waitFor(() => expect(screen.getByRole("status").textContent).toContain("Nothing is allowed for good"));
    fireEvent.keyDown(screen.getByRole("heading"), { key: "Escape" });
    expect(dispatched).toEqual([{ kind: "page", page: "chat" }]);
  });
});

describe("what was decided", () => {
  const entry: AuditEntry = {
    at: 1_700_000_000,
    chatId: "c",
    kind: "call",
    tool: "Bash",
    title: "List",
    decision: "allow",
    by: "rule",
    rule: "Bash(ls:*)",
    detail: "ls \u202e-a",
    folder: "/home/ann/one",
  };
  const blocked: AuditEntry = {
    at: 1_700_000_001,
    chatId: "c",
    kind: "violation",
    tool: "Bash",
    title: "make",
    decision: "violation",
    by: "sandbox",
    detail: "/home/ann/.ssh\n/etc",
  };

  test("is shown of the chat, with the rule and whoever decided, or of all chats", async () => {
    const audit = vi.fn(() => Promise.resolve([blocked, entry]));
    const { container } = show(<AuditPage state={state} />, { audit });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(2));
    const [first, second] = container.querySelectorAll("li");
    expect(first!.textContent).toContain("Kept back by the sandbox");
    expect(first!.textContent).toContain("/home/ann/.ssh");
    expect(second!.textContent).toContain("Allowed by a rule (Bash(ls:*))");
    expect(second!.textContent).toContain("in /home/ann/one");
    expect(container.textContent).not.toContain("\u202e");
    await expectAccessible(container);
    expect(audit).toHaveBeenLastCalledWith(state.chat!.chat.id);
    fireEvent.click(screen.getByRole("checkbox", { name: "In all chats" }));
    await waitFor(() => expect(audit).toHaveBeenLastCalledWith(null));
  });

  test("says so when there is nothing, and Escape leads back", async () => {
    const { dispatched } = show(<AuditPage state={state} />, { audit: () => Promise.resolve([]) });
    await waitFor(() => expect(screen.getByRole("status").textContent).toContain("Nothing is on record"));
    fireEvent.keyDown(screen.getByRole("heading"), { key: "Escape" });
    expect(dispatched).toEqual([{ kind: "page", page: "chat" }]);
  });
});

describe("restricted mode", () => {
  test("is said by the panel, with a way out", () => {
    const { told } = show(<Banner state={{ ...state, server: { ...READY, restricted: true } }} />);
    expect(screen.getByRole("status").textContent).toContain("nothing is written or run");
    fireEvent.click(screen.getByRole("button", { name: "Manage trust" }));
    expect(told).toEqual([{ kind: "command", command: "codelaw.manageTrust" }]);
  });

  test("is not spoken of in a folder that is trusted", () => {
    show(<Banner state={{ ...state, server: READY }} />);
    expect(screen.getByRole("status").textContent).toBe("");
  });

  test("is told to the server", () => {
    expect([capabilitiesIn(true), capabilitiesIn(false)].map(({ workspaceTrusted }) => workspaceTrusted)).toEqual([
      true,
      false,
    ]);
  });
});

test("a rule's path is named as it is, whatever it holds", () => {
  expect(ruleInWords("Edit(app/[{]id}/[[]x]/**)")).toBe("changes of files in “app/{id}/[x]” and below");
});
