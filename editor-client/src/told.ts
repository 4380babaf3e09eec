// What went wrong, in one line for a message of the editor's.
import { window } from "vscode";
import { unlinked } from "./plain";
import { refusalOf } from "./server/refusal";

/** The words of any error, with what to do about it. */
export function sentence(error: unknown): string {
  const { message, hint } = refusalOf(error);
  const ended = /[.!?…]$/.test(message) ? message : `${message}.`;
  return unlinked(`codelaw: ${hint === "" ? ended : `${ended} ${hint}`}`);
}

/** Show an error; what the user cancelled is none. */
export function showError(error: unknown): void {
  if (refusalOf(error).code !== "cancelled") void window.showErrorMessage(sentence(error));
}
