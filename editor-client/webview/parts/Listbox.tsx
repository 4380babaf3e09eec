import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import "../style/popup.css";

/** One line of a listbox; `selected` marks what is in force, which need not be the line the keys are at. */
export interface Choice {
  key: string;
  content: ComponentChildren;
  selected?: boolean;
  /** What the lines from this one on are called together. */
  heading?: string;
}

interface Props {
  id: string;
  label: string;
  choices: readonly Choice[];
  /** The line that the keys are at. */
  active: number;
  onChoose: (index: number) => void;
  /** The listbox takes the focus and these keys itself; else they are handled by the field that it belongs to. */
  onKeyDown?: (event: KeyboardEvent) => void;
}

/** The id of a line, for `aria-activedescendant`. */
export const choiceId = (listbox: string, index: number): string => `${listbox}-${index}`;

/** Where an arrow key leads, around at the ends; null for other keys. */
export function moved(key: string, active: number, count: number): number | null {
  if (count === 0) return null;
  if (key === "ArrowDown") return (active + 1) % count;
  if (key === "ArrowUp") return (active - 1 + count) % count;
  return null;
}

/** The lines of a popup. */
export function Listbox({ id, label, choices, active, onChoose, onKeyDown }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const takesFocus = onKeyDown !== undefined;
  useEffect(() => {
    if (takesFocus) list.current?.focus();
  }, [takesFocus]);
  useEffect(() => {
    list.current?.querySelectorAll('[role="option"]')[active]?.scrollIntoView({ block: "nearest" });
  }, [active, choices]);
  return (
    <ul
      ref={list}
      id={id}
      class="listbox"
      role="listbox"
      aria-label={label}
      tabIndex={takesFocus ? 0 : undefined}
      aria-activedescendant={takesFocus && choices.length > 0 ? choiceId(id, active) : undefined}
      onKeyDown={onKeyDown}
    >
      {choices.map((choice, index) => [
        choice.heading !== undefined && (
          <li key={`${choice.key} heading`} role="presentation" class="choice-heading">
            {choice.heading}
          </li>
        ),
        <li
          key={choice.key}
          id={choiceId(id, index)}
          role="option"
          class="choice"
          data-active={index === active}
          aria-selected={choice.selected ?? index === active}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(index)}
        >
          {choice.content}
        </li>,
      ])}
    </ul>
  );
}
