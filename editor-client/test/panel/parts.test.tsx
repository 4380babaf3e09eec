// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ServerState } from "../../src/messages";
import type { Model } from "../../src/protocol/types";
import { Hands } from "../../webview/hands";
import { App } from "../../webview/parts/App";
import type { State } from "../../webview/state";
import { reduce } from "../../webview/store";
import { violations } from "../input/panel";
import { NOTHING, READY, Refused, rig, settle, type Rig } from "./extension";
import { ended, events, heard, NAMES, record, run, showing, started, stream } from "./streams";

const server = (more: Partial<ServerState> = {}) => ({ kind: "server", server: { ...READY, ...more } }) as const;

function show(state: State): Rig & { again: (next: State) => void; container: Element } {
  const made = rig(state);
  const hands = { panel: made.panel, actions: made.actions };
  const view = (one: State) => (
    <Hands.Provider value={hands}>
      <App state={one} />
    </Hands.Provider>
  );
  const { container, rerender } = render(view(state));
  return Object.assign(made, { container, again: (next: State) => rerender(view(next)) });
}

const chat = (...said: object[]): State =>
  run(showing(record("c")), server(), heard(...events("c", "t1", 1, started("Please look"), ...said)));

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

describe("a chat", () => {
  it.each(NAMES)("recorded as %s is shown whole", (name) => {
    const { record: whole } = stream(name);
    const { container } = show(run(showing(whole), server()));
    expect(container.querySelectorAll("article.turn")).toHaveLength(
      new Set(whole.events.map(({ turnId }) => turnId).filter((id) => id !== "")).size,
    );
    const calls = whole.events.flatMap(({ event }) => (event.kind === "tool_call" ? [event.callId] : []));
    expect([...container.querySelectorAll(".call")].map((call) => call.getAttribute("data-call-id"))).toEqual([
      ...new Set(calls),
    ]);
    expect(container.querySelectorAll(".steer")).toHaveLength(
      new Set(whole.events.flatMap(({ event }) => (event.kind === "steer" ? [event.id] : []))).size,
    );
  });

  it("that runs shows what is thought in one line, and the answer as it comes", () => {
    const { container, again } = show(chat({ kind: "thought", delta: "Let me see. ", step: 1 }));
    expect(container.querySelector("article")!.getAttribute("data-state")).toBe("running");
    expect(container.querySelector(".thought summary")!.textContent).toContain("Let me see.");
    expect(container.querySelector<HTMLDetailsElement>(".thought")!.open).toBe(false);
    again(chat({ kind: "answer", delta: "It is *fine*.", step: 1 }));
    expect(container.querySelector(".answer em")!.textContent).toBe("fine");
  });

  it("renders no turn again that has not changed", () => {
    const first = run(chat(ended("c", "t1")), heard(...events("c", "t2", 3, started("Two"))));
    const { container, again } = show(first);
    const before = container.querySelector('[data-turn-id="t1"]')!.innerHTML;
    const looked = vi.spyOn(first.chat!.entries[0]!.items, "map");
    again(reduce(first, heard(...events("c", "t2", 4, { kind: "answer", delta: "x", step: 1 }))));
    expect(looked).not.toHaveBeenCalled();
    expect(container.querySelector('[data-turn-id="t1"]')!.innerHTML).toBe(before);
  });

  it.each([
    ["cancelled", "Stopped"],
    ["step_limit", "Stopped at the limit of steps"],
    ["token_limit", "Stopped at the limit of tokens"],
    ["refused", "Refused"],
    ["failed", "Failed"],
    ["bored", "Ended (bored)"],
  ])("says why a turn ended: %s", (reason, words) => {
    const { container } = show(chat(ended("c", "t1", "", reason)));
    expect(container.querySelector(".turn-footer .reason")!.textContent).toBe(words);
  });

  it("says that a turn was interrupted when its server died", () => {
    const open = events("c", "t1", 1, started("Go"), {
      kind: "tool_call",
      callId: "k",
      tool: "Bash",
      title: "sleep 9",
      status: "running",
      step: 1,
    });
    const { container } = show(run(showing(record("c", open)), server()));
    expect(container.querySelector("article")!.getAttribute("data-state")).toBe("interrupted");
    expect(container.querySelector(".call")!.getAttribute("data-status")).toBe("interrupted");
    expect(container.querySelector(".reason")!.textContent).toMatch(/Interrupted/);
  });

  it("shows what a subagent does in the row of its call", () => {
    const task = { kind: "tool_call", callId: "k", tool: "Task", title: "explore: look", step: 1 };
    const grep = { kind: "tool_call", callId: "g", tool: "Grep", title: "Grep needle", step: 1, parent: "k" };
    const used = { inputTokens: 900, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 100, totalTokens: 1000 };
    const usage = { kind: "usage", ...used, contextTokens: 7, contextWindow: 9, step: 1 };
    const said = [
      { ...usage, contextTokens: 5 },
      { ...task, status: "running", args: { kind: "explore", prompt: "look" } },
      { ...usage, parent: "k" },
      { ...usage, parent: "k" },
      { ...grep, status: "running", args: { pattern: "needle" } },
    ];
    const { container, again } = show(chat(...said));
    const row = container.querySelector<HTMLDetailsElement>('[data-call-id="k"]')!;
    expect(container.querySelectorAll(".call")).toHaveLength(1);
    expect(row.querySelector(".call-time")!.textContent).toContain("2");
    expect(container.querySelector(".call-newest")!.textContent).toContain("needle");
    row.open = true;
    fireEvent(row, new Event("toggle"));
    const step = row.querySelector('.call-steps [data-call-id="g"]')!;
    expect(step.getAttribute("data-status")).toBe("running");
    const over = chat(...said, { ...grep, status: "completed" }, { ...task, status: "completed", summary: "Done." });
    again(over);
    expect(row.querySelector('.call-steps [data-call-id="g"]')!.getAttribute("data-status")).toBe("completed");
    expect(container.querySelector(".call-newest")).toBeNull();
    expect(over.chat!.usage!.contextTokens).toBe(5);
  });

  it("offers to carry out a plan that has ended, and no other turn", async () => {
    const answered = [{ kind: "answer", delta: "1. Fold it.", step: 1 }, ended("c", "t1", "1. Fold it.")];
    const planned = chat(...answered);
    const inMode = (mode: "plan" | "agent"): State => ({
      ...planned,
      chat: { ...planned.chat!, chat: { ...planned.chat!.chat, mode } },
    });
    const made = show(inMode("plan"));
    fireEvent.click(screen.getByRole("button", { name: "Carry out the plan" }));
    await settle();
    expect(made.requests("codelaw/chat/update")).toMatchObject([{ params: { chatId: "c", mode: "agent" } }]);
    made.again(inMode("agent"));
    expect(screen.queryByRole("button", { name: "Carry out the plan" })).toBeNull();
  });

  it.each([
    ["running", undefined, "runs"],
    ["passed", undefined, "ran (1.5 s)"],
    ["blocked", "not on Friday", "not on Friday"],
    ["failed", "it ended with exit code 3", "it ended with exit code 3"],
  ])("shows the run of a hook that is %s, with what it says", (status, message, words) => {
    const hook = { kind: "hook", id: "h1", name: "check \u202e", event: "PreToolUse", status, seconds: 1.5, step: 1 };
    const { container } = show(chat({ ...hook, ...(message === undefined ? {} : { message }) }));
    expect(container.querySelector(".hook")?.textContent).toContain("PreToolUse: check");
    expect(container.textContent).not.toContain("\u202e");
    expect(container.querySelector(".hook")?.textContent).toContain(words);
  });

  it("copies, retries and edits by buttons", async () => {
    const made = show(chat({ kind: "answer", delta: "The answer", step: 1 }, ended("c", "t1", "The answer")));
    made.answers["codelaw/chat/revert"] = () => new Promise(() => undefined);
    fireEvent.click(screen.getByText("Copy answer"));
    fireEvent.click(screen.getByText("Retry"));
    fireEvent.click(screen.getByText("Edit and resend"));
    await settle();
    expect(made.posted[0]).toEqual({ kind: "copy", text: "The answer" });
    expect(made.requests("codelaw/chat/revert")).toHaveLength(1);
    expect(made.state().composer).toMatchObject({ text: "Please look", editing: { turnId: "t1" } });
  });

  it("shows a message on its way, until its turn is there", () => {
    const pending = { chatId: "c", text: "Second", attachments: [] };
    const first = run(chat(ended("c", "t1")), { kind: "composer", composer: { sending: 1, pending } });
    const { container, again } = show(first);
    expect(container.querySelectorAll("article.turn")).toHaveLength(2);
    expect(container.querySelector('[data-state="pending"]')!.textContent).toContain("Second");
    again(reduce(first, heard(...events("c", "t2", 3, started("Second")))));
    expect(container.querySelectorAll("article.turn")).toHaveLength(2);
    expect(container.querySelector('[data-state="pending"]')).toBeNull();
  });

  it("is a log that is not read out word by word, with a line that tells the end", () => {
    const { container, again } = show(chat());
    expect(screen.getByRole("log").getAttribute("aria-live")).toBe("off");
    again(chat({ kind: "answer", delta: "All good.", step: 1 }, ended("c", "t1", "All good.")));
    expect(container.querySelector(".log-frame > [aria-live=polite]")!.textContent).toContain("All good.");
  });

  it("offers earlier turns where there are some", () => {
    const made = show(run(showing(record("c", events("c", "t9", 90, started("New")), { earlier: true })), server()));
    made.answers["codelaw/chat/read"] = () => new Promise(() => undefined);
    fireEvent.click(screen.getByText("Show earlier turns"));
    expect(made.requests("codelaw/chat/read")[0]!.params).toMatchObject({ beforeTurn: "t9" });
  });
});

