// Where a text stands in a chat: in what is folded, too. Values in, places out.
import type { Call, ChatState, Entry, Item } from "../state";
import { wordsOf } from "./rendering";
import { partsOf } from "./toolResult";

/** The place of an item that has the text; `nth` counts within the item, and a call is one place however often. */
export interface Place {
  entry: string;
  /** The item's id; for what the user asked `QUESTION`, for why the turn ended `TROUBLE`. */
  item: string;
  /** The call that the item stands in, when it is a subagent's. */
  within: string | null;
  nth: number;
}

export const QUESTION = "question";
export const TROUBLE = "trouble";

/** The places in one entry, in the order in which they stand there. */
export function placesIn(entry: Entry, wanted: string, results: ChatState["results"]): Place[] {
  const needle = folded(wanted);
  if (needle.trim() === "") return [];
  const { id } = entry;
  const places: Place[] = [];
  const add = (item: string, within: string | null, count: number): void => {
    for (let nth = 0; nth < count; nth += 1) places.push({ entry: id, item, within, nth });
  };
  if (entry.kind === "turn") add(QUESTION, null, startsOf(entry.text, needle).length);
  for (const item of entry.items) {
    const count = startsIn(foldedOf(item, results), needle).length;
    if (item.kind === "call") add(item.id, item.call.parent ?? null, Math.min(1, count));
    else add(item.id, null, count);
  }
  const error = entry.kind === "turn" ? entry.result?.error : undefined;
  if (error !== undefined) add(TROUBLE, null, startsOf(`${error.message} ${error.hint}`, needle).length);
  return places;
}

/** Where a text begins in another, whatever the case and the kind of the spaces; none within another. */
export const startsOf = (text: string, needle: string): number[] => startsIn(folded(text), folded(needle));

function startsIn(text: string, needle: string): number[] {
  const starts: number[] = [];
  if (needle === "") return starts;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) starts.push(at);
  return starts;
}

/** The text as it is compared; it keeps its length, so that places in it are places in the text. */
function folded(text: string): string {
  const plain = text.replace(/\s/g, " ");
  const lower = plain.toLowerCase();
  if (lower.length === plain.length) return lower;
  return plain
    .replace(/[^\u0000-\u007f]/gu, (one) => (one.toLowerCase().length === one.length ? one.toLowerCase() : one))
    .replace(/[A-Z]/g, (one) => one.toLowerCase());
}

interface Compared {
  result: string | undefined;
  text: string;
}
/** Items are never changed: what was made of one holds as long as it is there. */
const kept = new WeakMap<Item, Compared>();

function foldedOf(item: Item, results: ChatState["results"]): string {
  const result = item.kind === "call" ? results.get(item.id) : undefined;
  const before = kept.get(item);
  if (before?.result === result && before !== undefined) return before.text;
  const text = folded(textOf(item, result));
  kept.set(item, { result, text });
  return text;
}

function textOf(item: Item, result: string | undefined): string {
  switch (item.kind) {
    case "thought":
    case "steer":
      return item.text;
    case "answer":
      return wordsOf(item.text);
    case "call":
      return callText(item, result);
    case "notice":
      return item.message;
    case "hook":
      return `${item.run.event}: ${item.run.name} ${item.run.message ?? ""}`;
    case "compaction":
      return ""; // figures alone
  }
}

function callText({ call }: Call, result: string | undefined): string {
  const args = Object.values(call.args ?? {}).map((value) =>
    typeof value === "string" ? value : JSON.stringify(value),
  );
  const parts = result === undefined ? null : partsOf(result);
  const given = parts === null ? [] : [parts.error, parts.text, ...parts.bodies.map(({ text }) => text)];
  return [call.tool, call.title, ...args, call.summary ?? "", call.diff ?? "", ...given].join("\n");
}
