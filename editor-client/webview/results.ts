// What tools gave, by the calls that asked for it.
import type { Message } from "../src/protocol/types";

/** What tools gave according to these messages. */
export function resultsOf(messages: readonly Message[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { role, content, metadata } of messages) {
    if (role === "tool" && metadata.callId !== undefined) found.set(metadata.callId, content);
  }
  return found;
}

/** These and what the messages tell. */
export function withResults(
  before: ReadonlyMap<string, string>,
  messages: readonly Message[],
): ReadonlyMap<string, string> {
  const found = resultsOf(messages);
  return found.size === 0 ? before : new Map([...before, ...found]);
}
