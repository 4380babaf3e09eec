import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CancellationToken } from "vscode";
import type { Relay as RelayType } from "../../src/chat/relay";
import type { ToPanel } from "../../src/messages";
import type { ChatEvent, ChatRecord } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Relay } = await import("../../src/chat/relay");
const { Shown } = await import("../../src/chat/shown");
const { Refusal } = await import("../../src/server/refusal");

interface Asked {
  method: string;
  params: unknown;
  token: CancellationToken | undefined;
  answer(result: unknown): void;
  refuse(error: unknown): void;
}

const chat = {
  id: "c",
  title: "t",
  kind: "panel",
  mode: "agent",
  model: "m",
  strategy: "layered",
  createdAt: 1,
  updatedAt: 1,
  turns: 1,
  running: null,
} as const;
const usage = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1, totalTokens: 2 };
const event = (seq: number, what: ChatEvent["event"]): ChatEvent => ({
  chatId: "c",
  turnId: "t",
  seq,
  at: 1,
  event: what,
});
const full = event(2, { kind: "usage", ...usage, contextTokens: 50, contextWindow: 200, step: 1 });
const begun = event(1, { kind: "turn_started", text: "q", mentions: [], mentionsLeftOut: 0 });

let asked: Asked[];
let posted: ToPanel[];
let failures: unknown[];
let deeds: Record<string, ReturnType<typeof vi.fn>>;
let shown: InstanceType<typeof Shown>;
let relay: RelayType;
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

beforeEach(() => {
  fake.reset();
  asked = [];
  posted = [];
  failures = [];
  const wire = {
    request: (method: string, params: unknown, token?: CancellationToken) =>
      new Promise((answer, refuse) => asked.push({ method, params, token, answer, refuse })),
  };
  const kinds =
    "ready decide preview open showText openExternal copy insert diff accept export pickFiles dropped addSelection";
  deeds = Object.fromEntries(kinds.split(" ").map((kind) => [kind, vi.fn()]));
  shown = new Shown();
  relay = new Relay(
    wire as unknown as Wire,
    shown,
    deeds as unknown as ConstructorParameters<typeof Relay>[2],
    (message) => posted.push(message),
    (error) => failures.push(error),
  );
});
afterEach(() => relay.dispose());

describe("a request of the panel's", () => {
  it("goes to the server as it is, and its answer comes back under its id", async () => {
    const done = relay.take({ kind: "request", id: 7, method: "codelaw/chat/list", params: { query: "x" } });
    asked[0]?.answer({ chats: [] });
    await done;
    expect(asked[0]).toMatchObject({ method: "codelaw/chat/list", params: { query: "x" } });
    expect(posted).toEqual([{ kind: "answer", id: 7, result: { chats: [] } }]);
  });

  it("is refused with the code, the words and the hint of the server", async () => {
    const done = relay.take({ kind: "request", id: 7, method: "codelaw/chat/read", params: { chatId: "c" } });
    asked[0]?.refuse(new Refusal("chat_not_found", "There is no such chat", "Look at the list"));
    await done;
    const problem = { code: "chat_not_found", message: "There is no such chat", hint: "Look at the list" };
    expect(posted).toEqual([{ kind: "refused", id: 7, problem }]);
    expect(failures).toEqual([]);
  });

  it.each([[null], [undefined], ["x"], [[1]], [3]])(
    "with params that are no object is not sent: %j",
    async (params) => {
      await relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params });
      expect(asked).toEqual([]);
      expect(posted).toMatchObject([{ kind: "refused", id: 1, problem: { code: "invalid_params" } }]);
    },
  );

  it("is withdrawn by its id, and no other is", async () => {
    void relay.take({ kind: "request", id: 1, method: "codelaw/chat/send", params: { text: "a" } });
    void relay.take({ kind: "request", id: 2, method: "codelaw/chat/send", params: { text: "b" } });
    await relay.take({ kind: "withdraw", id: 1 });
    await relay.take({ kind: "withdraw", id: 99 });
    expect(asked.map(({ token }) => token?.isCancellationRequested)).toEqual([true, false]);
  });

  it("has an id of its own while it is under way", async () => {
    void relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params: {} });
    await relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params: {} });
    expect(asked).toHaveLength(1);
    expect(posted).toMatchObject([{ kind: "refused", id: 1 }]);
  });

  it("is one of at most two hundred", async () => {
    for (let id = 0; id < 201; id++) void relay.take({ kind: "request", id, method: "codelaw/chat/list", params: {} });
    await settle();
    expect(asked).toHaveLength(200);
    expect(posted).toMatchObject([{ kind: "refused", id: 200 }]);
  });

  it("of a page that is gone is answered to nobody, and goes on", async () => {
    const old = relay.take({ kind: "request", id: 1, method: "codelaw/chat/send", params: { text: "a" } });
    await relay.take({ kind: "ready" });
    const now = relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params: {} });
    expect(asked[0]?.token?.isCancellationRequested).toBe(false);
    asked[0]?.answer({ answer: "old" });
    await old;
    expect(posted).toEqual([]);
    asked[1]?.answer({ chats: [] });
    await now;
    expect(posted).toEqual([{ kind: "answer", id: 1, result: { chats: [] } }]);
  });
});

describe("what else the panel says", () => {
  it("is done by those who can", async () => {
    await relay.take({ kind: "copy", text: "x" });
    await relay.take({ kind: "decide", id: 1, reply: { optionId: "a" } });
    expect(deeds["copy"]).toHaveBeenCalledWith({ kind: "copy", text: "x" });
    expect(deeds["decide"]).toHaveBeenCalledTimes(1);
  });

  it("runs commands of the extension", async () => {
    await relay.take({ kind: "command", command: "codelaw.restart" });
    expect(fake.editor.done).toEqual([{ what: "codelaw.restart", with: [] }]);
  });

  it("may fail, and the failure is told", async () => {
    const error = new Error("no");
    deeds["insert"]?.mockRejectedValue(error);
    await relay.take({ kind: "insert", text: "x" });
    expect(failures).toEqual([error]);
  });
});

describe("the chat that is shown", () => {
  it("is known from what passes by", async () => {
    await relay.take({ kind: "showing", chatId: "c" });
    const done = relay.take({ kind: "request", id: 1, method: "codelaw/chat/read", params: { chatId: "c" } });
    const record: ChatRecord = { chat, messages: [], events: [begun, full], running: "t" } as unknown as ChatRecord;
    asked[0]?.answer(record);
    await done;
    expect(shown.known).toMatchObject({ running: true, usage: { contextTokens: 50 }, chat: { model: "m" } });
    const change = relay.take({ kind: "request", id: 2, method: "codelaw/chat/update", params: { chatId: "c" } });
    asked[1]?.answer({ ...chat, model: "other" });
    await change;
    expect(shown.known?.chat?.model).toBe("other");
  });

  it("may have begun before the panel says that it shows it", () => {
    shown.event(begun);
    expect(shown.running).toBe(false);
    shown.show("c");
    expect(shown.running).toBe(true);
    shown.disconnected();
    expect(shown.running).toBe(false);
  });

  it("is not set back by what is older", () => {
    shown.show("c");
    shown.event(full);
    shown.event(begun);
    expect(shown.running).toBe(false);
    expect(shown.known?.seq).toBe(2);
  });
});
