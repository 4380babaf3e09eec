import { useState } from "preact/hooks";
import type { Archive } from "../../src/protocol/types";
import { useHands } from "../hands";
import { ago } from "../text/ago";
import { Confirm } from "./Confirm";
import { Exact } from "./Exact";
import { t } from "../language";

type Checkpoint = Archive["checkpoints"][number];

/** What compactions have archived, the newest first, each with the way back. */
export function Archived({ archive, disabled }: { archive: Archive | null; disabled: boolean }) {
  const { checkpoints } = archive ?? { checkpoints: [] };
  if (checkpoints.length === 0) return null;
  return (
    <section class="archived" aria-labelledby="archived-title">
      <h2 id="archived-title">{t.archived}</h2>
      <ol class="archived-list">
        {checkpoints
          .map((checkpoint, place) => (
            <Cut key={checkpoint.id} checkpoint={checkpoint} newer={checkpoints.slice(place + 1)} disabled={disabled} />
          ))
          .reverse()}
      </ol>
    </section>
  );
}

function Cut({ checkpoint, newer, disabled }: { checkpoint: Checkpoint; newer: Checkpoint[]; disabled: boolean }) {
  const { actions } = useHands();
  const [open, setOpen] = useState(false);
  const [asked, setAsked] = useState(false);
  const { id, at, roundsArchived, summary, text } = checkpoint;
  const rounds = [checkpoint, ...newer].reduce((sum, one) => sum + one.roundsArchived, 0);
  const restore = async (): Promise<void> => {
    setAsked(true);
    await actions.restore(id);
    setAsked(false);
  };
  return (
    <li class="archived-cut" data-checkpoint-id={id}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="section-title">{roundsArchived === 0 ? t.oldShortened : t.roundsArchived(roundsArchived)}</span>
          <span class="hint">
            <time dateTime={new Date(at * 1000).toISOString()}>{ago(at, Date.now() / 1000)}</time>
            {roundsArchived > 0 && (summary === "model" ? t.archivedByModel : t.archivedBare)}
          </span>
        </summary>
        {open && (text === "" ? <p class="hint">{t.nothingInstead}</p> : <Exact text={text} label={t.summaryExact} />)}
      </details>
      <Confirm
        title={t.undoCompaction}
        question={t.sentAgain(rounds, newer.length)}
        yes={t.yesUndo}
        disabled={disabled || asked}
        onYes={() => void restore()}
      />
    </li>
  );
}
