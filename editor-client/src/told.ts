// What went wrong, in one line for a message of the editor's.
import { commands, env, window } from "vscode";
import { t } from "./language";
import { unlinked } from "./plain";
import { refusalOf } from "./server/refusal";
import { wayOut } from "./ways";

/** The words of any error, with what to do about it. */
export function sentence(error: unknown): string {
  const { code, message, hint: given } = refusalOf(error, t.server);
  const hint = wayOut(code, env.language)?.hint ?? given;
  const ended = /[.!?…]$/.test(message) ? message : `${message}.`;
  return unlinked(`codelaw: ${hint === "" ? ended : `${ended} ${hint}`}`);
}

/** Show an error with what helps as a button; what the user cancelled is none. */
export function showError(error: unknown): void {
  const { code } = refusalOf(error, t.server);
  if (code === "cancelled") return;
  const way = wayOut(code, env.language);
  void window.showErrorMessage(sentence(error), ...(way === undefined ? [] : [way.title])).then((chosen) => {
    if (way !== undefined && chosen === way.title) void commands.executeCommand(way.command);
  });
}
