// Which model answers in the chat at hand, and whether it sees the pictures that go along (M-6).
import type { State } from "../state";
import { t } from "../language";

type Asked = Pick<State, "chat" | "next" | "models">;

/** Its name; empty where none is known yet. */
export function modelOf({ chat, next, models }: Asked): string {
  const named = chat === null ? next.model : chat.chat.model;
  // A chat that was just made may not know its model's name yet.
  return named === null || named === "" ? (models.find(({ current }) => current)?.name ?? "") : named;
}

/** Why the attached pictures would not be seen, in words; null where they are, or where the server alone knows. */
export function unseen(state: Asked & Pick<State, "composer">): string | null {
  if (state.composer.attachments.every(({ picture }) => picture === undefined)) return null;
  const name = modelOf(state);
  const model = state.models.find((one) => one.name === name);
  if (model === undefined || model.vision === true) return null;
  return model.vision === false ? t.picturesUnseen(name) : t.picturesUnknown(name);
}