describe("a call", () => {
  const call = { kind: "tool_call", callId: "k", tool: "Bash", title: "npm test", step: 1 };
  const done = [
    {
      ...call,
      status: "running",
      args: { command: "npm test" },
      decision: { action: "allow", source: "user", rule: "allow_once" },
    },
    { ...call, status: "failed", summary: "Exit code 1." },
  ];

  it("is one line: state in words, tool, target, time", () => {
    const { container } = show(chat(...done));
    const line = container.querySelector(".call summary")!;
    expect(screen.getByRole("img", { name: "Failed" })).toBeTruthy();
    expect(line.querySelector(".call-tool")!.textContent).toBe("Bash");
    expect(line.querySelector(".call-target")!.textContent).toBe("npm test");
    expect(line.querySelector(".call-time")!.textContent).toBe("1.0 s");
  });

  it("unfolds to why it was allowed, and reads its result when it is needed", async () => {
    const first = chat(...done);
    const made = show(first);
    const content = JSON.stringify({
      status: "error",
      data: { exit_code: 1, stdout: "\u001b[31mred\u001b[0m" },
      error: { code: "X", message: "It failed." },
    });
    const message = { id: "m", turnId: "t1", role: "tool", content, metadata: { callId: "k" } };
    made.answers["codelaw/chat/read"] = () => record("c", [], { messages: [message] });
    const details = made.container.querySelector<HTMLDetailsElement>(".call")!;
    details.open = true;
    fireEvent(details, new Event("toggle"));
    await settle();
    expect(made.requests("codelaw/chat/read")[0]!.params).toMatchObject({ chatId: "c", turns: 1 });
    made.again(made.state());
    expect(details.querySelector(".call-why")!.textContent).toBe("Allowed by you, once.");
    expect(details.querySelector(".result .error")!.textContent).toBe("It failed.");
    expect(details.querySelector(".ansi-red-fg")!.textContent).toBe("red");
    expect(details.querySelector(".facts")!.textContent).toContain("npm test");
  });

  it("shows a diff with signs and numbers, and what cannot be seen by its code", () => {
    const diff = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n same\n-old\n+--new\u202e";
    const { container } = show(chat({ ...call, tool: "Edit", title: "Edit x.py", status: "running", diff }));
    expect(container.querySelector(".counts")!.textContent).toBe("+1 −1");
    const details = container.querySelector<HTMLDetailsElement>(".call")!;
    details.open = true;
    fireEvent(details, new Event("toggle"));
    return settle().then(() => {
      const lines = [...container.querySelectorAll(".diff-line")].map((line) => [
        line.getAttribute("data-kind"),
        line.querySelector(".diff-number")!.textContent,
        line.querySelector(".diff-sign")!.textContent,
      ]);
      expect(lines.slice(3)).toEqual([
        ["same", "1", " "],
        ["removed", "2", "-"],
        ["added", "2", "+"],
      ]);
      expect(container.querySelector(".diff")!.textContent).toContain("U+202E");
    });
  });
});

