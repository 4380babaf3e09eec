// Where the focus goes when nothing else has it.

/** The id of the message field. */
export const MESSAGE_ID = "codelaw-message";

/** Focus the message field, now or, when its page is only about to be shown, in the next frame. */
export function focusComposer(): void {
  const field = document.getElementById(MESSAGE_ID);
  if (field !== null) {
    field.focus();
    return;
  }
  requestAnimationFrame(() => document.getElementById(MESSAGE_ID)?.focus());
}

/** The id of the field of the bar that finds in the log. */
export const FIND_ID = "codelaw-find";

/** Focus that field, and select what is in it; in the next frame where it is only about to be shown. */
export function focusFind(): void {
  const focus = (): boolean => {
    const field = document.getElementById(FIND_ID);
    if (!(field instanceof HTMLInputElement)) return false;
    field.focus();
    field.select();
    return true;
  };
  if (!focus()) requestAnimationFrame(focus);
}

/** Whether the user is in the middle of writing somewhere: a field that is not empty has the focus. */
export function isTyping(): boolean {
  const active = document.activeElement;
  if (active instanceof HTMLTextAreaElement || active instanceof HTMLInputElement) return active.value.trim() !== "";
  return active instanceof HTMLElement && active.isContentEditable;
}
