import { describe, expect, it, vi } from "vitest";
import type { Known } from "../../src/chat/shown";
import type { ServerState } from "../../src/messages";

vi.mock("vscode", () => import("./vscode"));
const { tellStatus } = await import("../../src/status");

const server = (phase: ServerState["phase"], more: Partial<ServerState> = {}): ServerState => ({
  phase,
  session: 1,
  message: "",
  actions: [],
  methods: [],
  offline: false,
  ...more,
});
const usage = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1, totalTokens: 12_345 };
const known = (more: Partial<Known> = {}): Known => ({
  chat: null,
  running: false,
  usage: { contextTokens: 50_000, contextWindow: 200_000 },
  turn: { ...usage, costUsd: 0.0123 },
  seq: 1,
  ...more,
});

describe("the status bar", () => {
  it.each([
    ["searching", "$(sync~spin) codelaw", "none"],
    ["missing", "$(warning) codelaw", "warning"],
    ["installing", "$(sync~spin) codelaw", "none"],
    ["starting", "$(sync~spin) codelaw", "none"],
    ["ready", "$(law) codelaw", "none"],
    ["crashed", "$(error) codelaw", "error"],
    ["stopped", "$(circle-slash) codelaw", "none"],
  ] as const)("shows a server that is %s", (phase, text, alert) => {
    expect(tellStatus(server(phase), 0, null)).toMatchObject({ text, alert });
  });

  it("shows how full the window is, and the tokens and the cost of the last turn", () => {
    const told = tellStatus(server("ready", { version: "1.2" }), 0, known());
    expect(told.text).toBe("$(law) codelaw · 25 %");
    expect(told.label).toBe("codelaw: ready, 25 % of the window used");
    expect(told.lines).toContain("Context: 50k of 200k tokens (25 %)");
    expect(told.lines).toContain("Last turn: 12.3k tokens · $0.01");
  });

  it("puts a question before a running turn, and that before a missing key", () => {
    const offline = server("ready", { offline: true });
    expect(tellStatus(offline, 2, known({ running: true })).text).toBe("$(question) codelaw · asks 2 questions · 25 %");
    expect(tellStatus(offline, 0, known({ running: true })).text).toBe("$(loading~spin) codelaw · 25 %");
    expect(tellStatus(offline, 0, null).text).toBe("$(law) codelaw · offline");
    const chat = { model: "editor/copilot/gpt-x", mode: "agent" } as NonNullable<Known["chat"]>;
    expect(tellStatus(offline, 0, known({ chat })).text).toBe("$(law) codelaw · 25 %");
  });

  it("says nothing of a chat while the server is away, but what the matter is", () => {
    const told = tellStatus(server("crashed", { message: "It ended with status 1." }), 1, known({ running: true }));
    expect(told.text).toBe("$(error) codelaw");
    expect(told.lines).toEqual(["codelaw: the server has crashed", "It ended with status 1."]);
  });

  it("divides by no window of nothing", () => {
    const empty = { kind: "usage" as const, ...usage, contextTokens: 5, contextWindow: 0, step: 1 };
    expect(tellStatus(server("ready"), 0, known({ usage: empty })).text).toBe("$(law) codelaw");
  });
});
