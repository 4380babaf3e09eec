import { useHands } from "../hands";
import type { Mention, MessageImage } from "../../src/protocol/types";
import { SentPictures } from "./SentPictures";
import { t } from "../language";

interface Props {
  text: string;
  mentions: readonly Mention[];
  /** The pictures that were sent with it, and the chat that has them. */
  sent?: { chatId: string; images: readonly MessageImage[] };
  /** Bring it into the composer; null where that cannot be done now. */
  onEdit: (() => void) | null;
}

/** What the user said. */
export function Question({ text, mentions, sent, onEdit }: Props) {
  const { panel } = useHands();
  return (
    <div class="question">
      <div class="question-text" dir="auto">
        {text}
      </div>
      {mentions.length > 0 && (
        <ul class="mentions" aria-label={t.mentioned}>
          {mentions.map((mention) => (
            <li key={mention.path}>
              <MentionLink mention={mention} />
            </li>
          ))}
        </ul>
      )}
      {sent !== undefined && sent.images.length > 0 && <SentPictures {...sent} />}
      <div class="question-actions">
        {onEdit !== null && (
          <button type="button" class="link-button" onClick={onEdit}>
            {t.editResend}
          </button>
        )}
        <button type="button" class="link-button" onClick={() => panel.tell({ kind: "copy", text })}>
          {t.copy}
        </button>
      </div>
    </div>
  );
}

function MentionLink({ mention: { path, kind, uri } }: { mention: Mention }) {
  const { panel } = useHands();
  if (kind !== "file" && (kind !== "symbol" || uri === undefined)) {
    return (
      <span class="mention" data-kind={kind} title={kind === "unresolved" ? t.notFound : undefined}>
        <bdi>{path}</bdi>
      </span>
    );
  }
  const open = (): void => panel.tell(uri === undefined ? { kind: "open", path } : { kind: "open", uri, path });
  return (
    <button type="button" class="link-button mention" data-kind={kind} onClick={open}>
      <bdi>{path}</bdi>
    </button>
  );
}
