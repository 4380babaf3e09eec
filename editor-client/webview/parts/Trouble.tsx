import type { Problem } from "../../src/messages";
import { mayPass, wayOut } from "../../src/ways";
import { useHands } from "../hands";
import { language, t } from "../language";

interface Props {
  problem: Problem;
  /** Ask again as it was asked; where that is another button's, undefined. */
  onRetry?: () => void;
}

/** What went wrong, what to do about it, and the button that does it. */
export function Trouble({ problem: { code, message, hint }, onRetry }: Props) {
  const { panel } = useHands();
  const way = wayOut(code, language);
  const words = way?.hint ?? hint;
  return (
    <>
      {message} {words !== "" && <span class="hint">{words}</span>}
      {way !== undefined && (
        <>
          {" "}
          <button
            type="button"
            class="link-button"
            onClick={() => panel.tell({ kind: "command", command: way.command })}
          >
            {way.title}
          </button>
        </>
      )}
      {onRetry !== undefined && mayPass(code) && (
        <>
          {" "}
          <button type="button" class="link-button" onClick={onRetry}>
            {t.retry}
          </button>
        </>
      )}
    </>
  );
}
