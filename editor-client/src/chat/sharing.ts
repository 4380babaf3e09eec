// Which view is asked what: a question is put where its chat is in sight, else in the side bar.
import type { OpenApproval } from "../messages";

/** A view of the chat, as far as questions go. */
export interface Viewed {
  readonly place: "side" | "editor";
  readonly chatId: string | null;
  readonly visible: boolean;
}

/** The open questions for a view: those of its chat, and in the side bar also those that no tab in sight shows. */
export function questionsFor(
  view: Viewed,
  views: readonly Viewed[],
  open: readonly OpenApproval[],
): readonly OpenApproval[] {
  const elsewhere = new Set(views.flatMap((one) => (one !== view && one.visible ? [one.chatId] : [])));
  return open.filter(
    ({ request: { chatId } }) => chatId === view.chatId || (view.place === "side" && !elsewhere.has(chatId)),
  );
}

/** The open questions that nobody sees. */
export function unseenOf(views: readonly Viewed[], open: readonly OpenApproval[]): readonly OpenApproval[] {
  const seen = new Set(views.filter(({ visible }) => visible).flatMap((view) => questionsFor(view, views, open)));
  return open.filter((approval) => !seen.has(approval));
}
