// What can be done to a running turn: to words that it has not been told yet, and to the command that it runs.
import type { Attachment } from "../src/messages";
import type { EditorParams, MessageImage } from "../src/protocol/types";
import { sentLooking } from "./looking";
import type { Actions, Panel } from "./panel";
import { tellProblem } from "./reading";
import type { Pending, Steer } from "./state";

/** How a message is sent, and put back when it could not be. */
interface Sending {
  readonly ready: () => boolean;
  readonly prepared: <T>(pending: Pending | null, run: () => Promise<T>) => Promise<T | null>;
  readonly putBack: (text: string, attachments: Attachment[]) => void;
  readonly begin: (
    chatId: string | null,
    text: string,
    attachments: Attachment[],
    editor: EditorParams | null,
  ) => Promise<void>;
  /** What went along with a word that waits. */
  readonly sentWith: (chatId: string, id: string, images: readonly MessageImage[]) => Promise<Attachment[]>;
}

export type Steering = Pick<Actions, "sendSteerNow" | "editSteer" | "withdrawSteer" | "stopCall">;

export function makeSteering(panel: Panel, { ready, prepared, putBack, begin, sentWith }: Sending): Steering {
  /** Take back a word that waits; false when the model has been told meanwhile. */
  const takeBack = async (chatId: string, id: string): Promise<boolean> => {
    try {
      const { withdrawn } = await panel.request("codelaw/chat/unsteer", { chatId, id: steerId(id) });
      return withdrawn;
    } catch (error) {
      tellProblem(panel, error);
      return false;
    }
  };

  const withdrawSteer = async ({ id }: Steer): Promise<void> => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId !== undefined) await takeBack(chatId, id);
  };

  const editSteer = async ({ id, text, images = [] }: Steer): Promise<void> => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId === undefined || !(await takeBack(chatId, id))) return;
    putBack(text, await sentWith(chatId, steerId(id), images));
  };

  const sendSteerNow = async ({ id, text, images = [] }: Steer): Promise<void> => {
    const { chat, composer } = panel.state();
    if (chat === null || composer.sending !== null || !ready()) return;
    const chatId = chat.chat.id;
    const editor = sentLooking(panel.state());
    if (!(await takeBack(chatId, id))) return;
    // The answer to a cancel comes when the turn has ended.
    const attachments = await sentWith(chatId, steerId(id), images);
    const stopped = await prepared({ chatId, text, attachments }, () =>
      panel.request("codelaw/chat/cancel", { chatId }),
    );
    if (stopped === null) putBack(text, attachments);
    else await begin(chatId, text, attachments, editor);
  };

  const stopCall = async (callId: string): Promise<void> => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId === undefined) return;
    try {
      await panel.request("codelaw/chat/stopCall", { chatId, callId });
    } catch (error) {
      tellProblem(panel, error);
    }
  };

  return { sendSteerNow, editSteer, withdrawSteer, stopCall };
}

/** The server's id of an item that says what was said to a running turn. */
const steerId = (id: string): string => id.replace(/^steer-/u, "");
