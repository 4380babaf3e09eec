// Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)` and `\[…\]` become MathML, and what is not a formula stays text.
import type { MarkdownIt, StateBlock, StateInline, Token } from "markdown-it";
import type { Options } from "temml";

/** A formula as it is written. */
interface Formula {
  tex: string;
  display: boolean;
  /** Where the text goes on behind it. */
  end: number;
}

/** Of a longer formula the source is shown. */
const LONGEST = 4000;
/** Formulas that are kept as they were made: a paragraph that grows is made again and again. */
const KEPT = 500;
/** A formula of so many characters scrolls by itself where it stands in a line. */
const WIDE = 60;
/** What a token's `info` says of a formula. */
const DISPLAY = "display";
const OPEN = "open";
/** A formula that defines words for itself is source: a few of them make millions of characters. */
const DEFINING = /\\(?:[egx]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![a-zA-Z])/;
const LIMITS: Options = { throwOnError: true, trust: false, strict: false, maxExpand: 200, maxSize: [20, 20] };

// -------------------------------------------------------------------------------------------------------- what is one

const ENDS: Record<string, string> = { "$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]" };

/** The formula that begins at this place of a line's text; null where none does. */
export function formulaAt(text: string, start: number): Formula | null {
  const opening = ["$$", "$", "\\(", "\\["].find((marks) => text.startsWith(marks, start));
  if (opening === undefined) return null;
  const dollars = opening.startsWith("$");
  if (dollars && (/[\p{L}\p{N}_$]/u.test(text[start - 1] ?? "") || /^\s/.test(text[start + opening.length] ?? ""))) {
    return null;
  }
  const closing = ENDS[opening] ?? "";
  const from = start + opening.length;
  const to = endOf(text, from, closing);
  if (to === null) return null;
  const tex = text.slice(from, to);
  if (tex.trim() === "" || (dollars && !isFormula(tex, text[to + closing.length] ?? ""))) return null;
  return { tex, display: opening === "$$" || opening === "\\[", end: to + closing.length };
}

/** Where the formula ends: at marks that no backslash keeps from being some. */
function endOf(text: string, from: number, closing: string): number | null {
  const near = text.slice(from, from + LONGEST + closing.length);
  let at = near.indexOf(closing);
  while (at !== -1 && backslashesBefore(near, at) % 2 === 1) at = near.indexOf(closing, at + 1);
  return at === -1 ? null : from + at;
}

function backslashesBefore(text: string, at: number): number {
  let first = at;
  while (text[first - 1] === "\\") first -= 1;
  return at - first;
}

