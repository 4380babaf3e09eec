import "../style/steps.css";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useId } from "../ids";
import type { Item } from "../state";
import { stepsInWords } from "../text/steps";
import { Icon } from "./Icon";

interface Props {
  items: readonly Item[];
  foldable: boolean;
  /** Its turn goes on, or did not come to its end: then it is shown as it is. */
  open: boolean;
  children: ComponentChildren;
}

/** Steps of a turn. They fold into one line when the turn is over, unless somebody reads in them. */
export function Steps({ items, foldable, open: wanted, children }: Props) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(wanted);
  const before = useRef(wanted);

  useLayoutEffect(() => {
    if (before.current === wanted) return;
    before.current = wanted;
    setOpen(wanted || isRead(box.current));
  }, [wanted]);

  const shown = open || !foldable;
  return (
    <div ref={box} class="steps" data-open={shown}>
      {foldable && !wanted && (
        <button
          type="button"
          class="steps-line"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen((now) => !now)}
        >
          <Icon name="down" />
          <span>{stepsInWords(items)}</span>
        </button>
      )}
      <div id={id} class="steps-inside" hidden={!shown}>
        {children}
      </div>
    </div>
  );
}

/** Whether the user looks at something else than the end of the log, or has unfolded something here. */
function isRead(box: HTMLElement | null): boolean {
  if (box === null) return false;
  return box.closest(".log")?.getAttribute("data-away") === "true" || box.querySelector("details[open]") !== null;
}
