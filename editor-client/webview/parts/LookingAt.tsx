import "../style/attachments.css";
import { useHands } from "../hands";
import { shownLooking, unsentOf } from "../looking";
import type { State } from "../state";
import { focusComposer } from "./focus";
import { Icon } from "./Icon";
import { Visible } from "./Visible";
import { t } from "../language";

/** What the user looks at in the editor, above the message that it goes along with, with a button that takes it out. */
export function LookingAt({ state }: { state: State }) {
  const { panel } = useHands();
  const at = shownLooking(state);
  if (at === null) return null;
  const unsent = unsentOf(state);
  const [folder, file, lines] = partsOf(at.label);

  const remove = (): void => {
    focusComposer();
    panel.dispatch({ kind: "lookingRemoved" });
  };

  return (
    <div class="attachments" role="group" aria-label={t.lookingAt}>
      <div class="attachment looking" data-unsent={unsent !== null} title={titleOf(state)}>
        <Icon name="file" />
        <span class="looking-label">
          {folder !== "" && (
            <span class="looking-folder">
              <Visible text={folder} />
            </span>
          )}
          <span class="looking-file">
            <Visible text={file} />
          </span>
          {lines !== "" && <span class="looking-lines">{lines}</span>}
        </span>
        {unsent !== null && <span class="looking-note">{t.notSent(unsent)}</span>}
        <button
          type="button"
          class="icon-button"
          aria-label={unsent === null ? t.doNotSendOf(at.label) : t.removeOf(at.label)}
          title={unsent === null ? t.doNotSend : t.removeIt}
          onClick={remove}
        >
          <Icon name="close" />
        </button>
      </div>
    </div>
  );
}

/** The folder, which a narrow panel cuts first, the file, and the lines, which are never cut. */
function partsOf(label: string): [folder: string, file: string, lines: string] {
  const lines = /:\d+(?:-\d+)?$/u.exec(label)?.[0] ?? "";
  const path = label.slice(0, label.length - lines.length);
  const at = path.lastIndexOf("/") + 1;
  return [path.slice(0, at), path.slice(at), lines];
}

/** All that the model is told of it, in words. */
function titleOf(state: State): string {
  const { at, verdict } = state.looking;
  if (at === null) return "";
  const path = verdict?.uri === at.uri && verdict.path !== undefined ? verdict.path : at.label;
  const unsent = unsentOf(state);
  const { cursor = null, selection = null, visible = null } = at;
  if (unsent !== null) return t.isNotSent(path, unsent);
  const parts = [
    cursor === null ? "" : t.cursorIn(cursor.line + 1),
    selection === null ? "" : t.selectionGoes,
    visible === null ? "" : t.linesOnScreen(visible.start.line + 1, visible.end.line + 1),
  ].filter((part) => part !== "");
  return t.modelIsTold(path, parts.join(", "));
}
