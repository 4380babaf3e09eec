import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CancellationToken } from "vscode";
import type { ApprovalRequest } from "../../src/protocol/types";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Approvals, notify } = await import("../../src/editor/approvals");

const question = (callId: string): ApprovalRequest => ({
  chatId: "c",
  turnId: "t",
  callId,
  tool: "Bash",
  title: callId,
  risk: "execute",
  preview: { command: "ls" },
  options: [
    { id: "yes", title: "Allow once", kind: "allow_once" },
    { id: "always", title: "Always", kind: "allow_always", rule: "Bash(ls)" },
    { id: "no", title: "Reject", kind: "reject" },
  ],
});
const source = (): { token: CancellationToken; cancel(): void } => {
  const made = new fake.CancellationTokenSource();
  return { token: made.token, cancel: () => made.cancel() };
};
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

let approvals: InstanceType<typeof Approvals>;
let closed: number[];
beforeEach(() => {
  fake.reset();
  approvals = new Approvals();
  closed = [];
  approvals.onClose(({ id }) => closed.push(id));
});

describe("a question", () => {
  it("is answered once, by whoever comes first", async () => {
    const answer = approvals.ask(question("a"), source().token);
    const id = approvals.open[0]?.id ?? 0;
    expect(approvals.decide(id, { optionId: "no", comment: "not now" })).toBe(true);
    expect(approvals.decide(id, { optionId: "yes" })).toBe(false);
    expect(await answer).toEqual({ optionId: "no", comment: "not now" });
    expect(closed).toEqual([id]);
    expect(approvals.open).toEqual([]);
  });

  it("stays open for an option that was not offered", () => {
    void approvals.ask(question("a"), source().token);
    const id = approvals.open[0]?.id ?? 0;
    expect(approvals.decide(id, { optionId: "allow everything" })).toBe(false);
    expect(approvals.decide(id, {})).toBe(false);
    expect(approvals.open).toHaveLength(1);
  });

  it("is withdrawn by its token, and an answer comes too late", async () => {
    const asked = source();
    const answer = approvals.ask(question("a"), asked.token);
    const id = approvals.open[0]?.id ?? 0;
    asked.cancel();
    expect(await answer).toEqual({ cancelled: true });
    expect(closed).toEqual([id]);
    expect(approvals.decide(id, { optionId: "yes" })).toBe(false);
  });

  it("that was withdrawn before it came is not shown", async () => {
    const asked = source();
    asked.cancel();
    const opened = vi.fn();
    approvals.onOpen(opened);
    expect(await approvals.ask(question("a"), asked.token)).toEqual({ cancelled: true });
    expect(opened).not.toHaveBeenCalled();
  });

  it("is withdrawn with all others when the server is gone", async () => {
    const answers = [approvals.ask(question("a"), source().token), approvals.ask(question("b"), source().token)];
    approvals.withdrawAll();
    expect(await Promise.all(answers)).toEqual([{ cancelled: true }, { cancelled: true }]);
    expect(closed).toHaveLength(2);
  });

  it("has an id of its own beside another about the same call", async () => {
    const first = approvals.ask(question("a"), source().token);
    const second = approvals.ask(question("a"), source().token);
    const [one, other] = approvals.open.map(({ id }) => id);
    approvals.decide(other ?? 0, { optionId: "yes" });
    expect(await second).toEqual({ optionId: "yes" });
    expect(approvals.open.map(({ id }) => id)).toEqual([one]);
    approvals.decide(one ?? 0, { cancelled: true });
    expect(await first).toEqual({ cancelled: true });
  });
});

describe("a notification, where nobody sees the panel", () => {
  const ask = async (chosen: string | undefined, other: Partial<ApprovalRequest> = {}): Promise<unknown> => {
    fake.editor.answers = [chosen];
    const request = { ...question("a"), ...other };
    const answer = approvals.ask(request, source().token);
    const [open] = approvals.open;
    const show = vi.fn();
    if (open !== undefined) await notify(approvals, open, show);
    await settle();
    return show.mock.calls.length > 0 ? "shown" : approvals.open.length > 0 ? "open" : answer;
  };

  it.each([
    ["Allow once", { optionId: "yes" }],
    ["Reject", { optionId: "no" }],
    ["Show", "shown"],
    [undefined, "open"],
  ])("answered with %s", async (chosen, outcome) => {
    expect(await ask(chosen)).toEqual(outcome);
    const [told] = fake.editor.done;
    expect(told).toEqual({ what: "information", with: ["codelaw asks: Run ls", "Show", "Allow once", "Reject"] });
  });

  it("offers only what the server offers", async () => {
    await ask(undefined, { options: [{ id: "no", title: "Reject", kind: "reject" }] });
    expect(fake.editor.done[0]?.with).toEqual(["codelaw asks: Run ls", "Show", "Reject"]);
  });

  it.each([
    ["a long command", { preview: { command: `echo ${"a".repeat(250)}; rm -r src` } }],
    ["a command of two lines", { preview: { command: "echo # harmless\nrm -r src" } }],
    ["a command with letters that turn the others round", { preview: { command: "echo \u202e crs r- mr" } }],
    ["a command that would be a link", { preview: { command: "echo [x](command:workbench.action.quit)" } }],
    ["a write, whose diff is not told", { title: "Edit a.py", risk: "write" as const, preview: { diff: "…" } }],
    ["what is asked about every time, and why", { alwaysAsked: true, why: "git obeys this file." }],
    ["a text", { title: "Remember: x", preview: { text: "x" } }],
    ["a command that repeats its blanks", { preview: { command: "ls   -l" } }],
    ["a call that only the model describes", { title: "List the files", preview: {} }],
  ])("does not let the user allow what it does not tell: %s", async (_what, other) => {
    await ask(undefined, other);
    const [told, ...titles] = fake.editor.done[0]?.with ?? [];
    expect(titles).toEqual(["Show", "Reject"]);
    expect(told).not.toContain("](");
    expect(told).not.toMatch(/[\u202e\u200b\u001b]/);
  });

  it("shows by its code what would not be seen", async () => {
    await ask(undefined, { preview: { command: "ls\u200b \u202e-l\u001b[8m\u{e0041}\u3164" } });
    expect(fake.editor.done[0]?.with[0]).toBe("codelaw asks: Run ls⟨U+200B⟩ ⟨U+202E⟩-l⟨U+001B⟩[8m⟨U+E0041⟩⟨U+3164⟩");
  });

  it("says so when its answer comes too late", async () => {
    const asked = source();
    void approvals.ask(question("a"), asked.token);
    const [open] = approvals.open;
    asked.cancel();
    fake.editor.answers = ["Allow once"];
    if (open !== undefined) await notify(approvals, open, () => undefined);
    expect(fake.editor.done.at(-1)?.with[0]).toMatch(/no longer asks/);
  });
});
