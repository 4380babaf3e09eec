// A block of code, with its language and what can be done with it.
import { memo } from "preact/compat";
import { useMemo, useState } from "preact/hooks";
import { useHands } from "../hands";
import { Growing } from "./Growing";
import { highlighted } from "./highlight";
import { ForeignHtml } from "./Html";
import { t } from "../language";

/** Of a longer block only the beginning is shown at first. */
const LINES = 400;
const CHARACTERS = 40_000;

/** While it is `growing` it is neither cut nor highlighted. */
export const Code = memo(function Code({
  code,
  language,
  growing,
}: {
  code: string;
  language: string;
  growing: boolean;
}) {
  const { panel } = useHands();
  const [whole, setWhole] = useState(false);
  const text = useMemo(() => code.replace(/\n+$/, ""), [code]);
  const shown = useMemo(() => (growing || whole ? text : beginning(text)), [text, growing, whole]);
  const html = useMemo(() => (growing ? null : highlighted(shown, language)), [shown, language, growing]);
  const lines = useMemo(() => (shown.length < text.length ? text.split("\n").length : 0), [shown, text]);
  return (
    <div class="code" dir="ltr">
      <div class="code-bar">
        <span class="language">{language}</span>
        <button type="button" class="link-button" onClick={() => panel.tell({ kind: "copy", text })}>
          {t.copy}
        </button>
        <button type="button" class="link-button" onClick={() => panel.tell({ kind: "insert", text })}>
          {t.insertAtCursor}
        </button>
      </div>
      <pre tabIndex={0}>{html === null ? <Growing as="code" text={shown} /> : <ForeignHtml html={html} />}</pre>
      {lines > 0 && (
        <button type="button" class="link-button show-all" onClick={() => setWhole(true)}>
          {t.showAllLines(lines)}
        </button>
      )}
    </div>
  );
});

function beginning(text: string): string {
  let end = 0;
  for (let line = 0; line < LINES; line += 1) {
    const next = text.indexOf("\n", end);
    if (next === -1) return text.length > CHARACTERS * 2 ? text.slice(0, CHARACTERS) : text;
    end = next + 1;
    if (end > CHARACTERS) break;
  }
  return text.slice(0, Math.min(end - 1, CHARACTERS * 2));
}
