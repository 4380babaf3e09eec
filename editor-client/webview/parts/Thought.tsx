import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import type { Thought as ThoughtItem } from "../state";
import { Growing } from "../text/Growing";
import { t } from "../language";

/** The most that a line holds. */
const LINE = 200;

/** What the model thought, or told of its work: folded, its beginning as the line, its newest words while it comes. */
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
        <span class="thought-label">{labelOf(item, live)}</span>
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

function labelOf({ progress }: ThoughtItem, live: boolean): string {
  if (progress) return t.progress;
  return live ? t.thinking : t.thought;
}

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
