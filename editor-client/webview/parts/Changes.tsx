import "../style/changes.css";
import { useEffect, useState } from "preact/hooks";
import type { Change, RevertConflict } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { Turn } from "../state";
import { many } from "../text/words";
import { Confirm } from "./Confirm";
import { Visible } from "./Visible";

interface Props {
  chatId: string;
  turn: Turn;
  accepted: boolean;
}

/** The files that a turn changed: to look at, to keep, to put back. */
export function Changes({ chatId, turn, accepted }: Props) {
  const { actions } = useHands();
  const [conflicts, setConflicts] = useState<RevertConflict[]>([]);
  const [busy, setBusy] = useState(false);
  const settled = turn.reverted ? "reverted" : accepted ? "accepted" : null;
  const [open, setOpen] = useState(settled === null);
  const changes = turn.result?.changes ?? [];

  useEffect(() => setOpen(settled === null), [settled]);

  const revert = async (): Promise<void> => {
    setBusy(true);
    setConflicts(await actions.revert(turn));
    setBusy(false);
  };

  const total = { added: sum(changes, "added"), removed: sum(changes, "removed") };
  return (
    <details
      class="changes"
      data-settled={settled ?? "open"}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span class="changes-title">{`${many(changes.length, "file")} changed`}</span>
        <Counts added={total.added} removed={total.removed} />
        {settled !== null && <span class="badge">{settled}</span>}
      </summary>
      <ul class="changes-list">
        {changes.map((change) => (
          <Row key={change.uri} chatId={chatId} turnId={turn.id} change={change} />
        ))}
      </ul>
      {!turn.reverted && (
        <div class="changes-buttons">
          {!accepted && (
            <button type="button" class="link-button" disabled={busy} onClick={() => actions.accept(turn)}>
              Accept
            </button>
          )}
          <Confirm
            title={busy ? "Reverting…" : "Revert turn"}
            question={`Put ${changes.length === 1 ? "this file" : `these ${changes.length} files`} back as the turn found ${changes.length === 1 ? "it" : "them"}? What was changed since at other places stays.`}
            yes="Yes, revert"
            disabled={busy}
            onYes={() => void revert()}
          />
        </div>
      )}
      <div role="status">
        {conflicts.length > 0 && (
          <>
            <p class="conflicts-title">Left as they are. Change them by hand, or try again later:</p>
            <ul class="conflicts">
              {conflicts.map(({ uri, reason }) => (
                <li key={uri} dir="auto">
                  <Visible text={reason} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </details>
  );
}

const KINDS: Record<Change["kind"], { letter: string; word: string }> = {
  created: { letter: "A", word: "created" },
  modified: { letter: "M", word: "changed" },
  deleted: { letter: "D", word: "deleted" },
};

function Row({ chatId, turnId, change }: { chatId: string; turnId: string; change: Change }) {
  const { panel } = useHands();
  const { uri, path, kind, added, removed } = change;
  const { letter, word } = KINDS[kind];
  return (
    <li class="change" data-path={path} data-kind={kind}>
      <abbr class="change-kind" title={word} aria-label={word}>
        {letter}
      </abbr>
      <span class="change-path" dir="ltr" title={path}>
        <Visible text={path} />
      </span>
      <Counts added={added} removed={removed} />
      <span class="change-buttons">
        <button
          type="button"
          class="link-button"
          aria-label={`Diff of ${path}`}
          onClick={() => panel.tell({ kind: "diff", chatId, turnId, uri, path })}
        >
          Diff
        </button>
        {kind !== "deleted" && (
          <button
            type="button"
            class="link-button"
            aria-label={`Open ${path}`}
            onClick={() => panel.tell({ kind: "open", uri, path })}
          >
            Open
          </button>
        )}
      </span>
    </li>
  );
}

function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="counts" aria-label={`${many(added, "line")} added, ${many(removed, "line")} removed`} role="img">
      <span class="added">+{added}</span> <span class="removed">−{removed}</span>
    </span>
  );
}

const sum = (changes: readonly Change[], what: "added" | "removed"): number =>
  changes.reduce((all, change) => all + change[what], 0);
