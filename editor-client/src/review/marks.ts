// What the user has kept of what chats did to files, in the workspace's own memory.
import type { Memento } from "vscode";
import { isFields } from "../chat/incoming";
import { type ChatMarks, type FileMark, NO_MARKS } from "./pending";

const KEY = "codelaw.kept";
/** Chats of which marks are kept. */
const MOST = 300;

/** The marks of each chat. They survive the window and the server; the server itself knows nothing of them. */
export class Marks {
  readonly #memory: Memento;

  constructor(memory: Memento) {
    this.#memory = memory;
  }

  of(chatId: string): ChatMarks {
    const { all } = this;
    return Object.hasOwn(all, chatId) ? read(all[chatId]) : NO_MARKS;
  }

  async set(chatId: string, marks: ChatMarks): Promise<void> {
    const others = Object.entries(this.all).filter(([id]) => id !== chatId);
    await this.#memory.update(KEY, Object.fromEntries([...others, [chatId, marks]].slice(-MOST)));
  }

  async forget(chatId: string): Promise<void> {
    const others = Object.entries(this.all).filter(([id]) => id !== chatId);
    await this.#memory.update(KEY, Object.fromEntries(others));
  }

  private get all(): Readonly<Record<string, unknown>> {
    const kept = this.#memory.get<unknown>(KEY);
    return isFields(kept) ? kept : {};
  }
}

/** What was kept, by whichever version, as far as it makes sense. */
function read(kept: unknown): ChatMarks {
  if (!isFields(kept)) return NO_MARKS;
  const files: Record<string, FileMark> = {};
  for (const [uri, mark] of Object.entries(isFields(kept["files"]) ? kept["files"] : {})) {
    if (!isFields(mark) || typeof mark["number"] !== "number") continue;
    const parts = Array.isArray(mark["parts"]) ? mark["parts"] : [];
    files[uri] = { number: mark["number"], parts: parts.filter((part): part is string => typeof part === "string") };
  }
  return { all: typeof kept["all"] === "number" ? kept["all"] : 0, files };
}
