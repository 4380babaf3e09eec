import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CancellationToken, Uri, Webview } from "vscode";
import type { Page as PageType } from "../../src/chat/page";
import type { Relay as RelayType } from "../../src/chat/relay";
import type { Method, ToPanel } from "../../src/messages";
import type { ChatEvent, ChatRecord } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Page } = await import("../../src/chat/page");
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
let page: PageType;
/** What became of chats, and by which page. */
let followed: [unknown, PageType][];
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** A page that is there. */
function pageTo(heard: ToPanel[]): PageType {
  const made = new Page("side", fake.Uri.file("/ext") as unknown as Uri, {
    said: () => undefined,
    refused: () => undefined,
  });
  const webview = {
    cspSource: "",
    asWebviewUri: (uri: unknown) => uri,
    onDidReceiveMessage: () => new fake.Disposable(() => undefined),
    postMessage: (message: ToPanel) => heard.push(message),
  };
  made.load(webview as unknown as Webview);
  made.welcome([]);
  return made;
}

beforeEach(() => {
  fake.reset();
  asked = [];
  posted = [];
  failures = [];
  followed = [];
  const wire = {
    request: (method: string, params: unknown, token?: CancellationToken) =>
      new Promise((answer, refuse) => asked.push({ method, params, token, answer, refuse })),
  };
  const kinds =
    "ready showing focused openTab decide preview open raiseWindow showText openExternal copy insert diff accept review export pickFiles dropped addSelection";
  deeds = Object.fromEntries(kinds.split(" ").map((kind) => [kind, vi.fn()]));
  shown = new Shown();
  relay = new Relay(
    wire as unknown as Wire,
    shown,
    deeds as unknown as ConstructorParameters<typeof Relay>[2],
    { changed: (chat, by) => followed.push([chat, by]), deleted: (chatId, by) => followed.push([chatId, by]) },
    (error) => failures.push(error),
  );
  page = pageTo(posted);
});
afterEach(() => relay.dispose());

describe("a request of the panel's", () => {
  it("goes to the server as it is, and its answer comes back under its id", async () => {
    const done = relay.take({ kind: "request", id: 7, method: "codelaw/chat/list", params: { query: "x" } }, page);
    asked[0]?.answer({ chats: [] });
    await done;
    expect(asked[0]).toMatchObject({ method: "codelaw/chat/list", params: { query: "x" } });
    expect(posted).toEqual([{ kind: "answer", id: 7, result: { chats: [] } }]);
  });

  it("is refused with the code, the words and the hint of the server", async () => {
    const done = relay.take({ kind: "request", id: 7, method: "codelaw/chat/read", params: { chatId: "c" } }, page);
    asked[0]?.refuse(new Refusal("chat_not_found", "There is no such chat", "Look at the list"));
    await done;
    const problem = { code: "chat_not_found", message: "There is no such chat", hint: "Look at the list" };
    expect(posted).toEqual([{ kind: "refused", id: 7, problem }]);
    expect(failures).toEqual([]);
  });

  it.each([[null], [undefined], ["x"], [[1]], [3]])(
    "with params that are not an object is not sent: %j",
    async (params) => {
      await relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params }, page);
      expect(asked).toEqual([]);
      expect(posted).toMatchObject([{ kind: "refused", id: 1, problem: { code: "invalid_params" } }]);
    },
  );

  it("is withdrawn by its id, and no other is", async () => {
    void relay.take({ kind: "request", id: 1, method: "codelaw/chat/send", params: { text: "a" } }, page);
    void relay.take({ kind: "request", id: 2, method: "codelaw/chat/send", params: { text: "b" } }, page);
    await relay.take({ kind: "withdraw", id: 1 }, page);
    await relay.take({ kind: "withdraw", id: 99 }, page);
    expect(asked.map(({ token }) => token?.isCancellationRequested)).toEqual([true, false]);
  });

  it("has an id of its own while it is under way", async () => {
    void relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params: {} }, page);
    await relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params: {} }, page);
    expect(asked).toHaveLength(1);
    expect(posted).toMatchObject([{ kind: "refused", id: 1 }]);
  });

  it("is one of at most two hundred", async () => {
    for (let id = 0; id < 201; id++)
      void relay.take({ kind: "request", id, method: "codelaw/chat/list", params: {} }, page);
    await settle();
    expect(asked).toHaveLength(200);
    expect(posted).toMatchObject([{ kind: "refused", id: 200 }]);
  });

  it("of a page that is gone is answered to nobody, and goes on", async () => {
    const old = relay.take({ kind: "request", id: 1, method: "codelaw/chat/send", params: { text: "a" } }, page);
    await relay.take({ kind: "ready" }, page);
    const now = relay.take({ kind: "request", id: 1, method: "codelaw/chat/list", params: {} }, page);
    expect(asked[0]?.token?.isCancellationRequested).toBe(false);
    asked[0]?.answer({ answer: "old" });
    await old;
    expect(posted).toEqual([]);
    asked[1]?.answer({ chats: [] });
    await now;
    expect(posted).toEqual([{ kind: "answer", id: 1, result: { chats: [] } }]);
  });
});

