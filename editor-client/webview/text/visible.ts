// Characters that cannot be seen, or that turn the order of others, made visible.
import { codeOf, HIDDEN } from "../../src/hidden";

/** A piece of a text; with `hidden` it is one character, and that is what it is called. */
export interface Piece {
  text: string;
  hidden?: string;
}

const NAMES: Record<string, string> = {
  "\u0000": "NUL",
  "\u0007": "BEL",
  "\u0008": "BACKSPACE",
  "\u000b": "LINE TABULATION",
  "\u000c": "FORM FEED",
  "\r": "CARRIAGE RETURN",
  "\u001b": "ESCAPE",
  "\u007f": "DELETE",
  "\u00a0": "NO-BREAK SPACE",
  "\u00ad": "SOFT HYPHEN",
  "\u034f": "COMBINING GRAPHEME JOINER",
  "\u061c": "ARABIC LETTER MARK",
  "\u115f": "HANGUL FILLER",
  "\u1160": "HANGUL FILLER",
  "\u180e": "MONGOLIAN VOWEL SEPARATOR",
  "\u200b": "ZERO WIDTH SPACE",
  "\u200c": "ZERO WIDTH NON-JOINER",
  "\u200d": "ZERO WIDTH JOINER",
  "\u200e": "LEFT-TO-RIGHT MARK",
  "\u200f": "RIGHT-TO-LEFT MARK",
  "\u2028": "LINE SEPARATOR",
  "\u2029": "PARAGRAPH SEPARATOR",
  "\u202a": "LEFT-TO-RIGHT EMBEDDING",
  "\u202b": "RIGHT-TO-LEFT EMBEDDING",
  "\u202c": "POP DIRECTIONAL FORMATTING",
  "\u202d": "LEFT-TO-RIGHT OVERRIDE",
  "\u202e": "RIGHT-TO-LEFT OVERRIDE",
  "\u2060": "WORD JOINER",
  "\u2066": "LEFT-TO-RIGHT ISOLATE",
  "\u2067": "RIGHT-TO-LEFT ISOLATE",
  "\u2068": "FIRST STRONG ISOLATE",
  "\u2069": "POP DIRECTIONAL ISOLATE",
  "\u2800": "BRAILLE PATTERN BLANK",
  "\u3164": "HANGUL FILLER",
  "\ufeff": "ZERO WIDTH NO-BREAK SPACE",
  "\uffa0": "HALFWIDTH HANGUL FILLER",
};

const EACH = new RegExp(HIDDEN, "gu");

/** Cut a text at the characters that would not be seen. A carriage return before a newline is a line's end. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(EACH)) {
    const character = match[0];
    if (character === "\n" || character === "\t") continue;
    if (character === "\r" && text[match.index + 1] === "\n") continue;
    if (match.index > from) found.push({ text: text.slice(from, match.index) });
    const name = NAMES[character];
    found.push({ text: character, hidden: name === undefined ? codeOf(character) : `${codeOf(character)} ${name}` });
    from = match.index + character.length;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}

/** Whether there is anything in a text that would not be seen. */
export const hasHidden = (text: string): boolean => pieces(text).some((piece) => piece.hidden !== undefined);
