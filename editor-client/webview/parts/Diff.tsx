import "../style/diff.css";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { hunks, type DiffLine } from "../text/hunks";
import { Visible } from "./Visible";
import { t } from "../language";

/** More lines are shown when they are asked for. */
const LINES = 400;

interface Props {
  text: string;
  /** What stands behind the last line, when that is there. */
  end?: ComponentChildren;
  /** The file is named above: a diff of one file begins with its lines. */
  named?: boolean;
}

/** A unified diff, with line numbers; additions and removals are told apart by their sign, too. */
export function Diff({ text, end, named = false }: Props) {
  const lines = useMemo(() => (named ? withoutName(hunks(text)) : hunks(text)), [text, named]);
  const [whole, setWhole] = useState(false);
  const shown = whole ? lines : lines.slice(0, LINES);
  return (
    <div class="diff" dir="ltr">
      <div class="diff-lines" tabIndex={0} role="group" aria-label={t.diff}>
        {shown.map((line, index) => (
          <Line key={index} line={line} />
        ))}
        {shown.length === lines.length && end}
      </div>
      {shown.length < lines.length && (
        <button type="button" class="link-button show-all" onClick={() => setWhole(true)}>
          {t.showAllLines(lines.length)}
        </button>
      )}
    </div>
  );
}

/** Without the head of its file, where it is of one file only. */
function withoutName(lines: DiffLine[]): DiffLine[] {
  const files = lines.filter(({ kind, text }) => kind === "head" && text.startsWith("--- "));
  const first = lines.findIndex(({ kind }) => kind !== "head");
  return files.length === 1 && first > 0 ? lines.slice(first) : lines;
}

const SIGNS = { added: "+", removed: "-", same: " ", head: "", note: "" } as const;

function Line({ line }: { line: DiffLine }) {
  return (
    <div class="diff-line" data-kind={line.kind}>
      <span class="diff-number" aria-hidden="true">
        {line.number}
      </span>
      <span class="diff-sign">{SIGNS[line.kind]}</span>
      <span class="diff-text">{line.text === "" ? "\n" : <Visible text={line.text} />}</span>
    </div>
  );
}
