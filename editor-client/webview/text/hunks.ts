// The lines of a unified diff.

export interface DiffLine {
  kind: "added" | "removed" | "same" | "head" | "note";
  text: string;
  /** Of the new file, and for a removed line of the old one. */
  number: number | null;
}

const HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** The lines of a diff of one or more files; what is not a diff is shown as it is. */
export function hunks(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [before, after, leftBefore, leftAfter] = [0, 0, 0, 0];
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const head = HEAD.exec(line);
    if (leftBefore <= 0 && leftAfter <= 0) {
      if (head !== null) {
        [before, after] = [Number(head[1]), Number(head[3])];
        [leftBefore, leftAfter] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
        lines.push({ kind: "head", text: line, number: null });
      } else if (line !== "") lines.push({ kind: line.startsWith("\\") ? "note" : "head", text: line, number: null });
      continue;
    }
    const text = line.slice(1);
    if (line.startsWith("+")) {
      lines.push({ kind: "added", text, number: after });
      after += 1;
      leftAfter -= 1;
    } else if (line.startsWith("-")) {
      lines.push({ kind: "removed", text, number: before });
      before += 1;
      leftBefore -= 1;
    } else if (line.startsWith("\\")) lines.push({ kind: "note", text: line, number: null });
    else {
      lines.push({ kind: "same", text, number: after });
      [before, after, leftBefore, leftAfter] = [before + 1, after + 1, leftBefore - 1, leftAfter - 1];
    }
  }
  return lines;
}

/** How many lines a diff adds and removes. */
export function counted(diff: string): { added: number; removed: number } {
  const lines = hunks(diff);
  const count = (kind: DiffLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  return { added: count("added"), removed: count("removed") };
}