/** Prices, variables of a shell and code have dollars, too: a formula touches its dollars and has no prose in it. */
function isFormula(tex: string, after: string): boolean {
  if (/^\s|\s$|`/.test(tex) || /[\p{L}\p{N}_]/u.test(after)) return false;
  return !(/^[\d.,]+(?:\s|$)/.test(tex) ? /[\s(][a-z]{2,}/i : /\s(?:and|or|to|und|oder|bis)\s/i).test(tex);
}

// ----------------------------------------------------------------------------------------------------- how it is found

/** Blocks of formulas: a parser that only cuts a text needs these alone. */
export function mathBlocks(md: MarkdownIt): void {
  md.block.ruler.before("fence", "math_block", block, { alt: ["paragraph", "reference", "blockquote", "list"] });
}

/** Formulas in lines and in blocks. */
export function maths(md: MarkdownIt): void {
  mathBlocks(md);
  md.inline.ruler.before("escape", "math_inline", inline);
  md.renderer.rules["math_inline"] = md.renderer.rules["math_block"] = (tokens, index) => {
    const token = tokens[index];
    if (token === undefined) return "";
    const shown = token.info === OPEN ? null : mathml(token.content, token.block || token.info === DISPLAY);
    return around(token, shown ?? sourceOf(md, token.content));
  };
}

function inline(state: StateInline, silent: boolean): boolean {
  const found = formulaAt(state.src, state.pos);
  if (found === null || found.end > state.posMax) return false;
  if (!silent) {
    const token = state.push("math_inline", "", 0);
    token.content = found.tex;
    token.info = found.display ? DISPLAY : "";
  }
  state.pos = found.end;
  return true;
}

/** It ends with its marks; one that has not come to its end yet is shown as it is written, up to an empty line. */
function block(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const lineOf = (line: number): string =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]).trimEnd();
  const first = lineOf(startLine);
  const opening = first.startsWith("$$") ? "$$" : first.startsWith("\\[") ? "\\[" : null;
  if (opening === null || (state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const closing = ENDS[opening] ?? "";
  const lines = [first.slice(2)];
  const isEnd = (text: string): boolean => text.endsWith(closing);
  let line = startLine;
  while (!isEnd(lines[lines.length - 1] ?? "")) {
    line += 1;
    if (line >= endLine || (state.sCount[line] ?? 0) < state.blkIndent || state.isEmpty(line)) break;
    lines.push(lineOf(line));
  }
  const tex = lines.join("\n");
  const ended = isEnd(tex);
  if (ended ? tex.slice(0, -2).trim() === "" || tex.slice(0, -2).includes(closing) : first.trim() !== opening)
    return false;
  if (silent) return true;
  state.line = ended ? line + 1 : line;
  const token = state.push("math_block", "", 0);
  token.block = true;
  token.content = ended ? tex.slice(0, -2) : tex;
  token.info = ended ? DISPLAY : OPEN;
  token.map = [startLine, state.line];
  return true;
}

// ------------------------------------------------------------------------------------------------------ how it is shown

type Temml = (typeof import("temml"))["default"];
let temml: Temml | null = null;
let loading: Promise<void> | null = null;

/** Whether formulas can be shown; until then their source is. */
export const canShow = (): boolean => temml !== null;

/** Whether a text may have a formula. */
export const hasMaths = (text: string): boolean => text.includes("$") || text.includes("\\(") || text.includes("\\[");

/** Gets what shows formulas: a chat without them never runs it. */
export function loadMaths(): Promise<void> {
  loading ??= import("temml").then((made) => {
    temml = made.default;
  });
  return loading;
}

/** A wide formula scrolls by itself. */
const around = ({ block: isBlock, content }: Token, html: string): string =>
  isBlock
    ? `<div class="math-block wide" dir="ltr" tabindex="0">${html}</div>\n`
    : `<span class="math-inline${content.length > WIDE ? ' wide" tabindex="0' : ""}" dir="ltr">${html}</span>`;

const sourceOf = (md: MarkdownIt, tex: string): string =>
  `<code class="math-source">${md.utils.escapeHtml(tex.trim())}</code>`;

const made = new Map<string, string | null>();

/** The formula as MathML, which is sanitised with all else; null where it is none that can be shown. */
function mathml(tex: string, displayMode: boolean): string | null {
  if (temml === null || tex.length > LONGEST || DEFINING.test(tex)) return null;
  const key = `${displayMode ? DISPLAY : ""} ${tex}`;
  let html = made.get(key);
  if (html === undefined) {
    html = rendered(temml, tex, displayMode);
    made.set(key, html);
    const [oldest] = made.keys();
    if (made.size > KEPT && oldest !== undefined) made.delete(oldest);
  }
  return html;
}

function rendered(by: Temml, tex: string, displayMode: boolean): string | null {
  try {
    // The page's policy allows no style in an element, and tells of every one that is tried.
    return by
      .renderToString(tex, { ...LIMITS, displayMode })
      .replace(/<[^<>]+>/g, (tag) => tag.replace(/\sstyle=(?:"[^"]*"|'[^']*')/g, ""));
  } catch {
    return null; // a fault of the formula's, or one that is too deep: its source is shown
  }
}
