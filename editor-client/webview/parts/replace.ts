import type { Typed } from "../text/mention";

/**
 * Change the text of a field as typing would, so that the editor's Undo takes it back; the field tells it by `input`.
 * False where the page cannot do that.
 */
export function replaceText(field: HTMLTextAreaElement, { text, caret }: Typed): boolean {
  const old = field.value;
  let start = 0;
  while (start < old.length && old[start] === text[start]) start += 1;
  let kept = 0;
  const most = Math.min(old.length, text.length) - start;
  while (kept < most && old[old.length - 1 - kept] === text[text.length - 1 - kept]) kept += 1;
  if (!("execCommand" in document) || document.activeElement !== field) return false;
  field.setSelectionRange(start, old.length - kept);
  // Nothing else changes a field and leaves its undo stack whole.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  if (!document.execCommand("insertText", false, text.slice(start, text.length - kept))) return false;
  field.setSelectionRange(caret, caret);
  return true;
}
