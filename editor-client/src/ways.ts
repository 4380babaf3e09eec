// What helps with an error, by its code: in this editor's own words, since the server's name the places of others.
import type { WayWords } from "./languages/en/ways";
import { wayWords } from "./languages/tables";
import type { CommandId } from "./messages";

/** A way out, as a button; `hint` stands in the place of the server's, undefined leaves that. */
export interface Way {
  readonly title: string;
  readonly command: CommandId;
  readonly hint?: string;
}

const waysIn = (words: WayWords): Readonly<Record<string, Way>> => {
  const choose: Way = { title: words.chooseModel, command: "codelaw.chooseModel" };
  return {
    auth_failed: { title: words.setKey, command: "codelaw.setKey", hint: words.setKeyHint },
    model_not_found: { ...choose, hint: words.chooseModelHint },
    not_confirmed: { ...choose, hint: words.confirmHint },
    window_too_small: choose,
    store_unavailable: { title: words.showLogs, command: "codelaw.showLogs" },
  };
};

/** What helps with an error of that code, if anything of the editor's does, in a display language such as `de`. */
export function wayOut(code: string, language: string): Way | undefined {
  const ways = waysIn(wayWords(language));
  return Object.hasOwn(ways, code) ? ways[code] : undefined;
}
