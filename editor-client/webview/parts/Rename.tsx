import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../language";

/** The most characters of a title that the server takes. */
const LONGEST = 200;

interface Props {
  title: string;
  /** Null where the title stays; `refocus` where the user left by a key. */
  onDone: (title: string | null, refocus: boolean) => void;
}

/** A title as a field. Leaving the field keeps what was typed, Escape does not; an empty title changes nothing. */
export function Rename({ title, onDone }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const ended = useRef(false);
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);

  const end = (keep: boolean, refocus: boolean): void => {
    if (ended.current) return;
    ended.current = true;
    const wanted = field.current?.value.trim() ?? "";
    onDone(keep && wanted !== "" && wanted !== title ? wanted : null, refocus);
  };

  return (
    <input
      ref={field}
      type="text"
      class="chat-rename"
      dir="auto"
      maxLength={LONGEST}
      aria-label={t.newTitle}
      defaultValue={title}
      onBlur={() => end(true, false)}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key !== "Enter" && event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        end(event.key === "Enter", true);
      }}
    />
  );
}