describe("the banner", () => {
  const banner = (state: Parameters<typeof show>[0]) => show(state).container.querySelector(".banner");

  it("says nothing while all is well", () => {
    expect(banner(chat())).toBeNull();
    expect(screen.getAllByRole("status")[0]!.className).toBe("banners");
  });

  it.each(["searching", "missing", "installing", "starting", "crashed", "stopped"] as const)(
    "says %s in words",
    (phase) => {
      const line = banner(run(chat(), server({ phase })))!;
      expect(line.getAttribute("data-phase")).toBe(phase);
      expect(line.textContent).toMatch(/\w+/);
    },
  );

  it("offers what can be done", () => {
    const actions = [{ title: "Restart", command: "codelaw.restart" as const }];
    const made = show(run(chat(), server({ phase: "crashed", message: "It fell over.", actions })));
    fireEvent.click(screen.getByText("Restart"));
    expect(made.container.querySelector(".banner")!.textContent).toContain("It fell over.");
    expect(made.posted).toContainEqual({ kind: "command", command: "codelaw.restart" });
  });

  it("says how to set a key where there is none", () => {
    const made = show(run(chat(), server({ offline: true })));
    fireEvent.click(screen.getByText("Set API key"));
    expect(made.posted).toContainEqual({ kind: "command", command: "codelaw.setKey" });
  });

  it("says nothing of a key in a chat with a model that the editor lends", () => {
    const name = "editor/copilot/gpt-x";
    const lent = {
      name,
      contextWindow: 64_000,
      maxOutput: 32_000,
      provider: "editor",
      current: false,
      source: "editor",
    };
    const state = run(chat(), server({ offline: true }), { kind: "models", models: [lent as Model] });
    const { container, again } = show(state);
    expect(container.querySelector('[data-phase="offline"]')!.textContent).toContain("Models of this editor");
    again({ ...state, chat: { ...state.chat!, chat: { ...state.chat!.chat, model: name } } });
    expect(container.querySelector('[data-phase="offline"]')).toBeNull();
  });

  it("shows a problem with what to do, until it is dismissed", () => {
    const problem = { code: "chat_busy", message: "A turn is running.", hint: "Wait for it." };
    const made = show(run(chat(), { kind: "problem", problem }));
    expect(made.container.querySelector('[data-phase="problem"]')!.textContent).toContain(
      "A turn is running. Wait for it.",
    );
    fireEvent.click(screen.getByLabelText("Dismiss"));
    expect(made.state().problem).toBeNull();
  });
});

