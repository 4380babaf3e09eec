import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import type { Thought as ThoughtItem } from "../state";
import { Growing } from "../text/Growing";
import { t } from "../language";

/** The most that a line holds. */
const LINE = 200;

/** What the model thought: folded, its beginning as the line, and its newest words while it thinks. */
export const Thought = memo(function Thought({ item, live }: { item: ThoughtItem; live: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <details
      class="thought"
      data-item={item.id}
      data-live={live}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="thought-label">{live ? t.thinking : t.thought}</span>
        {!open && (
          <span class="thought-line" dir="auto" data-tail={live} aria-hidden={live}>
            <bdi>{live ? tail(item.text) : head(item.text)}</bdi>
          </span>
        )}
      </summary>
      {open && (
        <div class="thought-text" dir="auto">
          <Growing text={item.text} />
        </div>
      )}
    </details>
  );
});

function head(text: string): string {
  return (
    text
      .slice(0, LINE * 2)
      .trimStart()
      .split("\n", 1)[0]
      ?.slice(0, LINE) ?? ""
  );
}

function tail(text: string): string {
  return text.slice(-LINE).replace(/\s+/g, " ");
}
