// Tells of turns that ended while nobody saw their chat.
import { commands, env, window } from "vscode";
import type { Shown } from "../chat/shown";
import { visible } from "../hidden";
import { t } from "../language";
import { unlinked } from "../plain";
import type { ChatEvent, TurnResult } from "../protocol/types";
import { wayOut } from "../ways";

/** Of an answer, in a notification. */
const SHOWN = 120;

/** The views of the chat, as far as they matter here. */
interface Seen {
  sees(chatId: string): boolean;
  /** The number of chats whose turns ended unseen, on the view's icon. */
  ended: number;
  open(chatId: string): unknown;
}

/** Turns of chats of the views that ended unseen. */
export class Ended {
  readonly #unseen = new Set<string>();
  readonly #panel: Seen;
  readonly #shown: Pick<Shown, "wasShown" | "titleOf">;
  readonly #wanted: () => boolean;

  constructor(panel: Seen, shown: Pick<Shown, "wasShown" | "titleOf">, wanted: () => boolean) {
    this.#panel = panel;
    this.#shown = shown;
    this.#wanted = wanted;
  }

  async event({ chatId, event }: ChatEvent): Promise<void> {
    if (event.kind !== "turn_ended" || this.#panel.sees(chatId)) return;
    // Who stopped it knows of it, and one that is gone cannot be shown.
    if (event.result.stopReason === "cancelled" || !this.#shown.wasShown(chatId)) return;
    this.#unseen.add(chatId);
    this.#panel.ended = this.#unseen.size;
    if (this.#wanted()) await this.#tell(chatId, event.result);
  }

  /** Other chats are in sight than before. */
  seen(): void {
    for (const chatId of [...this.#unseen]) if (this.#panel.sees(chatId)) this.#unseen.delete(chatId);
    this.#panel.ended = this.#unseen.size;
  }

  deleted(chatId: string): void {
    if (this.#unseen.delete(chatId)) this.#panel.ended = this.#unseen.size;
  }

  async #tell(chatId: string, { stopReason, answer, error }: TurnResult): Promise<void> {
    const title = short(this.#shown.titleOf(chatId));
    const way = error === undefined ? undefined : wayOut(error.code, env.language);
    const titles = [t.show, ...(way === undefined ? [] : [way.title])];
    const chosen =
      error !== undefined
        ? await window.showErrorMessage(t.turnFailed(title, short(error.message)), ...titles)
        : stopReason === "finished"
          ? await window.showInformationMessage(t.turnFinished(title, short(answer)), ...titles)
          : await window.showWarningMessage(t.turnStopped(title), ...titles);
    if (chosen === undefined) return;
    if (way !== undefined && chosen === way.title) await commands.executeCommand(way.command);
    else if (this.#shown.wasShown(chatId)) await this.#panel.open(chatId);
  }
}

/** One line with nothing hidden, and no link that would run a command. */
const short = (text: string): string => {
  const line = unlinked(visible(text).trim());
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
};
