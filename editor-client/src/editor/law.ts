// Opens the law of a folder, CODE_LAW.md, and offers to begin one.
import { FileType, Uri, window, workspace, type WorkspaceFolder } from "vscode";
import { t } from "../language";
import { unlinked } from "../plain";

const NAME = "CODE_LAW.md";

/** Show the law of a folder; of the one that is picked where there are several. */
export async function showLaw(): Promise<void> {
  const folders = workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void window.showInformationMessage(t.folderFirst(NAME));
    return;
  }
  const [first] = folders;
  const folder = folders.length === 1 ? first : await window.showWorkspaceFolderPick({ placeHolder: t.whichFolder });
  if (folder === undefined) return;
  const law = (await lawOf(folder)) ?? (await begin(folder));
  if (law !== null) await window.showTextDocument(law);
}

/** The law, however its name is spelt. */
async function lawOf(folder: WorkspaceFolder): Promise<Uri | null> {
  const files = (await workspace.fs.readDirectory(folder.uri)).filter(([, type]) => (type & FileType.File) !== 0);
  const names = files.map(([name]) => name);
  const name = names.find((one) => one === NAME) ?? names.find((one) => one.toLowerCase() === NAME.toLowerCase());
  return name === undefined ? null : Uri.joinPath(folder.uri, name);
}

async function begin(folder: WorkspaceFolder): Promise<Uri | null> {
  const question = t.noLaw(unlinked(folder.name), NAME);
  if ((await window.showInformationMessage(question, t.create)) !== t.create) return null;
  const law = (await lawOf(folder)) ?? Uri.joinPath(folder.uri, NAME);
  // The question may have been open for long.
  if ((await lawOf(folder)) === null) await workspace.fs.writeFile(law, new TextEncoder().encode(t.newLaw));
  return law;
}
