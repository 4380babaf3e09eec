// The commands of the log: its page does them, because it alone knows what stands under the pointer.
import { commands, type Disposable } from "vscode";
import type { MenuItem, ToPanel } from "../messages";
import { isFields } from "./incoming";

/** Who hands messages to pages: to the one that the user is in, or to all. */
interface Pages {
  tell(message: ToPanel): Promise<void>;
  post(message: ToPanel): void;
}

/** The entries of the log's menu in package.json. */
const MENU: Record<string, MenuItem> = {
  "codelaw.log.copy": "copy",
  "codelaw.log.copyMarkdown": "copyMarkdown",
  "codelaw.log.quote": "quote",
  "codelaw.log.openFile": "file",
  "codelaw.log.openDiff": "diff",
  "codelaw.log.openOutput": "output",
};

/** Register them. */
export function registerLogCommands(view: Pages): Disposable[] {
  return [
    commands.registerCommand("codelaw.find", () => view.tell({ kind: "find" })),
    ...Object.entries(MENU).map(([id, what]) =>
      commands.registerCommand(id, (context: unknown) => {
        // Of several pages only that one knows the word whose menu it was.
        const menu = isFields(context) ? context["codelawMenu"] : undefined;
        if (typeof menu === "string") view.post({ kind: "menu", menu, what });
      }),
    ),
  ];
}
