// Turns whose changes the user has kept.
import type { Memento } from "vscode";

const KEY = "codelaw.accepted";
const MOST = 500;

/** The accepted turns, as `chatId/turnId`, the newest last; bounded, in the workspace's own memory. */
export class Accepted {
  readonly #memory: Memento;

  constructor(memory: Memento) {
    this.#memory = memory;
  }

  get turns(): string[] {
    const kept = this.#memory.get<unknown>(KEY);
    return Array.isArray(kept) ? kept.filter((turn): turn is string => typeof turn === "string") : [];
  }

  async add(chatId: string, turnId: string): Promise<void> {
    const turn = `${chatId}/${turnId}`;
    const others = this.turns.filter((one) => one !== turn);
    await this.#memory.update(KEY, [...others, turn].slice(-MOST));
  }
}