describe("several pages", () => {
  const ask = (by: PageType, id: number, method: Method, params: unknown): Promise<void> =>
    relay.take({ kind: "request", id, method, params }, by);

  it("have requests under the same id, each with its own answer, and withdraw only their own", async () => {
    const heard: ToPanel[] = [];
    const other = pageTo(heard);
    void ask(page, 1, "codelaw/chat/send", { text: "a" });
    const theirs = ask(other, 1, "codelaw/chat/list", {});
    await relay.take({ kind: "withdraw", id: 1 }, other);
    expect(asked.map(({ token }) => token?.isCancellationRequested)).toEqual([false, true]);
    asked[1]?.answer({ chats: [] });
    await theirs;
    expect([posted, heard]).toEqual([[], [{ kind: "answer", id: 1, result: { chats: [] } }]]);
    const again = ask(other, 2, "codelaw/chat/list", {});
    relay.forget(other);
    asked[2]?.answer({ chats: [] });
    await again;
    expect(heard).toHaveLength(1);
  });

  it("hear of what one of them changes or deletes, when that is done", async () => {
    const changing = ask(page, 1, "codelaw/chat/update", { chatId: "c", title: "new" });
    expect(followed).toEqual([]);
    asked[0]?.answer({ ...chat, title: "new" });
    await changing;
    const failing = ask(page, 2, "codelaw/chat/delete", { chatId: "c" });
    asked[1]?.refuse(new Refusal("store_unavailable", "The disk is full", ""));
    await failing;
    expect(followed).toEqual([[{ ...chat, title: "new" }, page]]);
    const deleting = ask(page, 3, "codelaw/chat/delete", { chatId: "c" });
    asked[2]?.answer({ deleted: true });
    await deleting;
    expect(followed.at(-1)).toEqual(["c", page]);
  });
});

describe("what else the panel says", () => {
  it("is done by those who can", async () => {
    await relay.take({ kind: "copy", text: "x" }, page);
    await relay.take({ kind: "decide", id: 1, reply: { optionId: "a" } }, page);
    expect(deeds["copy"]).toHaveBeenCalledWith({ kind: "copy", text: "x" }, page);
    expect(deeds["decide"]).toHaveBeenCalledTimes(1);
  });

  it("runs commands of the extension", async () => {
    await relay.take({ kind: "command", command: "codelaw.restart" }, page);
    expect(fake.editor.done).toEqual([{ what: "codelaw.restart", with: [] }]);
  });

  it("may fail, and the failure is told", async () => {
    const error = new Error("no");
    deeds["insert"]?.mockRejectedValue(error);
    await relay.take({ kind: "insert", text: "x" }, page);
    expect(failures).toEqual([error]);
  });
});

describe("the chat that is shown", () => {
  it("is known from what passes by", async () => {
    shown.show("c");
    const done = relay.take({ kind: "request", id: 1, method: "codelaw/chat/read", params: { chatId: "c" } }, page);
    const record: ChatRecord = { chat, messages: [], events: [begun, full], running: "t" } as unknown as ChatRecord;
    asked[0]?.answer(record);
    await done;
    expect(shown.known).toMatchObject({ running: true, usage: { contextTokens: 50 }, chat: { model: "m" } });
    const change = relay.take({ kind: "request", id: 2, method: "codelaw/chat/update", params: { chatId: "c" } }, page);
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
