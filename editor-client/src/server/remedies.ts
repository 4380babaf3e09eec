// What the user can do about a server that does not run, as buttons. No import of `vscode`.
import type { ServerWords } from "../languages/en/server";
import type { CommandId, ServerState } from "../messages";

type Action = ServerState["actions"][number];

/** The buttons in a language, by what they do. */
export const remediesIn = (words: ServerWords) => {
  const button = (title: string, command: CommandId): Action => ({ title, command });
  return {
    settings: button(words.openSettings, "codelaw.openSettings"),
    logs: button(words.showLogs, "codelaw.showLogs"),
    searchAgain: button(words.searchAgain, "codelaw.restart"),
    tryAgain: button(words.tryAgain, "codelaw.installServer"),
    restart: button(words.restart, "codelaw.restart"),
    choosePython: button(words.choosePython, "codelaw.choosePython"),
    install: button(words.installServer, "codelaw.installServer"),
    update: button(words.updateIt, "codelaw.installServer"),
  } as const;
};
