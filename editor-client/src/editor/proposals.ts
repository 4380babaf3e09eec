// The tabs that compare what a question would change: of no use once it is answered.
import { type Tab, TabInputTextDiff, type Uri, window } from "vscode";
import { isFields } from "../chat/incoming";

/** Texts that are nowhere else: what is proposed, and the nothing that a removed file is. */
export const SCHEME = "codelaw-proposal";

/** The path of a text of a question's; `name` is its file's. */
export const pathOf = (what: "proposed" | "none", id: number, name: string): string => `/${what}/${id}/${name}`;

/** Close the tabs of a question, by its number; without one all, whose texts went with the last window. */
export async function closeProposals(id?: number): Promise<void> {
  const wanted = id === undefined ? /^\/(?:proposed|none)\// : new RegExp(`^/(?:proposed|none)/${id}/`);
  const proposed = ({ scheme, path }: Pick<Uri, "scheme" | "path">): boolean => scheme === SCHEME && wanted.test(path);
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
  const found = tabs.filter((tab) => sidesOf(tab).some(proposed));
  if (found.length > 0) await window.tabGroups.close(found, true);
}

/** What a tab compares; the editor has no public class yet for a tab of several files. */
function sidesOf({ input }: Tab): Pick<Uri, "scheme" | "path">[] {
  if (input instanceof TabInputTextDiff) return [input.original, input.modified];
  const several = isFields(input) && Array.isArray(input["textDiffs"]) ? input["textDiffs"] : [];
  return several.flatMap((one: unknown) =>
    isFields(one) ? [one["original"], one["modified"]].flatMap((side) => (isSide(side) ? [side] : [])) : [],
  );
}

const isSide = (value: unknown): value is Pick<Uri, "scheme" | "path"> =>
  isFields(value) && typeof value["scheme"] === "string" && typeof value["path"] === "string";