describe("an empty panel", () => {
  it("gives three things to try, which stand in the input then", () => {
    const made = show(run(showing(record("c")), server(), { kind: "opening", chatId: null }));
    const ideas = made.container.querySelectorAll<HTMLButtonElement>(".idea");
    expect(ideas).toHaveLength(3);
    fireEvent.click(ideas[1]!);
    expect(made.state().composer.text).toBe(ideas[1]!.textContent);
  });
});

describe("what the model tells of its work", () => {
  it("stands apart from its thoughts, in one line whose newest words are seen while they come", () => {
    const note = (delta: string) => ({ kind: "thought", delta, step: 1, progress: true }) as const;
    const { container } = show(chat({ kind: "thought", delta: "Hm. ", step: 1 }, note("I read "), note("the law.")));
    const lines = [...container.querySelectorAll(".thought summary")].map(({ textContent }) => textContent);
    expect(lines).toEqual(["ThoughtHm. ", "ProgressI read the law."]);
  });
});

describe("tokens that nobody has reported", () => {
  it.each([
    [11, "≈ 11 tokens"],
    [undefined, "· 11 tokens"],
  ])("are marked in the turn's figures: %s", (estimatedTokens, words) => {
    const usage = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 9, outputTokens: 1, totalTokens: 11 };
    const done = ended("c", "t1", "Yes.", "finished", {
      usage: { ...usage, ...(estimatedTokens && { estimatedTokens }) },
    });
    expect(show(chat(done)).container.querySelector(".figures")!.textContent).toContain(words);
  });
});

describe("a cache that missed", () => {
  it("is told with the turn's figures, and by nothing where nobody knows why", () => {
    const told = (cacheMiss?: { reason: string; words: string }): string => {
      const usage = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 9, outputTokens: 1, totalTokens: 11 };
      const done = ended("c", "t1", "Yes.", "finished", { usage: { ...usage, ...(cacheMiss && { cacheMiss }) } });
      const { container } = show(chat(done));
      const words = container.querySelector(".figures")!.textContent;
      cleanup();
      return words;
    };
    expect(told({ reason: "system_changed", words: "the law changed" })).toContain("cache missed: the law changed");
    expect(told()).not.toContain("cache");
  });
});

