// The parts of what an agent did to a file, as they stand in the text of now. Pure.
import { type Chunk, chunksOf, linesOf } from "./lines";

/** One part: lines that were there before, and those that stand in their place. */
export interface Hunk {
  /** Says which part it is, as long as neither its lines nor those that were there change. */
  id: string;
  /** What was there before. */
  before: readonly string[];
  /** What the agent made of it. */
  after: readonly string[];
  /** Where it stands in the text of now: the first line, and the one behind the last. */
  start: number;
  end: number;
  /** Somebody has changed these lines since, so that it cannot be taken back for them. */
  touched: boolean;
}

/** A change of a text, by places in its lines. */
export interface LineEdit {
  from: { line: number; character: number };
  to: { line: number; character: number };
  text: string;
}

/**
 * What stands in `now` of what was done from `before` to `after`, in order. Parts in `kept` are left out, and so are
 * those of which nothing is there any more.
 */
export function hunksOf(before: string, after: string, now: string, kept: ReadonlySet<string> = new Set()): Hunk[] {
  const old = linesOf(before);
  const made = linesOf(after);
  const current = linesOf(now);
  const since = chunksOf(made, current);
  const back = since.length === 0 ? null : chunksOf(old, current);
  const found: Hunk[] = [];
  const seen = new Map<string, number>();
  for (const chunk of chunksOf(old, made)) {
    const was = old.slice(chunk.from, chunk.to);
    const lines = made.slice(chunk.start, chunk.end);
    const plain = JSON.stringify([was, lines]);
    const times = seen.get(plain) ?? 0;
    seen.set(plain, times + 1);
    const id = `${digest(plain)}.${times}`;
    if (kept.has(id)) continue;
    if (back?.some((one) => meets(one, chunk)) === false) continue;
    found.push({ id, before: was, after: lines, ...placeOf(chunk, since) });
  }
  return found;
}

/** The text before with the kept parts in it. */
export function withKept(before: string, after: string, kept: ReadonlySet<string>): string {
  const old = linesOf(before);
  const breaks = before.includes("\r\n") ? "\r\n" : "\n";
  const waiting = new Set(hunksOf(before, after, after, kept).map(({ id }) => id));
  // From the end on, so that places before it stay right.
  const all = chunksOf(old, linesOf(after));
  for (const [place, hunk] of [...hunksOf(before, after, after).entries()].reverse()) {
    const chunk = all[place];
    if (chunk !== undefined && !waiting.has(hunk.id)) old.splice(chunk.from, chunk.to - chunk.from, ...hunk.after);
  }
  return old.join(breaks);
}

/** What takes a part back in the text of now; null where somebody has changed it. */
export function rejection(now: string, hunk: Hunk, breaks: string): LineEdit | null {
  const lines = linesOf(now);
  const there = lines.slice(hunk.start, hunk.end);
  if (hunk.touched || there.length !== hunk.after.length || there.some((line, at) => line !== hunk.after[at])) {
    return null;
  }
  const { start, end, before } = hunk;
  const text = before.join(breaks);
  if (end < lines.length) {
    return {
      from: { line: start, character: 0 },
      to: { line: end, character: 0 },
      text: text + (before.length > 0 ? breaks : ""),
    };
  }
  const to = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  if (start === 0) return { from: { line: 0, character: 0 }, to, text };
  // Behind the last line there is no break to take along: the one before it goes or comes.
  const from = { line: start - 1, character: lines[start - 1]?.length ?? 0 };
  return { from, to, text: before.length > 0 ? breaks + text : "" };
}

/** Where lines of the text that the agent left stand after what was done to it since. */
function placeOf({ start, end }: Chunk, since: readonly Chunk[]): Pick<Hunk, "start" | "end" | "touched"> {
  let by = 0;
  let touched = false;
  let first: number | null = null;
  let last = 0;
  for (const { from, to, start: at, end: until } of since) {
    // Beside a place without lines nobody can say what comes first.
    const before = start === end ? to < start : to <= start;
    const behind = start === end ? from > end : from >= end;
    if (before) by += until - at - (to - from);
    else if (!behind) {
      touched = true;
      first ??= Math.min(at, start + by);
      last = Math.max(until, until + Math.max(0, end - to));
    }
  }
  if (!touched) return { start: start + by, end: end + by, touched };
  return { start: first ?? start, end: last, touched };
}

/** Whether a change of the text before touches the lines that a part replaced. */
const meets = (one: Chunk, chunk: Chunk): boolean => one.from <= chunk.to && one.to >= chunk.from;

/** Not a secret, only short: two numbers of 32 bits. */
function digest(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x1b873593;
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b) + 0x9e3779b9;
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36);
}
