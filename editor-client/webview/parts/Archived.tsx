import { useState } from "preact/hooks";
import type { Archive } from "../../src/protocol/types";
import { useHands } from "../hands";
import { ago } from "../text/ago";
import { many } from "../text/words";
import { Confirm } from "./Confirm";
import { Exact } from "./Exact";

type Checkpoint = Archive["checkpoints"][number];

/** What compactions have archived, the newest first, each with the way back. */
export function Archived({ archive, disabled }: { archive: Archive | null; disabled: boolean }) {
  const { checkpoints } = archive ?? { checkpoints: [] };
  if (checkpoints.length === 0) return null;
  return (
    <section class="archived" aria-labelledby="archived-title">
      <h2 id="archived-title">Archived</h2>
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
  const also =
    newer.length === 0
      ? ""
      : ` The ${newer.length === 1 ? "newer one goes" : `${newer.length} newer ones go`} with it.`;
  const back = rounds === 0 ? "what was shortened" : many(rounds, "round");
  const restore = async (): Promise<void> => {
    setAsked(true);
    await actions.restore(id);
    setAsked(false);
  };
  return (
    <li class="archived-cut" data-checkpoint-id={id}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="section-title">
            {roundsArchived === 0 ? "Old results shortened" : `${many(roundsArchived, "round")} archived`}
          </span>
          <span class="hint">
            <time dateTime={new Date(at * 1000).toISOString()}>{ago(at, Date.now() / 1000)}</time>
            {roundsArchived > 0 && (summary === "model" ? " · summary by the model" : " · without a summary")}
          </span>
        </summary>
        {open &&
          (text === "" ? (
            <p class="hint">Nothing stands in its place.</p>
          ) : (
            <Exact text={text} label="Summary: exact text" />
          ))}
      </details>
      <Confirm
        title="Undo compaction"
        question={`${back.charAt(0).toUpperCase()}${back.slice(1)} will be sent in full again, and the summaries are no longer sent.${also}`}
        yes="Yes, undo"
        disabled={disabled || asked}
        onYes={() => void restore()}
      />
    </li>
  );
}
