// Files that wait to be kept or undone.
import type { Action, State } from "./state";

/** The state with what waits in a chat, where that is the one at hand, or may be: a new chat's files come before it. */
export function waiting(state: State, { chatId, files, total }: Extract<Action, { kind: "pending" }>): State {
  const shown = state.chat?.chat.id ?? state.opening ?? chatId;
  return shown === chatId ? { ...state, pending: { chatId, files, total } } : state;
}
