// Earlier questions in the message field, by the arrows as in a shell.
import type { ChatState } from "../state";

/** What was asked in a chat, oldest first, the same twice in a row once. */
export function questionsOf({ entries }: Pick<ChatState, "entries">): string[] {
  const asked = entries.flatMap((entry) => (entry.kind === "turn" && entry.text !== "" ? [entry.text] : []));
  return asked.filter((text, place) => text !== asked[place + 1]);
}

/**
 * The place of the question that comes next, or the number of questions for an empty field; null where the key is the
 * field's own: in a draft, between the lines of a longer text, and at the oldest question.
 */
export function walk(
  asked: readonly string[],
  recalled: number | null,
  text: string,
  key: { up: boolean; caret: number },
): number | null {
  const at = recalled !== null && asked[recalled] === text ? recalled : null;
  if (at === null) return key.up && text === "" && asked.length > 0 ? asked.length - 1 : null;
  const beyond = key.up ? text.slice(0, key.caret) : text.slice(key.caret);
  const next = key.up ? at - 1 : at + 1;
  return beyond.includes("\n") || next < 0 ? null : next;
}
