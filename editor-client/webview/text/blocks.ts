// Cuts a growing Markdown text into its top-level blocks, so that only the last ones are looked at again.
import MarkdownIt, { type Token } from "markdown-it";
import { mathBlocks } from "./maths";

/** Fenced code at the top level is a block of its own; all else is text for `htmlOf`. */
export type Block = TextBlock | CodeBlock;
export interface TextBlock {
  kind: "text";
  start: number;
  text: string;
}
export interface CodeBlock {
  kind: "code";
  start: number;
  language: string;
  code: string;
  closed: boolean;
}

/** A text with its blocks; `split` goes on from one. */
export interface Cut {
  text: string;
  blocks: Block[];
}

export const NOTHING: Cut = { text: "", blocks: [] };

/** A long list is cut after so many points: it may be most of an answer. */
const ITEMS = 40;
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\n]*)\n?/;
const parser = new MarkdownIt({ html: false }).use(mathBlocks);

/** The blocks of a text; those that `before`, its beginning, has too are the same objects. */
export function split(written: string, before: Cut = NOTHING): Cut {
  const text = written.includes("\r") ? written.replace(/\r\n?/g, "\n") : written;
  if (text === before.text) return before;
  if (before.blocks.length === 0 || !text.startsWith(before.text)) return { text, blocks: blocksFrom(text, 0) };
  const last = before.blocks[before.blocks.length - 1];
  if (last?.kind === "code" && !last.closed) {
    const grown = codeAt(text, last.start, last.code.length);
    if (grown !== null) {
      const rest = grown.end < text.length ? blocksFrom(text, grown.end) : [];
      return { text, blocks: [...before.blocks.slice(0, -1), grown.block, ...rest] };
    }
  }
  // What looked like a paragraph may be an item of the list before it: two blocks are looked at again.
  const settled = before.blocks.slice(0, -2);
  const open = before.blocks.slice(-2);
  const rest = blocksFrom(text, open[0]?.start ?? 0);
  return { text, blocks: [...settled, ...rest.map((block, place) => sameAs(open[place], block))] };
}

function sameAs(before: Block | undefined, block: Block): Block {
  if (before?.kind !== block.kind || before.start !== block.start) return block;
  if (block.kind === "text") return before.kind === "text" && before.text === block.text ? before : block;
  if (before.kind !== "code" || before.closed !== block.closed || before.language !== block.language) return block;
  return before.code === block.code ? before : block;
}

function blocksFrom(text: string, from: number): Block[] {
  const source = text.slice(from);
  const tokens: Token[] = [];
  parser.block.parse(source, parser, {}, tokens);
  const begun = beginnings(tokens);
  const offsets = offsetsOf(
    source,
    begun.map(({ map }) => map?.[0] ?? 0),
  );
  const blocks: Block[] = [];
  let covered = from;
  begun.forEach((token, place) => {
    // Lines before the first block, such as definitions, belong to it.
    const start = place === 0 ? from : from + (offsets[place] ?? 0);
    const end = from + (offsets[place + 1] ?? source.length);
    const code = token.type === "fence" ? codeAt(text, from + (offsets[place] ?? 0), 0) : null;
    if (code !== null) blocks.push(code.block);
    else blocks.push({ kind: "text", start, text: text.slice(start, end) });
    covered = end;
  });
  if (covered < text.length && text.slice(covered).trim() !== "") {
    blocks.push({ kind: "text", start: covered, text: text.slice(covered) });
  }
  return blocks;
}

/** What begins a block: everything at the top level, and in long lists of points every so manyth of them. */
function beginnings(tokens: readonly Token[]): Token[] {
  let items = 0;
  let points = false;
  return tokens.filter(({ level, nesting, map, type }) => {
    if (map === null || nesting < 0) return false;
    if (level === 0) {
      items = 0;
      points = type === "bullet_list_open";
      return true;
    }
    if (!points || level !== 1 || type !== "list_item_open") return false;
    items += 1;
    return items > 1 && items % ITEMS === 1;
  });
}

/** The fenced code that begins here, also when it has no end yet; its first `seen` characters have none. */
function codeAt(text: string, start: number, seen: number): { block: CodeBlock; end: number } | null {
  const head = FENCE.exec(text.slice(start, start + 1000));
  const marks = head?.[1];
  if (head === null || marks === undefined) return null;
  const language = /^[^\s{,]*/.exec(head[2] ?? "")?.[0] ?? "";
  const open = start + head[0].length;
  const closing = new RegExp(`^ {0,3}${marks.charAt(0)}{${marks.length},}[ \\t]*$`, "gm");
  // The last line that was seen may have grown into the end.
  closing.lastIndex = Math.max(open, text.lastIndexOf("\n", open + seen - 1) + 1);
  const found = closing.exec(text);
  if (found === null) {
    return { block: { kind: "code", start, language, code: text.slice(open), closed: false }, end: text.length };
  }
  const code = text.slice(open, Math.max(open, found.index - 1));
  const end = Math.min(text.length, found.index + found[0].length + 1);
  return { block: { kind: "code", start, language, code, closed: true }, end };
}

/** Where lines, in ascending order, begin. */
function offsetsOf(text: string, lines: readonly number[]): number[] {
  const offsets: number[] = [];
  let offset = 0;
  let passed = 0;
  for (const line of lines) {
    for (; passed < line; passed += 1) offset = text.indexOf("\n", offset) + 1;
    offsets.push(offset);
  }
  return offsets;
}
