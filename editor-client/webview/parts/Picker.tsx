import { useEffect, useRef, useState } from "preact/hooks";
import { useId } from "../ids";
import { Icon } from "./Icon";
import { Listbox, moved } from "./Listbox";

/** One value that may be picked, with a line that says what it does. */
export interface PickerOption<T extends string> {
  value: T;
  title: string;
  hint: string;
}

interface Props<T extends string> {
  what: string;
  options: readonly PickerOption<T>[];
  /** Null where the server's default holds. */
  value: T | null;
  open: boolean;
  onOpen: (wanted: boolean) => void;
  onChoose: (value: T) => void;
}

/** A button that opens a list to pick one value of. */
export function Picker<T extends string>({ what, options, value, open, onOpen, onChoose }: Props<T>) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const current = options.findIndex((option) => option.value === value);
  const [active, setActive] = useState(0);

  useEffect(() => {
    if (!open) return;
    setActive(Math.max(0, current));
  }, [open, current]);

  const close = (): void => {
    button.current?.focus();
    onOpen(false);
  };

  const choose = (index: number): void => {
    close();
    const option = options[index];
    if (option !== undefined && option.value !== value) onChoose(option.value);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Tab") {
      close();
      return;
    }
    if (event.key === "Escape") close();
    else if (event.key === "Enter" || event.key === " ") choose(active);
    else {
      const next = moved(event.key, active, options.length) ?? beginning(options, event.key, active);
      if (next === null) return;
      setActive(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const title = options[current]?.title ?? "default";
  return (
    <div
      class="picker"
      onFocusOut={(event) => {
        const to = event.relatedTarget;
        if (open && !(to instanceof Node && event.currentTarget.contains(to))) onOpen(false);
      }}
    >
      <button
        ref={button}
        type="button"
        class="picker-button"
        aria-label={`${what}: ${title}`}
        title={`${what}: ${title}`}
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onMouseDown={(event) => {
          if (open) event.preventDefault();
        }}
        onClick={() => (open ? close() : onOpen(true))}
        onKeyDown={(event) => {
          if (open || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
          event.preventDefault();
          onOpen(true);
        }}
      >
        <span class="picker-what">{what}</span>
        <span class="picker-value">{title}</span>
        <Icon name="down" />
      </button>
      {open && (
        <div class="popup">
          <Listbox
            id={id}
            label={what}
            active={active}
            onChoose={choose}
            onKeyDown={onKeyDown}
            choices={options.map((option) => ({
              key: option.value,
              selected: option.value === value,
              content: (
                <>
                  <Icon name={option.value === value ? "check" : "blank"} />
                  <span class="choice-text">
                    <span class="choice-title">{option.title}</span>
                    <span class="choice-hint">{option.hint}</span>
                  </span>
                </>
              ),
            }))}
          />
        </div>
      )}
    </div>
  );
}

/** The next option after `active` whose title begins with a typed letter. */
function beginning<T extends string>(options: readonly PickerOption<T>[], key: string, active: number): number | null {
  if (key.length !== 1) return null;
  const order = options.map((_, index) => (active + 1 + index) % options.length);
  return order.find((index) => options[index]?.title.toLowerCase().startsWith(key.toLowerCase())) ?? null;
}
