// When open files that an agent has changed are saved: one rule, which the user sets.
import { workspace } from "vscode";
import { saveAll } from "../chat/files";

const WHEN = ["accepted", "turn", "never"] as const;
type When = (typeof WHEN)[number];

/** When the user wants it; what makes no sense is the default. */
export function savesWhen(): When {
  const set = workspace.getConfiguration("codelaw").get<unknown>("panel.save");
  return WHEN.find((one) => one === set) ?? "accepted";
}

/** Nothing waits in these files any more; true where none of them is left that should have been saved. */
export async function saveSettled(uris: readonly string[]): Promise<boolean> {
  return savesWhen() === "never" || saveAll(uris);
}

/** A turn that has changed these files has ended. */
export async function saveTurn(uris: readonly string[]): Promise<void> {
  if (savesWhen() === "turn") await saveAll(uris);
}
