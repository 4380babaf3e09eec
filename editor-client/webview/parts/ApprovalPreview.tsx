import { useEffect, useRef } from "preact/hooks";
import type { ApprovalRequest } from "../../src/protocol/types";
import { Diff } from "./Diff";
import { Visible } from "./Visible";
import { t } from "../language";

type What = ApprovalRequest["preview"];

interface Props {
  preview: What;
  /** The end is in sight. */
  onEnd: () => void;
}

/** What would be done, whole; the box around it scrolls. */
export function Preview({ preview, onEnd }: Props) {
  const { diff, command, text } = preview;
  if (isEmpty(preview)) return null;
  const words = command ?? text;
  const end = <End onSeen={onEnd} />;
  return (
    <div class="approval-preview" tabIndex={0} role="region" aria-label={labelOf(preview)} dir="ltr">
      {words !== undefined && (
        <pre class="approval-command">
          <code>
            <Visible text={words} />
          </code>
        </pre>
      )}
      {diff === undefined || diff === "" ? end : <Diff text={diff} end={end} named />}
    </div>
  );
}

/** Whether the title says all there is. */
export const isEmpty = ({ diff, command, text }: What): boolean => (command ?? text ?? diff ?? "") === "";

/** Show the next page of it; who hears the page instead of seeing it is taken there. */
export function readOn(box: HTMLElement | null): void {
  const text = box?.querySelector(".approval-preview");
  if (text instanceof HTMLElement) text.focus({ preventScroll: true });
  box?.scrollBy({ top: box.clientHeight * 0.9 });
}

const labelOf = ({ command, text }: What): string =>
  command !== undefined ? t.command : text !== undefined ? t.text : t.change;

/** The place behind the last line. It counts as seen when it was on the screen, and not hidden by any box around it. */
function End({ onSeen }: { onSeen: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const told = useRef(onSeen);
  told.current = onSeen;
  useEffect(() => {
    if (place.current === null) return;
    const watching = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watching.disconnect();
      told.current();
    });
    watching.observe(place.current);
    return () => watching.disconnect();
  }, []);
  return <div ref={place} class="approval-end" />;
}
