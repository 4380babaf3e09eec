import { useState } from "preact/hooks";
import { useHands } from "../hands";
import type { State } from "../state";
import { ago } from "../text/ago";
import { newestCompaction } from "../text/bill";
import { compactionInWords } from "../text/compaction";
import { t } from "../language";

/** Compacting the chat: the button, the progress, how it ended. */
export function Compacting({ state: { chat, server } }: { state: State }) {
  const { actions } = useHands();
  const [asked, setAsked] = useState(false);
  const compaction = newestCompaction(chat);
  const running = chat?.compacting === true;
  const busy = running || asked;
  const words =
    asked && !running
      ? [t.askingCompaction]
      : compaction === null
        ? []
        : compactionInWords(compaction.phase, compaction.report);

  const compact = async (): Promise<void> => {
    setAsked(true);
    await actions.compact();
    setAsked(false);
  };

  return (
    <section class="compacting" aria-labelledby="compacting-title">
      <h2 id="compacting-title">{t.compaction}</h2>
      <p class="hint">{t.compactionHint}</p>
      <div class="compacting-buttons">
        <button
          type="button"
          class="primary-button"
          disabled={busy || chat === null || chat.chat.turns === 0 || server.phase !== "ready"}
          onClick={() => void compact()}
        >
          {t.compact}
        </button>
        {running && (
          <button type="button" class="link-button" onClick={() => void actions.stop()}>
            {chat.running === null ? t.cancelCompaction : t.stopBoth}
          </button>
        )}
      </div>
      {busy && <progress class="compacting-progress" aria-label={t.compacting} />}
      <div class="compaction-words" role="status" data-phase={running || !asked ? compaction?.phase : "started"}>
        {words.length > 0 && (
          <p dir="auto">
            {!busy && compaction !== null && (
              <span class="hint">{t.theLastOne(ago(compaction.at, Date.now() / 1000))}</span>
            )}
            {words.join(" ")}
          </p>
        )}
      </div>
    </section>
  );
}
