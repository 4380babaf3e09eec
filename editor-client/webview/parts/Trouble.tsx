import type { Problem } from "../../src/messages";
import { wayOut } from "../../src/ways";
import { useHands } from "../hands";
import { language } from "../language";

/** What went wrong, what to do about it, and the button that does it. */
export function Trouble({ problem: { code, message, hint } }: { problem: Problem }) {
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
    </>
  );
}
