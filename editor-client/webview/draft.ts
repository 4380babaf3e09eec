// What the editor keeps of the panel for when its page is made anew.
import type { Attachment, Kept, Sent } from "../src/messages";
import type { ComposerState, State } from "./state";

/** What the editor is to keep of it; a message that has not arrived counts as a draft. */
export function kept(state: State): Kept {
  const { composer } = state;
  const draft = [composer.pending?.text ?? "", composer.text].filter((text) => text !== "").join("\n\n");
  const attachments = [...(composer.pending?.attachments ?? []), ...composer.attachments].filter(isKept);
  const { editing } = composer;
  const chatId = state.chat?.chat.id ?? state.opening;
  const sent = sentOf(composer);
  const { steers = [] } = composer;
  const { removed } = state.looking;
  return {
    chatId,
    draft,
    attachments,
    ...(editing === null ? {} : { editing }),
    ...(sent === null ? {} : { sent }),
    ...(steers.length === 0 ? {} : { steers }),
    ...(removed === null ? {} : { removed }),
  };
}

/** Pictures are too large for what the editor keeps of a page. */
const isKept = (one: Attachment): boolean => one.picture === undefined;

function sentOf({ pending, sent }: ComposerState): Sent | null {
  if (pending?.at === undefined) return pending === null ? (sent ?? null) : null;
  const { chatId, text, attachments, at } = pending;
  return { chatId, text, attached: attachments.filter(isKept).length, at };
}
