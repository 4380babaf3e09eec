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
  const logs: Way = { title: words.showLogs, command: "codelaw.showLogs" };
  const settings: Way = { title: words.openSettings, command: "codelaw.openSettings" };
  const trust: Way = { title: words.manageTrust, command: "codelaw.manageTrust" };
  return {
    auth_failed: { title: words.setKey, command: "codelaw.setKey", hint: words.setKeyHint },
    not_lent: choose,
    spending_limit: choose,
    model_not_found: choose,
    model_refused: choose,
    model_unavailable: settings,
    not_confirmed: { ...choose, hint: words.confirmHint },
    window_too_small: choose,
    context_overflow: { title: words.showContext, command: "codelaw.showContext" },
    unreadable_reply: choose,
    repeated_failure: choose,
    hook_blocked: settings,
    settings_unreadable: { title: words.mendSettings, command: "codelaw.mendSettings" },
    memory_refused: settings,
    not_trusted: trust,
    grant_not_found: { title: words.showPermissions, command: "codelaw.showPermissions", hint: words.permissionsHint },
    store_unavailable: logs,
    internal_error: logs,
    disconnected: { title: words.restart, command: "codelaw.restart" },
  };
};

/** Errors of a turn that may be gone when it is asked again as it is. */
const PASSING = new Set([
  "model_unavailable",
  "unreadable_reply",
  "repeated_failure",
  "internal_error",
  "store_unavailable",
  "auth_failed",
  "not_lent",
  "spending_limit",
]);

/** Whether a turn that failed so may go well the next time. */
export const mayPass = (code: string): boolean => PASSING.has(code);

/** What helps with an error of that code, if anything of the editor's does, in a display language such as `de`. */
export function wayOut(code: string, language: string): Way | undefined {
  const ways = waysIn(wayWords(language));
  return Object.hasOwn(ways, code) ? ways[code] : undefined;
}
