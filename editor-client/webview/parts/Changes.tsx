import "../style/changes.css";
import { useEffect, useState } from "preact/hooks";
import type { Change, RevertConflict } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { Turn } from "../state";
import { Confirm } from "./Confirm";
import { Visible } from "./Visible";
import { t } from "../language";

interface Props {
  chatId: string;
  turn: Turn;
  accepted: boolean;
}

/** The files that a turn changed: to look at, to keep, to put back. */
export function Changes({ chatId, turn, accepted }: Props) {
  const { actions, panel } = useHands();
  const [conflicts, setConflicts] = useState<RevertConflict[]>([]);
  const [busy, setBusy] = useState(false);
  const settled = turn.reverted ? "reverted" : accepted ? "accepted" : null;
  const [open, setOpen] = useState(settled === null);
  const changes = byFile(turn.result?.changes ?? []);

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
        <span class="changes-title">{t.filesChanged(changes.length)}</span>
        <Counts added={total.added} removed={total.removed} />
        {settled !== null && <span class="badge">{t.settled[settled]}</span>}
      </summary>
      <ul class="changes-list">
        {changes.map((change) => (
          <Row key={change.uri} chatId={chatId} turnId={turn.id} change={change} />
        ))}
      </ul>
      {!turn.reverted && (
        <div class="changes-buttons">
          <button
            type="button"
            class="link-button"
            onClick={() => panel.tell({ kind: "review", chatId, what: "show", turnId: turn.id })}
          >
            {t.reviewTurn}
          </button>
          {!accepted && (
            <button type="button" class="link-button" disabled={busy} onClick={() => actions.accept(turn)}>
              {t.accept}
            </button>
          )}
          <Confirm
            title={busy ? t.reverting : t.revertTurn}
            question={t.putBack(changes.length)}
            yes={t.yesRevert}
            disabled={busy}
            onYes={() => void revert()}
          />
        </div>
      )}
      <div role="status">
        {conflicts.length > 0 && (
          <>
            <p class="conflicts-title">{t.leftAsTheyAre}</p>
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

export const KINDS: Record<Change["kind"], { letter: string; word: string }> = {
  created: { letter: "A", word: t.created },
  modified: { letter: "M", word: t.changed },
  deleted: { letter: "D", word: t.deleted },
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
          aria-label={t.diffOf(path)}
          onClick={() => panel.tell({ kind: "diff", chatId, turnId, uri, path })}
        >
          {t.diff}
        </button>
        {kind !== "deleted" && (
          <button
            type="button"
            class="link-button"
            aria-label={t.openOf(path)}
            onClick={() => panel.tell({ kind: "open", uri, path })}
          >
            {t.open}
          </button>
        )}
      </span>
    </li>
  );
}

function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="counts" aria-label={t.linesChanged(added, removed)} role="img">
      <span class="added">+{added}</span> <span class="removed">−{removed}</span>
    </span>
  );
}

/** One row for each file, also where a turn changed it several times. */
function byFile(changes: readonly Change[]): Change[] {
  const files = new Map<string, Change>();
  for (const change of changes) {
    const there = files.get(change.uri);
    const kind = there?.kind === "created" && change.kind === "modified" ? "created" : change.kind;
    const added = (there?.added ?? 0) + change.added;
    const removed = (there?.removed ?? 0) + change.removed;
    files.set(change.uri, { ...change, kind, added, removed });
  }
  return [...files.values()];
}

const sum = (changes: readonly Change[], what: "added" | "removed"): number =>
  changes.reduce((all, change) => all + change[what], 0);
