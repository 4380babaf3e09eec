import { describe, expect, it, vi } from "vitest";
import type { ChatEvent } from "../../src/protocol/types";

vi.mock("vscode", () => import("./vscode"));
const { Shown } = await import("../../src/chat/shown");

const event = (seq: number, said: object): ChatEvent =>
  ({ chatId: "c", turnId: "t", seq, at: 1, event: { step: 1, ...said } }) as ChatEvent;
const usage = (contextTokens: number, more = {}): object => ({
  kind: "usage",
  contextTokens,
  contextWindow: 200_000,
  totalTokens: 1,
  ...more,
});
const compaction = (report: object): object => ({ kind: "compaction", phase: "finished", report });

describe("how full the window of the shown chat is", () => {
  it("is what its own model calls say, and not those of subagents", () => {
    const shown = new Shown();
    shown.show("c");
    shown.event(event(1, usage(90_000)));
    shown.event(event(2, usage(5000, { parent: "call" })));
    expect(shown.known?.usage?.contextTokens).toBe(90_000);
  });

  it("is less once the chat was compacted, as the panel says too", () => {
    const shown = new Shown();
    shown.show("c");
    shown.event(event(1, usage(90_000)));
    shown.event(event(2, compaction({ compacted: false, tokensAfter: 90_000 })));
    expect(shown.known?.usage?.contextTokens).toBe(90_000);
    shown.event(event(3, compaction({ compacted: true, tokensAfter: 20_000 })));
    expect(shown.known?.usage).toEqual({ contextTokens: 20_000, contextWindow: 200_000 });
    shown.event(event(4, usage(22_000)));
    expect(shown.known?.usage?.contextTokens).toBe(22_000);
  });

  it("stays unknown where nothing was sent yet", () => {
    const shown = new Shown();
    shown.show("c");
    shown.event(event(1, compaction({ compacted: true, tokensAfter: 20_000 })));
    expect(shown.known?.usage).toBeNull();
  });
});
