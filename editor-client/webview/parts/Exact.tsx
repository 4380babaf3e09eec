import { useState } from "preact/hooks";
import { useHands } from "../hands";
import { amount } from "../../src/amounts";
import { t } from "../language";

/** More is shown when it is asked for. */
const MOST = 20_000;

/** A text as it is sent, character by character; a long one in part. */
export function Exact({ text, label }: { text: string; label: string }) {
  const { panel } = useHands();
  const [all, setAll] = useState(false);
  const cut = text.length > MOST && !all;
  return (
    <div class="exact">
      <pre tabIndex={0} role="region" aria-label={label} dir="auto">
        {cut ? text.slice(0, MOST) : text}
      </pre>
      <div class="exact-buttons">
        {cut && (
          <button type="button" class="link-button" onClick={() => setAll(true)}>
            {t.showAll(amount(text.length))}
          </button>
        )}
        <button type="button" class="link-button" onClick={() => panel.tell({ kind: "copy", text })}>
          {t.copy}
        </button>
      </div>
    </div>
  );
}
