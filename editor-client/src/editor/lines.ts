// Whole lines of a document, and where they stand by now.

/** As much of a document as is read here. */
export interface Lines {
  readonly lineCount: number;
  lineAt(line: number): { readonly text: string };
}

/** A part of a document, as line numbers from zero; `end` is the line after the last. */
export interface Place {
  readonly first: number;
  readonly end: number;
}

/** A change of a document, as its editor tells it. */
export interface Change {
  readonly range: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  readonly text: string;
}

/** The lines of a selection; one that ends before a line's first character ends above it. */
export function placeOf({ start, end }: { start: Spot; end: Spot }): Place {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { first: start.line, end: last + 1 };
}

interface Spot {
  readonly line: number;
  readonly character: number;
}

/** Where these lines stand: at `first`, or else at the only place where they do; null where nobody can know. */
export function findLines(document: Lines, wanted: readonly string[], first: number): Place | null {
  const at = (line: number): boolean =>
    line + wanted.length <= document.lineCount &&
    wanted.every((text, offset) => document.lineAt(line + offset).text === text);
  if (at(first)) return { first, end: first + wanted.length };
  if (!wanted.some((text) => text.trim() !== "")) return null;
  const found: number[] = [];
  for (let line = 0; line + wanted.length <= document.lineCount && found.length < 2; line++)
    if (at(line)) found.push(line);
  const [only] = found;
  return only === undefined || found.length > 1 ? null : { first: only, end: only + wanted.length };
}

/** The number that a line has after changes above it. */
export function moved(first: number, changes: readonly Change[]): number {
  return changes.reduce((line, { range, text }) => {
    const above = range.end.line < first;
    return above ? line + text.split("\n").length - 1 - (range.end.line - range.start.line) : line;
  }, first);
}

/** A document's text with other lines in a place of it. */
export function replaced(document: Lines, place: Place, lines: readonly string[]): string {
  const every = Array.from({ length: document.lineCount }, (_, line) => document.lineAt(line).text);
  every.splice(place.first, place.end - place.first, ...lines);
  return every.join("\n");
}
