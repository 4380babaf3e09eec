// Remarks on lines of files, as one message. Pure.
import { visible } from "../hidden";
import type { ReviewWords } from "../languages/en/review";
import { chunksOf, linesOf } from "./lines";

/** A remark, by where it was made. */
export interface Remark {
  /** As shown. */
  path: string;
  /** It was made on the file as it was before. */
  old: boolean;
  /** The text on which it was made. */
  text: string;
  /** The first line, and the one behind the last, counted from 0. */
  start: number;
  end: number;
  /** What was said, oldest first. */
  said: readonly string[];
}

/** Where lines stand by now; `changed` when somebody has changed them. */
export interface Anchor {
  start: number;
  end: number;
  changed: boolean;
  /** None of them, nor anything in their place, is there any more. */
  gone: boolean;
}

/** Lines of code that go along with a remark. */
const MOST_LINES = 40;
/** Characters of one of them. */
const LONGEST = 500;

/** Lines before and behind those of a remark, and characters of each side, by which its place is found again. */
const AROUND = 200;
const MOST_AROUND = 20_000;

/** The lines of a text near `start` to `end`, each where it stands; the others are empty, or left out at the end. */
export function near(text: string, start: number, end: number): string {
  const lines = linesOf(text);
  const length = (line: number): number => lines[line]?.length ?? 0;
  let from = start;
  for (let room = MOST_AROUND; from > 0 && start - from < AROUND && room > 0; from -= 1) room -= length(from - 1);
  let to = end;
  for (let room = MOST_AROUND; to < lines.length && to - end < AROUND && room > 0; to += 1) room -= length(to);
  return "\n".repeat(from) + lines.slice(from, to).join("\n");
}

/** Where the lines `start` to `end` of a text, or of what is `near` them, stand in the text of now. */
export function anchor(text: string, now: string, start: number, end: number): Anchor {
  if (text === now || text === near(now, start, end)) return { start, end, changed: false, gone: false };
  let by = 0;
  let from = start;
  let to = end;
  let changed = false;
  for (const chunk of chunksOf(linesOf(text), linesOf(now))) {
    if (chunk.from >= end) break;
    const next = by + chunk.end - chunk.start - (chunk.to - chunk.from);
    if (chunk.to > start && chunk.from < end) {
      changed = true;
      // Where more than the lines was written anew, nobody can say what stands in their place.
      const more = chunk.to - chunk.from > end - start;
      if (chunk.from <= start && chunk.to >= end && more)
        return { start: chunk.start, end: chunk.start, changed, gone: true };
      if (chunk.from <= start) from = chunk.start;
      to = chunk.to >= end ? chunk.end : end + next;
    } else if (chunk.from > start) {
      // Something was put in between.
      changed = true;
      to += next - by;
    } else {
      from = start + next;
      to = end + next;
    }
    by = next;
  }
  return { start: from, end: Math.max(from, to), changed, gone: to <= from };
}

/**
 * All remarks as one message, each with its file, its lines, their code and what was said. `now` has the text of each
 * file as it is, in the order of the remarks; null where there is no file any more.
 */
export function messageOf(remarks: readonly Remark[], now: readonly (string | null)[], words: ReviewWords): string {
  const parts = remarks.map((remark, place) => partOf(remark, now[place] ?? null, words));
  return [words.remarks(remarks.length), ...parts.map((part, place) => `${place + 1}. ${part}`)].join("\n\n");
}

function partOf({ path, old, text, start, end, said }: Remark, now: string | null, words: ReviewWords): string {
  const name = quoted(path);
  const was = linesOf(text).slice(start, end);
  const remark = said.join("\n\n");
  const [told, code] = ((): [string, readonly string[]] => {
    if (old) return [words.onOld(name, start + 1, end), was];
    if (now === null) return [words.onDeleted(name, start + 1, end), was];
    const place = anchor(text, now, start, end);
    if (place.gone) return [words.onRewritten(name, start + 1, end), was];
    const { start: first, end: last } = place;
    if (place.changed) return [words.onChanged(name, first + 1, last), linesOf(now).slice(first, last)];
    return [words.onLines(name, first + 1, last), was];
  })();
  return `${told}\n\n${fenced(code)}\n\n${remark}`;
}

/** A name as code: on one line, with what it hides, and with nothing in it that ends the code. */
function quoted(path: string): string {
  const name = visible(path);
  const ticks = "`".repeat(longestRun(name) + 1);
  return ticks.length === 1 ? `\`${name}\`` : `${ticks} ${name} ${ticks}`;
}

function fenced(lines: readonly string[]): string {
  const shown = lines.slice(0, MOST_LINES).map((line) => (line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line));
  if (lines.length > MOST_LINES) shown.push("…");
  const code = shown.join("\n");
  const fence = "`".repeat(Math.max(3, longestRun(code) + 1));
  return `${fence}\n${code}\n${fence}`;
}

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
