// Mentions in a text that is being typed: `@src/a.py` and `@"a file.py"` (M-1), `@symbol:area` and the like (M-8).

import type { MentionItem } from "../../src/protocol/types";

/** A mention that is being typed: from its `@` up to `end`, with what stands before the caret as `prefix`. */
export interface Begun {
  start: number;
  caret: number;
  end: number;
  prefix: string;
  quoted: boolean;
  /** It is not a mention but the name of a command, at the beginning of the text. */
  command?: boolean;
}

/** A text with the caret in it. */
export interface Typed {
  text: string;
  caret: number;
}

// More letters than a bare mention may have: what is found by them is inserted in quotes.
const BARE = /@((?:symbol:[\p{L}\p{M}\p{N}$_.:#~-]*|(?:git|terminal):[\p{L}\p{N}/._~^@{}-]*|[\p{L}\p{M}\p{N}/._-]*))$/u;
const QUOTED = /@"([^"\n]*)$/u;
// Behind the caret other letters are the sentence's: in Chinese and Japanese it goes on without a space.
const REST_OF_BARE = /^[a-zA-Z0-9/._-]*/u;
const REST_OF_QUOTED = /^[^"\s]*"/u;
/** What makes an address or a word of it. */
const WORD_BEFORE = /[a-zA-Z0-9._-]$/u;
/** What would be read as a part of a bare path, or is the end of the text, where one goes on typing. */
const NEEDS_SPACE = /^(?:$|[a-zA-Z0-9/_"-])/u;
const PLAIN = /^[a-zA-Z0-9/._-]*[a-zA-Z0-9/_-]$/u;
/** What is not a path and needs no quotes (M-8). */
const OTHER =
  /^(?:symbol:[a-zA-Z0-9$_.:#~-]*[a-zA-Z0-9$_~#]|git:[a-zA-Z0-9/._~^@{}-]*[a-zA-Z0-9/_~^}]|problems:|terminal:last)$/u;

/** A kind of mention behind whose colon one goes on typing. */
export const goesOn = ({ path, kind }: Pick<MentionItem, "path" | "kind">): boolean =>
  kind === "special" && /^(?:symbol|git):$/u.test(path);

/** The mention that the caret stands in or right behind; null where there is none. */
export function mentionAt(text: string, caret: number): Begun | null {
  const before = text.slice(0, caret);
  const quoted = QUOTED.exec(before);
  const match = quoted ?? BARE.exec(before);
  if (match === null || WORD_BEFORE.test(before.slice(0, match.index))) return null;
  const rest = (quoted ? REST_OF_QUOTED : REST_OF_BARE).exec(text.slice(caret));
  return {
    start: match.index,
    caret,
    end: caret + (rest?.[0].length ?? 0),
    prefix: match[1] ?? "",
    quoted: quoted !== null,
  };
}

/** The command that the caret stands in or right behind, where the text begins with a slash; else null. */
export function commandAt(text: string, caret: number): Begun | null {
  const match = /^\/([^\s/]*)/u.exec(text);
  if (match === null || caret === 0 || caret > match[0].length) return null;
  const prefix = text.slice(1, caret);
  return { start: 0, caret, end: match[0].length, prefix, quoted: false, command: true };
}

/** Put a command in the place of the one begun, and the caret where its arguments go. */
export function completeCommand(text: string, begun: Begun, name: string): Typed {
  const called = `/${name} `;
  return { text: called + text.slice(begun.end).trimStart(), caret: called.length };
}

/** Whether a path can be mentioned at all: a quotation mark or a line break in it has no spelling. */
export const canBeMentioned = (path: string): boolean => !/["\n\r]/u.test(path);

/** A path as a mention is written, in quotes where the bare form could not hold it. */
export const spell = (path: string): string =>
  OTHER.test(path) || (PLAIN.test(path) && /[a-zA-Z0-9]/u.test(path)) ? `@${path}` : `@"${path}"`;

/** Where the mention ends: letters that a bare one cannot hold belong to it where the path goes on with the very same. */
function endOf(text: string, { caret, end, prefix }: Begun, path: string): number {
  const rest = path.startsWith(prefix) ? path.slice(prefix.length) : "";
  return text.startsWith(rest, caret) ? Math.max(end, caret + rest.length) : end;
}

/** Put a mention in the place of the one begun; behind a folder's slash, or a colon, the caret stands so that it goes on. */
export function complete(text: string, begun: Begun, item: Pick<MentionItem, "path" | "kind">): Typed {
  const before = text.slice(0, begun.start);
  const after = text.slice(endOf(text, begun, item.path));
  if (item.kind === "folder") {
    const inside = spell(`${item.path.replace(/\/+$/u, "")}/`);
    const caret = before.length + inside.length - (inside.endsWith('"') ? 1 : 0);
    return { text: before + inside + after, caret };
  }
  if (goesOn(item)) {
    const mention = `@${item.path}`;
    return { text: before + mention + after, caret: before.length + mention.length };
  }
  const mention = spell(item.path);
  const space = NEEDS_SPACE.test(after) ? " " : "";
  const caret = before.length + mention.length + (space || /^[ \t]/u.test(after) ? 1 : 0);
  return { text: before + mention + space + after, caret };
}
