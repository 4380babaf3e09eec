// What helps with an error, by its code: in this editor's own words, since the server's name the places of others.
import type { CommandId } from "./messages";

/** A way out, as a button; `hint` stands in the place of the server's, undefined leaves that. */
export interface Way {
  readonly title: string;
  readonly command: CommandId;
  readonly hint?: string;
}

const SET_KEY: Way = { title: "Set API Key", command: "codelaw.setKey", hint: "Set another key for the vendor." };
const CHOOSE: Way = { title: "Choose Model", command: "codelaw.chooseModel" };

const WAYS: Readonly<Record<string, Way>> = {
  auth_failed: SET_KEY,
  model_not_found: { ...CHOOSE, hint: "Choose another model." },
  not_confirmed: {
    ...CHOOSE,
    hint: "Choose a model for this chat, which confirms it, or the offline one; or send again and answer the question.",
  },
  window_too_small: CHOOSE,
  store_unavailable: { title: "Show Logs", command: "codelaw.showLogs" },
};

/** What helps with an error of that code, if anything of the editor's does. */
export const wayOut = (code: string): Way | undefined => (Object.hasOwn(WAYS, code) ? WAYS[code] : undefined);
