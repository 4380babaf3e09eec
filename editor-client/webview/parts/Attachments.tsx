import { useEffect, useRef, useState } from "preact/hooks";
import type { Attachment } from "../../src/messages";
import "../style/attachments.css";
import { useHands } from "../hands";
import { bringsFiles, droppedUris } from "../text/dropped";
import type { Panel } from "../panel";
import { fitting, picturesIn, readPictures } from "../text/pictures";
import { focusComposer } from "./focus";
import { Icon } from "./Icon";
import { Thumbnail } from "./Thumbnail";
import { Visible } from "./Visible";
import { t } from "../language";

interface Props {
  attachments: readonly Attachment[];
  /** Why the pictures among them would not be seen, in words. */
  unseen: string | null;
}

/** What goes along with the next message, each with a button that takes it out again. */
export function Attachments({ attachments, unseen }: Props) {
  const { panel } = useHands();
  const list = useRef<HTMLUListElement>(null);
  if (attachments.length === 0) return null;

  const remove = (index: number): void => {
    const next = list.current?.querySelectorAll("button").item(index + 1) ?? null;
    if (next === null) focusComposer();
    else next.focus();
    const rest = panel.state().composer.attachments.filter((one) => one !== attachments[index]);
    panel.dispatch({ kind: "composer", composer: { attachments: rest } });
  };

  return (
    <ul ref={list} class="attachments" aria-label={t.attached}>
      {attachments.map((attachment, index) => (
        <li
          key={`${attachment.uri} ${attachment.label}`}
          class="attachment"
          title={attachment.picture === undefined ? attachment.uri : (unseen ?? attachment.label)}
        >
          {attachment.picture !== undefined && <Thumbnail picture={attachment.picture} />}
          {attachment.picture !== undefined && unseen !== null && <Icon name="warning" />}
          <span class="attachment-label">
            <Visible text={attachment.label} />
          </span>
          <button
            type="button"
            class="icon-button"
            aria-label={t.removeOf(attachment.label)}
            title={t.removeIt}
            onClick={() => remove(index)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Let pictures go along with the next message; `say` tells the user what could not be taken. */
export async function attachPictures(
  panel: Panel,
  files: readonly File[],
  say: (words: string) => void,
): Promise<void> {
  const { attachments: read, left } = await readPictures(files);
  const attachments = fitting(panel.state().composer.attachments, read);
  if (attachments.length > 0) panel.dispatch({ kind: "attach", attachments });
  if (left) say(t.pictureUnknown);
  else if (attachments.length < read.length) say(t.picturesTooMany);
}

/** Takes files that are dropped anywhere on the panel; `say` tells the user what could not be taken. */
export function DropArea({ say }: { say: (words: string) => void }) {
  const { panel } = useHands();
  const [over, setOver] = useState(false);

  useEffect(() => {
    const leave = (): void => setOver(false);
    const onDragOver = (event: DragEvent): void => {
      if (event.dataTransfer === null || !bringsFiles(event.dataTransfer)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const onDragLeave = (event: DragEvent): void => {
      if (event.relatedTarget === null) leave();
    };
    const onDrop = (event: DragEvent): void => {
      leave();
      if (event.dataTransfer === null || !bringsFiles(event.dataTransfer)) return;
      event.preventDefault();
      const uris = droppedUris(event.dataTransfer);
      const pictures = picturesIn(event.dataTransfer);
      if (uris.length > 0) panel.tell({ kind: "dropped", uris });
      else if (pictures.length > 0) void attachPictures(panel, pictures, say);
      else say(t.dropUnknown);
      focusComposer();
    };
    document.addEventListener("dragover", onDragOver);
    document.addEventListener("dragleave", onDragLeave);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onDragOver);
      document.removeEventListener("dragleave", onDragLeave);
      document.removeEventListener("drop", onDrop);
    };
  }, [panel, say]);

  return over ? (
    <div class="drop-area" aria-hidden="true">
      <p>{t.dropHere}</p>
    </div>
  ) : null;
}
