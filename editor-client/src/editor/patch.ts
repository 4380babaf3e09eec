// Applies a unified diff to a text, exactly or not at all.

/** What a unified diff says of one file; the paths are null where the file is made or removed. */
export interface FilePatch {
  from: string | null;
  to: string | null;
  hunks: Hunk[];
}
interface Hunk {
  /** Lines before it in the old text. */
  start: number;
  before: Line[];
  after: Line[];
}
interface Line {
  text: string;
  /** The last line of its text, without a break behind it. */
  bare: boolean;
}

/** The files of a unified diff; null when it is cut short or is none. */
export function parsePatch(diff: string): FilePatch[] | null {
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const files: FilePatch[] = [];
  let at = 0;
  while (at < lines.length) {
    const from = nameIn(lines[at], "--- ");
    const to = nameIn(lines[at + 1], "+++ ");
    if (from === undefined || to === undefined) return null;
    at += 2;
    const file: FilePatch = { from, to, hunks: [] };
    while (lines[at]?.startsWith("@@") === true) {
      const read = readHunk(lines, at);
      if (read === null) return null;
      file.hunks.push(read.hunk);
      at = read.next;
    }
    if (file.hunks.length === 0) return null;
    files.push(file);
  }
  return files.length === 0 ? null : files;
}

/** The text that a patch makes of `text`; null when it does not fit. */
export function applyPatch(text: string, { from, hunks }: FilePatch): string | null {
  if (from === null && text !== "") return null;
  const { lines, bare } = linesOf(text);
  const made: string[] = [];
  let at = 0;
  let endsBare = bare;
  for (const { start, before, after } of hunks) {
    if (start < at || start + before.length > lines.length) return null;
    made.push(...lines.slice(at, start));
    at = start + before.length;
    for (const [index, line] of before.entries()) {
      const there = lines[start + index];
      // Diffs leave `\r` out, also where the file has it.
      if (there === undefined || strip(there) !== strip(line.text)) return null;
      if (line.bare !== (bare && start + index === lines.length - 1)) return null;
    }
    const breaks = before.length > 0 && lines[start]?.endsWith("\r") === true ? "\r" : "";
    for (const line of after) made.push(line.bare ? line.text : strip(line.text) + breaks);
    const last = after.at(-1);
    if (at === lines.length) endsBare = last === undefined ? false : last.bare;
  }
  made.push(...lines.slice(at));
  if (made.length === 0) return "";
  return made.join("\n") + (endsBare ? "" : "\n");
}

function readHunk(lines: readonly string[], first: number): { hunk: Hunk; next: number } | null {
  const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[first] ?? "");
  if (head === null) return null;
  const [, start = "0", old = "1", made = "1"] = head;
  const before: Line[] = [];
  const after: Line[] = [];
  let next = first + 1;
  let marked: Line[] = [];
  while (before.length < Number(old) || after.length < Number(made) || lines[next]?.startsWith("\\") === true) {
    const line = lines[next];
    if (line === undefined) return null;
    const text = line.slice(1);
    if (line.startsWith("\\")) for (const one of marked) one.bare = true;
    else if (line.startsWith(" ") || line === "") marked = [put(before, text), put(after, text)];
    else if (line.startsWith("-")) marked = [put(before, text)];
    else if (line.startsWith("+")) marked = [put(after, text)];
    else return null;
    next += 1;
  }
  if (before.length !== Number(old) || after.length !== Number(made)) return null;
  // A hunk without old lines stands behind the line that it names.
  return { hunk: { start: before.length === 0 ? Number(start) : Number(start) - 1, before, after }, next };
}

function put(to: Line[], text: string): Line {
  const line = { text, bare: false };
  to.push(line);
  return line;
}

/** `undefined`: no such line; null: no file. */
function nameIn(line: string | undefined, mark: string): string | null | undefined {
  if (line?.startsWith(mark) !== true) return undefined;
  const name = line.slice(mark.length);
  if (name === "/dev/null") return null;
  return name.replace(/^[ab]\//, "");
}

function linesOf(text: string): { lines: string[]; bare: boolean } {
  if (text === "") return { lines: [], bare: false };
  const lines = text.split("\n");
  if (lines.at(-1) !== "") return { lines, bare: true };
  lines.pop();
  return { lines, bare: false };
}

const strip = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