describe("an error", () => {
  const failed = (code: string): State => {
    const error = { code, message: "It went wrong.", hint: "Set model.apiKey in config.toml." };
    return chat(ended("c", "t1", "", "failed", { error }));
  };

  it.each([
    ["auth_failed", "Set API Key", "codelaw.setKey"],
    ["spending_limit", "Choose Model", "codelaw.chooseModel"],
    ["model_not_found", "Choose Model", "codelaw.chooseModel"],
    ["not_confirmed", "Choose Model", "codelaw.chooseModel"],
    ["window_too_small", "Choose Model", "codelaw.chooseModel"],
    ["model_refused", "Choose Model", "codelaw.chooseModel"],
    ["model_unavailable", "Open Settings", "codelaw.openSettings"],
    ["settings_unreadable", "Open What Is Wrong", "codelaw.mendSettings"],
    ["context_overflow", "Show Context", "codelaw.showContext"],
    ["not_trusted", "Manage Trust", "codelaw.manageTrust"],
    ["store_unavailable", "Show Logs", "codelaw.showLogs"],
    ["internal_error", "Show Logs", "codelaw.showLogs"],
    ["disconnected", "Restart Server", "codelaw.restart"],
  ] as const)("of a turn with the code %s offers %s", (code, title, command) => {
    const { posted } = show(failed(code));
    fireEvent.click(screen.getByRole("button", { name: title }));
    expect(posted).toContainEqual({ kind: "command", command });
  });

  it("of a refusal is not asked again as it is, from its own line", () => {
    const { container } = show(failed("model_refused"));
    expect(container.querySelector(".notice")!.textContent).not.toContain("Retry");
  });

  it("names no setting that the editor has not, and offers the same where a request was refused", () => {
    const { container, posted } = show(failed("auth_failed"));
    expect(container.textContent).toContain("It went wrong.");
    expect(container.textContent).not.toContain("apiKey");
    cleanup();
    const problem = { code: "auth_failed", message: "No key.", hint: "Set model.apiKey in config.toml." };
    const second = show(run(showing(record("c")), server(), { kind: "problem", problem }));
    expect(second.container.textContent).not.toContain("apiKey");
    fireEvent.click(screen.getByRole("button", { name: "Set API Key" }));
    expect([posted.length, second.posted.at(-1)]).toEqual([0, { kind: "command", command: "codelaw.setKey" }]);
  });

  it("without a way of the editor's keeps the server's hint", () => {
    const { container } = show(failed("turn_not_found"));
    expect(container.textContent).toContain("Set model.apiKey in config.toml.");
    expect(container.querySelector(".notice button")).toBeNull();
  });

  it("that may pass has the retry beside it, and only there", () => {
    const made = show(failed("model_unavailable"));
    made.answers["codelaw/chat/revert"] = () => new Promise(() => undefined);
    const retry = screen.getByRole("button", { name: "Retry" });
    expect(retry.closest(".notice")).not.toBeNull();
    fireEvent.click(retry);
    expect(made.requests("codelaw/chat/revert")).toHaveLength(1);
  });
});

describe("a wait for the model", () => {
  it("counts down", () => {
    vi.useFakeTimers({ now: 1_005_000 });
    // The third event of the chat is said at 1003 s.
    const retry = { kind: "retry", attempt: 2, inSeconds: 30, reason: "the rate limit was reached", step: 1 };
    const { container } = show(chat({ kind: "thought", delta: "x", step: 1 }, retry));
    const words = (): string => container.querySelector('[data-code="retry"]')!.textContent;
    expect(words()).toBe("Asking again in 28 s (attempt 2): the rate limit was reached.");
    void act(() => void vi.advanceTimersByTime(5000));
    expect(words()).toContain("in 23 s");
    vi.useRealTimers();
  });
});

