// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import type { AgentList, Memory, MemoryList, Skill } from "../../src/protocol/types";
import { Memories } from "../../webview/parts/Memories";
import { Offered } from "../../webview/parts/Offered";
import { Skills } from "../../webview/parts/Skills";
import { Agents } from "../../webview/parts/Agents";
import { expectAccessible, show, stateOf } from "../context/panel";

const state = stateOf("edit");
const memory = (id: string, text: string): Memory => ({
  id,
  text,
  category: "preference",
  scope: "project",
  belongsTo: "p",
  confidence: 1,
  createdAt: 1000,
  uses: 2,
});

describe("what is remembered", () => {
  test("is listed with where it belongs, mended and forgotten", async () => {
    let kept = [memory("1", "Tabs\u202e, please."), memory("2", "Tests first.")];
    const updateMemory = vi.fn((id: string, text: string) => {
      kept = kept.map((one) => (one.id === id ? { ...one, text } : one));
      return Promise.resolve(kept.find((one) => one.id === id) ?? null);
    });
    const forgetMemory = vi.fn(() => Promise.resolve(true));
    const listMemories = vi.fn(() => Promise.resolve({ memories: kept } as MemoryList));
    const { container } = show(<Memories state={state} />, { listMemories, updateMemory, forgetMemory });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(2));
    expect(container.textContent).toContain("in this project · preference");
    expect(container.textContent).toContain("used 2 times");
    expect(container.textContent).not.toContain("\u202e");
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "Edit: Tests first." }));
    const box = screen.getByRole("textbox", { name: "The text that is remembered" });
    fireEvent.input(box, { target: { value: "Tests last." } });
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(container.textContent).toContain("Tests last."));
    expect(updateMemory).toHaveBeenCalledExactlyOnceWith("2", "Tests last.");
    fireEvent.click(screen.getByRole("button", { name: "Forget: Tests last." }));
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(1));
    expect(forgetMemory).toHaveBeenCalledExactlyOnceWith("2");
  });

  test("is searched, and read on where there is more", async () => {
    const answers = new Map<string, MemoryList>([
      ["", { memories: [memory("1", "one")], nextCursor: "c" }],
      ["c", { memories: [memory("2", "two")] }],
      ["tabs", { memories: [] }],
    ]);
    const listMemories = vi.fn((query: string, _chatId: string | null, cursor?: string) =>
      Promise.resolve(answers.get(cursor ?? query) ?? null),
    );
    const { container } = show(<Memories state={state} />, { listMemories });
    await waitFor(() => expect(container.textContent).toContain("one"));
    fireEvent.click(screen.getByRole("button", { name: "Show more" }));
    await waitFor(() => expect(container.textContent).toContain("two"));
    expect(container.textContent).toContain("one");
    fireEvent.input(screen.getByRole("searchbox"), { target: { value: " tabs " } });
    await waitFor(() => expect(container.textContent).toContain("Nothing that is remembered fits."));
    expect(listMemories).toHaveBeenLastCalledWith("tabs", state.chat?.chat.id, undefined);
  });

  test("is not spoken of where there is nothing", async () => {
    const listMemories = vi.fn(() => Promise.resolve({ memories: [] } as MemoryList));
    const { container } = show(<Memories state={state} />, { listMemories });
    await waitFor(() => expect(listMemories).toHaveBeenCalled());
    expect(container.textContent).toBe("");
  });
});

describe("skills", () => {
  test("are listed with where they come from, which of one name counts, and what is wrong", async () => {
    const skill: Skill = { name: "pdf", description: "Fill forms", uri: "file:///a/SKILL.md", source: "a/SKILL.md" };
    const skills: Skill[] = [
      skill,
      { ...skill, uri: "file:///b", source: "b/SKILL.md", shadowed: "a/SKILL.md" },
      { ...skill, uri: "file:///c", source: "c/SKILL.md", unreadable: true, problem: "It has no description." },
    ];
    const { container, told } = show(<Skills state={state} />, { listSkills: () => Promise.resolve(skills) });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(3));
    const [ready, shadowed, unreadable] = container.querySelectorAll("li");
    expect(ready?.textContent).toContain("ready");
    expect(shadowed?.textContent).toContain("Another of this name counts: a/SKILL.md");
    expect(unreadable?.textContent).toContain("It has no description.");
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: "b/SKILL.md" }));
    expect(told).toContainEqual({ kind: "open", uri: "file:///b" });
  });
});

describe("kinds of subagents", () => {
  const found: AgentList = {
    enabled: true,
    agents: [
      { name: "explore", description: "Finds things out.", mode: "ask" },
      { name: "general", description: "Works." },
      {
        name: "mine",
        description: "My \u202eown",
        uri: "file:///mine.md",
        source: ".codelaw/agents/mine.md",
        tools: ["Read", "Grep"],
        disallowedTools: ["LS"],
        model: "claude-x",
        maxTurns: 3,
      },
      { name: "mute", description: "", uri: "file:///mute.md", source: "mute.md", tools: [] },
      {
        name: "bare",
        description: "",
        uri: "file:///bare.md",
        source: ".claude/agents/bare.md",
        tools: [],
        problem: "It has no text below its head.",
        refused: true,
      },
    ],
  };

  test("are listed with where they come from, what they may use, and why a file does not count", async () => {
    const { container, told } = show(<Agents state={state} />, { listAgents: () => Promise.resolve(found) });
    await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(5));
    const rows = [...container.querySelectorAll("li")].map(({ textContent }) => textContent);
    const [explore, general, mine, mute, bare] = rows;
    expect(explore).toContain("built in");
    expect(explore).toContain("The tools of ask mode");
    expect(general).toContain("All tools of the chat's mode");
    expect(mine).toContain("ready");
    expect(mine).toContain("Tools: Read, Grep · Without: LS · Model: claude-x · At most 3 steps");
    expect(bare).toContain("does not count");
    expect(mute).toContain("No tools");
    expect(bare).not.toContain("No tools");
    expect(bare).toContain("It has no text below its head.");
    expect(container.textContent).not.toContain("\u202e");
    await expectAccessible(container);
    fireEvent.click(screen.getByRole("button", { name: ".claude/agents/bare.md" }));
    expect(told).toContainEqual({ kind: "open", uri: "file:///bare.md" });
  });

  test("are told to be switched off", async () => {
    const { container } = show(<Agents state={state} />, {
      listAgents: () => Promise.resolve({ ...found, enabled: false }),
    });
    await waitFor(() => expect(container.textContent).toContain("Switched off by agents.enabled"));
  });
});

describe("the tools of a context", () => {
  test("are shown by category with why each is offered or not", async () => {
    const tools = [
      { name: "Read", category: "files, reading", offered: true, reason: "always" },
      { name: "Bash", category: "commands in the sandbox", offered: false, reason: "the mode ask only reads" },
      { name: "Grep", category: "files, reading", offered: true, reason: "always" },
    ];
    const { container } = show(<Offered tools={tools} />);
    expect(container.querySelector("h2")?.textContent).toContain("2 of 3 offered");
    expect([...container.querySelectorAll("dt")].map(({ textContent }) => textContent)).toEqual([
      "files, reading",
      "commands in the sandbox",
    ]);
    const refused = container.querySelector("[data-offered=false]");
    expect(refused?.textContent).toContain("Bash not offered: the mode ask only reads");
    await expectAccessible(container);
  });
});
