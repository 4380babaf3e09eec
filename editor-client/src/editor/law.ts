// Opens the law of a folder, CODE_LAW.md, and offers to begin one.
import { FileType, Uri, window, workspace, type WorkspaceFolder } from "vscode";
import { unlinked } from "../plain";

const NAME = "CODE_LAW.md";
const TEMPLATE = `# Law

What is written here goes with every message to the model. Keep it short: one rule in one line.

- Write tests for what you change, and run them.
- Ask before adding a dependency.
`;

/** Show the law of a folder; of the one that is picked where there are several. */
export async function showLaw(): Promise<void> {
  const folders = workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void window.showInformationMessage(`Open a folder first: its law is the file ${NAME} in it.`);
    return;
  }
  const [first] = folders;
  const folder =
    folders.length === 1 ? first : await window.showWorkspaceFolderPick({ placeHolder: "The law of which folder?" });
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
  const create = "Create";
  const question = `${unlinked(folder.name)} has no law yet: rules in ${NAME} that go with every message.`;
  if ((await window.showInformationMessage(question, create)) !== create) return null;
  const law = (await lawOf(folder)) ?? Uri.joinPath(folder.uri, NAME);
  // The question may have been open for long.
  if ((await lawOf(folder)) === null) await workspace.fs.writeFile(law, new TextEncoder().encode(TEMPLATE));
  return law;
}
