// Questions and events for the views of the chat.
import type { OpenApproval } from "../../src/messages";
import type { ApprovalRequest, ChatEvent } from "../../src/protocol/types";

const REQUEST: Omit<ApprovalRequest, "chatId"> = {
  turnId: "t",
  callId: "k",
  tool: "Bash",
  title: "List the files",
  risk: "execute",
  preview: { command: "ls" },
  options: [{ id: "once", title: "Allow once", kind: "allow_once" }],
};

/** An open question of a chat. */
export const question = (id: number, chatId: string): OpenApproval => ({ id, request: { ...REQUEST, chatId } });

/** An event of a chat. */
export const eventOf = (chatId: string, seq: number, event: ChatEvent["event"]): ChatEvent => ({
  chatId,
  turnId: "t",
  seq,
  at: 1,
  event,
});

export const begun = (chatId: string, text: string): ChatEvent =>
  eventOf(chatId, 1, { kind: "turn_started", text, mentions: [], mentionsLeftOut: 0 });

export const said = (chatId: string, seq: number): ChatEvent =>
  eventOf(chatId, seq, { kind: "answer", delta: "x", step: 1 });
