// The actions of the files as they were before an earlier message.
import type { CheckpointState } from "../src/protocol/types";
import type { Actions, Panel } from "./panel";
import { problemOf, tellProblem } from "./reading";

export type Restoring = Pick<Actions, "checkpoint" | "restoreFiles" | "undoRestore">;

export function makeRestoring(panel: Panel): Restoring {
  const asked = async (more: object, chatId: string, turnId: string): Promise<CheckpointState | null> => {
    try {
      return await panel.request("codelaw/chat/checkpoint", { chatId, turnId, ...more });
    } catch (error) {
      tellProblem(panel, error);
      return null;
    }
  };
  return {
    checkpoint: async (chatId, turnId) => {
      try {
        return await panel.request("codelaw/chat/checkpoint", { chatId, turnId });
      } catch (error) {
        // An older server knows nothing of it, and the message can be edited all the same.
        if (problemOf(error).code !== "unknown_method") tellProblem(panel, error);
        return null;
      }
    },
    restoreFiles: (chatId, turnId, overwrite) => asked({ restore: true, overwrite }, chatId, turnId),
    undoRestore: (chatId, turnId) => asked({ undo: true }, chatId, turnId),
  };
}
