// Opens the law of a folder, CODE_LAW.md or a file that counts beside it, and offers to begin one.
import { FileType, Uri, window, workspace, type WorkspaceFolder } from "vscode";
import { t } from "../language";
import { unlinked } from "../plain";

const NAME = "CODE_LAW.md";
/** What counts beside it where nothing else is set. */
const BESIDE = ["AGENTS.md", "CLAUDE.md"];

/** Show the law of a folder; the user picks where there are several folders, and where there are several files. */
export async function showLaw(): Promise<void> {
  const folders = workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void window.showInformationMessage(t.folderFirst(NAME));
    return;
  }
  const [first] = folders;
  const folder = folders.length === 1 ? first : await window.showWorkspaceFolderPick({ placeHolder: t.whichFolder });
  if (folder === undefined) return;
  const names = await lawsOf(folder, [NAME, ...beside()]);
  const law = names.length > 1 ? await pick(folder, names) : (names[0] ?? (await begin(folder)));
  if (law !== null) await window.showTextDocument(Uri.joinPath(folder.uri, law));
}

/** The names of files that count beside the law. */
function beside(): string[] {
  const set = workspace.getConfiguration("codelaw").inspect<unknown>("law.files");
  const files = set?.globalValue ?? set?.defaultValue;
  return Array.isArray(files) ? files.filter((name) => typeof name === "string") : BESIDE;
}

/** Those of the names that are there, however they are spelt. */
async function lawsOf(folder: WorkspaceFolder, wanted: readonly string[]): Promise<string[]> {
  const files = (await workspace.fs.readDirectory(folder.uri)).filter(([, type]) => (type & FileType.File) !== 0);
  const names = files.map(([name]) => name);
  const found = wanted.map(
    (law) => names.find((one) => one === law) ?? names.find((one) => one.toLowerCase() === law.toLowerCase()),
  );
  return [...new Set(found.filter((name) => name !== undefined))];
}

/** The file that the user wants; the law may be begun beside the others. */
async function pick(folder: WorkspaceFolder, names: readonly string[]): Promise<string | null> {
  const missing = !names.some((name) => name.toLowerCase() === NAME.toLowerCase());
  const items = names.map((name) => ({ label: unlinked(name), name }));
  const offered = missing ? [...items, { label: t.createLaw(NAME), name: "" }] : items;
  const chosen = await window.showQuickPick(offered, { title: t.whichLaw });
  if (chosen === undefined) return null;
  return chosen.name === "" ? made(folder) : chosen.name;
}

async function begin(folder: WorkspaceFolder): Promise<string | null> {
  const question = t.noLaw(unlinked(folder.name), NAME);
  if ((await window.showInformationMessage(question, t.create)) !== t.create) return null;
  return made(folder);
}

/** Write a law, unless there is one: the question may have been open for long. */
async function made(folder: WorkspaceFolder): Promise<string> {
  const [there] = await lawsOf(folder, [NAME]);
  if (there !== undefined) return there;
  await workspace.fs.writeFile(Uri.joinPath(folder.uri, NAME), new TextEncoder().encode(t.newLaw));
  return NAME;
}
