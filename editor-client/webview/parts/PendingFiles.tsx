import "../style/pending.css";
import type { ChangedFile } from "../../src/messages";
import { useHands } from "../hands";
import type { State } from "../state";
import { KINDS } from "./Changes";
import { Confirm } from "./Confirm";
import { Icon } from "./Icon";
import { Visible } from "./Visible";
import { t } from "../language";

/** What turns of the chat did to files and the user has neither kept nor undone: one line that unfolds. */
export function PendingFiles({ state }: { state: State }) {
  const { panel } = useHands();
  const { pending, chat } = state;
  if (pending === null || pending.total === 0 || pending.chatId !== chat?.chat.id) return null;
  const { chatId, files, total } = pending;
  const running = chat.running !== null;
  return (
    <section class="pending" aria-label={t.filesWaiting}>
      <details class="pending-files">
        <summary>
          <Icon name="down" />
          <span class="pending-count">{t.filesChanged(total)}</span>
        </summary>
        <ul class="pending-list" tabIndex={0} aria-label={t.filesWaiting}>
          {files.map((file) => (
            <Row key={file.uri} chatId={chatId} file={file} running={running} />
          ))}
          {total > files.length && <li class="pending-more">{t.moreFiles(total - files.length)}</li>}
        </ul>
      </details>
      <div class="pending-buttons">
        <button type="button" class="link-button" onClick={() => panel.tell({ kind: "review", chatId, what: "keep" })}>
          {t.keepAll}
        </button>
        <Confirm
          title={t.undoAll}
          question={t.undoThem(total)}
          yes={t.yesUndo}
          disabled={running}
          onYes={() => panel.tell({ kind: "review", chatId, what: "undo" })}
        />
        <button type="button" class="link-button" onClick={() => panel.tell({ kind: "review", chatId, what: "show" })}>
          {t.reviewAll}
        </button>
      </div>
    </section>
  );
}

function Row({ chatId, file, running }: { chatId: string; file: ChangedFile; running: boolean }) {
  const { panel } = useHands();
  const { uri, path, kind, renamedFrom } = file;
  const { letter, word } = KINDS[kind];
  const tell = (what: "keep" | "undo"): void => panel.tell({ kind: "review", chatId, what, uris: [uri] });
  return (
    <li class="pending-file" data-path={path} data-kind={kind}>
      <abbr class="change-kind" title={word} aria-label={word}>
        {letter}
      </abbr>
      {kind === "deleted" ? (
        <span class="pending-path" dir="ltr">
          <Visible text={path} />
        </span>
      ) : (
        <button
          type="button"
          class="link-button pending-path"
          dir="ltr"
          title={renamedFrom === undefined ? path : t.movedFrom(renamedFrom)}
          aria-label={t.openOf(path)}
          onClick={() => panel.tell({ kind: "open", uri, path })}
        >
          <Visible text={path} />
        </button>
      )}
      <span class="change-buttons">
        <button type="button" class="link-button" aria-label={t.keepOf(path)} onClick={() => tell("keep")}>
          {t.keep}
        </button>
        <button
          type="button"
          class="link-button"
          aria-label={t.undoOf(path)}
          disabled={running}
          onClick={() => tell("undo")}
        >
          {t.undo}
        </button>
      </span>
    </li>
  );
}
