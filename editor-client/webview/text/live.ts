// What a running command prints: its end, in bounded memory.

/** Characters kept of what a command prints while it runs. */
const KEPT = 20_000;

/** What is kept once more has come; it begins with a whole line where it was cut. */
export function grown(kept: string, delta: string): string {
  const text = kept + delta;
  if (text.length <= KEPT) return text;
  const cut = text.slice(-KEPT);
  return cut.slice(cut.indexOf("\n") + 1);
}

/** The last lines, as they are. */
export function lastLines(text: string, count: number): string {
  return text.trimEnd().split("\n").slice(-count).join("\n");
}
