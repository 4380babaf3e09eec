// Recorded streams of the real server, and chats built from them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatEvent, ChatRecord } from "../../src/protocol/types";
import type { Action, ChatState, State } from "../../webview/state";
import { initial, reduce } from "../../webview/store";

export const NAMES = ["plain", "edit", "cancelled", "retry", "steer", "compaction", "failed", "killed"] as const;
export type Name = (typeof NAMES)[number];

export interface Stream {
  events: ChatEvent[];
  record: ChatRecord & { earlier?: boolean };
}

export function stream(name: Name): Stream {
  const file = join(import.meta.dirname, "..", "streams", `${name}.json`);
  return JSON.parse(readFileSync(file, "utf8")) as Stream;
}

export const run = (state: State, ...actions: Action[]): State => actions.reduce(reduce, state);

/** The state that shows this record. */
export const showing = (record: ChatRecord): State =>
  run(initial(null), { kind: "opening", chatId: record.chat.id }, { kind: "record", how: "replace", record });

/** The state that shows the chat before anything happened in it. */
export function empty(record: ChatRecord): State {
  return showing({ ...record, chat: { ...record.chat, running: null }, messages: [], events: [], running: null });
}

export const heard = (...events: ChatEvent[]): Action => ({ kind: "events", events });

/** What is the same however a chat was read: results are only in records, and the chat's own row is the server's. */
export function told(state: State): Partial<ChatState> {
  const { entries, lastSeq, running, todo, usage, compacting } = state.chat!;
  return { entries, lastSeq, running, todo, usage, compacting };
}

/** Events of a made-up chat, with rising `seq`. */
export function events(chatId: string, turnId: string, from: number, ...kinds: object[]): ChatEvent[] {
  return kinds.map(
    (event, place) => ({ chatId, turnId, seq: from + place, at: 1000 + from + place, event }) as unknown as ChatEvent,
  );
}

export const started = (text: string): object => ({ kind: "turn_started", text, mentions: [], mentionsLeftOut: 0 });

export const ended = (
  chatId: string,
  turnId: string,
  answer = "",
  stopReason = "finished",
  more: object = {},
): object => {
  const usage = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1, totalTokens: 2 };
  const result = { chatId, turnId, stopReason, answer, steps: 1, usage, notices: [], changes: [], ...more };
  return { kind: "turn_ended", result };
};

export function chat(id: string, more: object = {}): ChatRecord["chat"] {
  return {
    id,
    title: "A chat",
    kind: "panel",
    mode: "agent",
    model: "m",
    strategy: "layered",
    createdAt: 1,
    updatedAt: 1,
    turns: 0,
    running: null,
    ...more,
  };
}

export function record(id: string, given: ChatEvent[] = [], more: object = {}): ChatRecord & { earlier?: boolean } {
  return { chat: chat(id), messages: [], events: given, running: null, earlier: false, ...more };
}
