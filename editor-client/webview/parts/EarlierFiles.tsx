import "../style/earlier-files.css";
import { useEffect, useState } from "preact/hooks";
import type { Editing } from "../../src/messages";
import type { CheckpointFile, CheckpointState } from "../../src/protocol/types";
import { useHands } from "../hands";
import { Visible } from "./Visible";
import { t } from "../language";

/** What the files were before the message that is edited: to restore them, with what would be lost, or to keep them. */
export function EarlierFiles({ editing }: { editing: Editing }) {
  const { actions } = useHands();
  const [found, setFound] = useState<CheckpointState | null>(null);
  const [kept, setKept] = useState(false);
  const [busy, setBusy] = useState(false);
  const { chatId, turnId } = editing;

  useEffect(() => {
    let here = true;
    void actions.checkpoint(chatId, turnId).then((state) => here && setFound(state));
    return () => {
      here = false;
    };
  }, [actions, chatId, turnId]);

  const doing = async (asked: Promise<CheckpointState | null>): Promise<void> => {
    setBusy(true);
    const done = await asked;
    const left = await actions.checkpoint(chatId, turnId);
    if (left !== null) setFound({ ...left, conflicts: done?.conflicts ?? [] });
    setBusy(false);
  };

  if (found === null || kept || (found.files.length === 0 && !found.undoable)) return null;
  const lost = found.files.filter((file) => file.lost !== undefined);
  return (
    <div class="earlier-files" role="group" aria-label={t.earlierFiles}>
      {found.files.length === 0 ? (
        <span role="status">{t.filesRestored}</span>
      ) : (
        <>
          <span>{t.filesDiffer(found.files.length)}</span>
          <ul>
            {found.files.map((file) => (
              <li key={file.uri}>
                <Visible text={file.path} /> {note(file)}
              </li>
            ))}
          </ul>
        </>
      )}
      {found.conflicts.map(({ uri, reason }) => (
        <span key={uri} class="earlier-files-conflict" role="status">
          <Visible text={reason} />
        </span>
      ))}
      <span class="earlier-files-buttons">
        {found.files.some((file) => file.stuck === undefined) && (
          <>
            <button
              type="button"
              class="link-button"
              disabled={busy}
              onClick={() =>
                void doing(
                  actions.restoreFiles(
                    chatId,
                    turnId,
                    lost.map(({ uri }) => uri),
                  ),
                )
              }
            >
              {lost.length > 0 ? t.restoreAndLose : t.restoreFiles}
            </button>
            <button type="button" class="link-button" disabled={busy} onClick={() => setKept(true)}>
              {t.keepFiles}
            </button>
          </>
        )}
        {found.undoable && (
          <button
            type="button"
            class="link-button"
            disabled={busy}
            onClick={() => void doing(actions.undoRestore(chatId, turnId))}
          >
            {t.undoRestore}
          </button>
        )}
      </span>
    </div>
  );
}

/** What becomes of a file, and of what others did to it. */
function note({ does, changed, lost, stuck }: CheckpointFile) {
  if (stuck !== undefined) return <Visible text={t.cannotRestore(stuck)} />;
  if (lost !== undefined) return <Visible text={t.wouldBeLost(lost)} />;
  return <span class="badge">{changed ? t.changedSince : t.restoring[does]}</span>;
}
