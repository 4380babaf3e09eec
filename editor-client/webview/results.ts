// What tools gave, and the pictures that came with it, out of the messages of a record.
import type { Message, MessageImage } from "../src/protocol/types";
import type { ChatState, Pictures } from "./state";

/** What tools gave according to these messages. */
export function resultsOf(messages: readonly Message[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { role, content, metadata } of messages) {
    if (role === "tool" && metadata.callId !== undefined) found.set(metadata.callId, content);
  }
  return found;
}

/** The pictures that came with what tools gave. */
export function picturesOf(messages: readonly Message[]): Pictures {
  return new Map(
    messages.flatMap(({ role, metadata: { callId, images } }): [string, readonly MessageImage[]][] =>
      role === "tool" && callId !== undefined && images !== undefined ? [[callId, images]] : [],
    ),
  );
}

/** The chat with these results beside those that it has. */
export function withResults(chat: ChatState, results: ReadonlyMap<string, string>, pictures: Pictures): ChatState {
  if (results.size === 0) return chat;
  return {
    ...chat,
    results: new Map([...chat.results, ...results]),
    pictures: new Map([...(chat.pictures ?? []), ...pictures]),
  };
}
