import "../style/confirm.css";
import { useEffect, useRef, useState } from "preact/hooks";
import { useId } from "../ids";
import { t } from "../language";

interface Props {
  /** On the button that asks. */
  title: string;
  /** What it means, when it is asked. */
  question: string;
  yes: string;
  disabled?: boolean;
  onYes: () => void;
}

/** A button whose question is asked in its own place, before anything is done. */
export function Confirm({ title, question, yes, disabled = false, onYes }: Props) {
  const [asking, setAsking] = useState(false);
  const id = useId();
  const first = useRef<HTMLButtonElement>(null);
  const answer = useRef<HTMLButtonElement>(null);
  const back = useRef(false);

  useEffect(() => {
    if (asking) answer.current?.focus();
    else if (back.current) first.current?.focus();
    back.current = asking;
  }, [asking]);

  if (!asking) {
    return (
      <button ref={first} type="button" class="link-button" disabled={disabled} onClick={() => setAsking(true)}>
        {title}
      </button>
    );
  }
  return (
    <div
      class="confirm"
      role="group"
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        setAsking(false);
      }}
    >
      <span id={id} class="confirm-question">
        {question}
      </span>
      <span class="confirm-buttons">
        <button
          ref={answer}
          type="button"
          class="confirm-yes"
          aria-describedby={id}
          disabled={disabled}
          onClick={() => {
            setAsking(false);
            onYes();
          }}
        >
          {yes}
        </button>
        <button type="button" class="link-button" onClick={() => setAsking(false)}>
          {t.no}
        </button>
      </span>
    </div>
  );
}
