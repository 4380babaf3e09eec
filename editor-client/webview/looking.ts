// What the user looks at in the editor: whether it is shown above the message, and what of it is sent.
import type { Looking } from "../src/messages";
import type { EditorParams } from "../src/protocol/types";
import type { Panel } from "./panel";
import type { LookingState, State } from "./state";
import { t } from "./language";

/** An older server has not got it, and takes no more than the uri and a line. */
const METHOD = "codelaw/context/editor";

export const NOTHING: LookingState = { at: null, verdict: null, removed: null };

/** Something else is looked at. */
export function looked(before: LookingState, at: Looking | null): LookingState {
  const { removed, verdict } = before;
  return {
    at,
    verdict: verdict?.uri === at?.uri ? verdict : null,
    removed: removed !== null && (at === null || isSame(removed, at)) ? removed : null,
  };
}

/** What is shown above the message: nothing where the user has taken it out, or no server could take it. */
export function shownLooking({ looking, server }: State): Looking | null {
  if (looking.removed !== null) return null;
  return server.methods.includes(METHOD) ? looking.at : null;
}

/** What goes along with a message that is sent now; exactly what is shown. */
export function sentLooking(state: State): EditorParams | null {
  const shown = shownLooking(state);
  if (shown === null || unsentOf(state) !== null) return null;
  const { uri, version = null, cursor = null, selection = null, visible = null } = shown;
  return { uri, version, cursor, selection, visible };
}

/** Why the model would not be told of it, in words; null when it would. */
export function unsentOf({ looking: { at, verdict } }: State): string | null {
  if (at === null || verdict?.uri !== at.uri) return null;
  switch (verdict.unsent) {
    case undefined:
      return null;
    case "outside":
      return t.outsideWorkspace;
    case "hidden":
      return t.hiddenOrIgnored;
    case "denied":
      return t.ruleDenies;
  }
}

/** Asks the server what may be told, once for every document; to be called whenever one of them changes. */
export function makeJudge(panel: Panel): (anew: boolean) => Promise<void> {
  let asked = 0;
  return async (anew) => {
    const { looking, server } = panel.state();
    const uri = looking.at?.uri;
    if (uri === undefined || server.phase !== "ready" || !server.methods.includes(METHOD)) return;
    if (!anew && looking.verdict?.uri === uri) return;
    asked += 1;
    const mine = asked;
    try {
      const found = await panel.request(METHOD, { uri });
      if (mine === asked) panel.dispatch({ kind: "verdict", verdict: { ...found, uri } });
    } catch {
      // The note is missing then, and nothing more: the server judges again when the message is there.
    }
  };
}

/** The same document, and no other lines selected in it. */
function isSame(one: Looking, other: Looking): boolean {
  if (one.uri !== other.uri) return false;
  const [before, now] = [one.selection ?? null, other.selection ?? null];
  return now === null || JSON.stringify(before) === JSON.stringify(now);
}
