// The pictures that were sent in a chat: the server keeps their bytes.
import type { Attachment } from "../src/messages";
import type { MessageImage } from "../src/protocol/types";
import type { Actions, Panel } from "./panel";
import { tellProblem } from "./reading";

export interface Pictures extends Pick<Actions, "picture"> {
  /** Pictures as attachments, to be sent again; one that the chat has no more is told, and left out. */
  picturesOf(chatId: string, images: readonly MessageImage[]): Promise<Attachment[]>;
}

export function makePictures(panel: Panel): Pictures {
  const asked = (chatId: string, { digest }: MessageImage) => panel.request("codelaw/chat/picture", { chatId, digest });
  return {
    // A picture that cannot be shown is no reason to disturb anybody.
    picture: (chatId, image) => asked(chatId, image).catch(() => null),
    picturesOf: async (chatId, images) => {
      const found: Attachment[] = [];
      for (const image of images) {
        try {
          const picture = await asked(chatId, image);
          found.push({ uri: `picture:${image.digest}`, label: "image", picture });
        } catch (error) {
          tellProblem(panel, error);
        }
      }
      return found;
    },
  };
}
