// The commands of the log: its page does them, because it alone knows what stands under the pointer.
import { commands, type Disposable } from "vscode";
import type { ToPanel } from "../messages";

/** Who hands messages to the page that the user is in. */
interface Pages {
  tell(message: ToPanel): Promise<void>;
}

/** Register them. */
export function registerLogCommands(view: Pages): Disposable[] {
  return [commands.registerCommand("codelaw.find", () => view.tell({ kind: "find" }))];
}
