import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "../style/popup.css";
import { useId } from "../ids";
import { moved } from "./Listbox";

interface MenuItem {
  title: string;
  run: () => void;
}

interface Props {
  label: string;
  items: readonly MenuItem[];
  /** What is on the button. */
  children: ComponentChildren;
  /** A line below the items. */
  hint?: string;
  tabIndex?: number;
}

/** A button that opens a menu of commands. */
export function Menu({ label, items, children, hint, tabIndex }: Props) {
  const [active, setActive] = useState<number | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = active !== null;

  useEffect(() => {
    if (active === null) return;
    const item = menu.current?.querySelectorAll('[role="menuitem"]').item(active);
    if (item instanceof HTMLElement) item.focus();
  }, [active]);

  const close = (refocus: boolean): void => {
    setActive(null);
    if (refocus) button.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (active === null) {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      setActive(event.key === "ArrowDown" ? 0 : items.length - 1);
    } else if (event.key === "Escape") {
      close(true);
    } else if (event.key === "Tab") {
      close(true);
      return;
    } else {
      const next = moved(event.key, active, items.length);
      if (next === null) return;
      setActive(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      class="menu-anchor"
      onKeyDown={onKeyDown}
      onFocusOut={(event) => {
        const to = event.relatedTarget;
        if (open && !(to instanceof Node && event.currentTarget.contains(to))) close(false);
      }}
    >
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        tabIndex={tabIndex}
        onMouseDown={(event) => {
          if (open) event.preventDefault();
        }}
        onClick={() => {
          if (open) close(true);
          else setActive(0);
        }}
      >
        {children}
      </button>
      {open && (
        <div class="popup menu-popup">
          <div ref={menu} id={id} role="menu" aria-label={label}>
            {items.map((item, index) => (
              <button
                key={item.title}
                type="button"
                role="menuitem"
                class="choice"
                tabIndex={-1}
                data-active={index === active}
                onClick={() => {
                  close(true);
                  item.run();
                }}
              >
                {item.title}
              </button>
            ))}
          </div>
          {hint !== undefined && <p class="popup-hint">{hint}</p>}
        </div>
      )}
    </div>
  );
}