describe("a command", () => {
  const command = (status: string): object => ({
    kind: "tool_call",
    callId: "k",
    tool: "Bash",
    title: "make",
    status,
    step: 1,
  });

  it("that runs can be stopped by itself", async () => {
    const made = show(chat(command("running")));
    made.answers["codelaw/chat/stopCall"] = () => ({ stopped: true });
    fireEvent.click(screen.getByRole("button", { name: "Stop this command: make" }));
    await settle();
    expect(made.requests("codelaw/chat/stopCall").map(({ params }) => params)).toEqual([{ chatId: "c", callId: "k" }]);
    expect(made.requests("codelaw/chat/cancel")).toEqual([]);
    expect(await violations(made.container)).toEqual([]);
  });

  it.each(["pending", "awaiting_approval", "completed", "failed"])("that is %s cannot", (status) => {
    show(chat(command(status)));
    expect(screen.queryByRole("button", { name: /^Stop this command/ })).toBeNull();
  });

  it("opens its output whole in the editor, without escapes", () => {
    const lines = Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n");
    const stdout = `\u001b[32mgreen\u001b[0m\n${lines}`;
    const content = JSON.stringify({ status: "success", text: "Exit code 0.", data: { stdout } });
    const state = chat(command("completed"));
    const made = show({ ...state, chat: { ...state.chat!, results: new Map([["k", content]]) } });
    const details = made.container.querySelector<HTMLDetailsElement>(".call")!;
    details.open = true;
    fireEvent(details, new Event("toggle"));
    fireEvent.click(screen.getByRole("button", { name: "Open in editor" }));
    expect(made.posted).toContainEqual({ kind: "showText", title: "make stdout", text: `green\n${lines}` });
  });
});

describe("a word that waits for the next step", () => {
  const steer = { kind: "steer", id: "s1", state: "waiting", step: 1, text: "And the tests" };
  const withSteer = () => chat({ kind: "answer", delta: "I am at it", step: 1 }, steer, call("running"));
  const call = (status: string): object => ({
    kind: "tool_call",
    callId: "k",
    tool: "Bash",
    title: "make",
    status,
    step: 1,
  });

  it("stands below what runs, with what can be done about it", async () => {
    const { container } = show(withSteer());
    const last = container.querySelector("article.turn")!.lastElementChild!;
    expect(last.getAttribute("aria-label")).toBe("Waiting for the next step");
    expect(last.querySelector("p")!.textContent).toBe("And the tests");
    expect([...last.querySelectorAll("button")].map(({ textContent }) => textContent)).toEqual([
      "Send now",
      "Edit",
      "Withdraw",
    ]);
    expect(await violations(container)).toEqual([]);
  });

  it("is taken back by its id, and what it said can be mended", async () => {
    const made = show(withSteer());
    made.answers["codelaw/chat/unsteer"] = () => ({ withdrawn: true });
    fireEvent.click(screen.getByRole("button", { name: "Withdraw" }));
    await settle();
    expect(made.requests("codelaw/chat/unsteer").map(({ params }) => params)).toEqual([{ chatId: "c", id: "s1" }]);
    expect(made.state().composer.text).toBe("");
    fireEvent.click(screen.getByRole("button", { name: "Edit" }));
    await settle();
    expect(made.state().composer.text).toBe("And the tests");
  });

  it("is sent at once: the turn is stopped, and the next one begins with it", async () => {
    const made = show(withSteer());
    const order: string[] = [];
    made.answers["codelaw/chat/unsteer"] = () => (order.push("unsteer"), { withdrawn: true });
    made.answers["codelaw/chat/cancel"] = () => (order.push("cancel"), { cancelled: true });
    made.answers["codelaw/chat/send"] = () => (order.push("send"), NOTHING);
    fireEvent.click(screen.getByRole("button", { name: "Send now" }));
    await settle();
    expect(order).toEqual(["unsteer", "cancel", "send"]);
    expect(made.requests("codelaw/chat/send")[0]!.params).toMatchObject({ chatId: "c", text: "And the tests" });
  });

  it("is left alone when the model was told meanwhile", async () => {
    const made = show(withSteer());
    made.answers["codelaw/chat/unsteer"] = () => ({ withdrawn: false });
    fireEvent.click(screen.getByRole("button", { name: "Send now" }));
    await settle();
    expect([made.requests("codelaw/chat/cancel").length, made.requests("codelaw/chat/send").length]).toEqual([0, 0]);
  });

  it("comes back to the composer when the turn cannot be stopped", async () => {
    const made = show(withSteer());
    made.answers["codelaw/chat/unsteer"] = () => ({ withdrawn: true });
    made.answers["codelaw/chat/cancel"] = () => Promise.reject(new Refused("internal_error"));
    fireEvent.click(screen.getByRole("button", { name: "Send now" }));
    await settle();
    expect(made.state()).toMatchObject({ composer: { text: "And the tests", sending: null }, problem: {} });
  });
});
