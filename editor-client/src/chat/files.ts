// What the panel wants done with documents and texts of the editor.
import path from "node:path";
import { env, FileType, Uri, window, workspace } from "vscode";
import type { Attachment, FromPanel, ToPanel } from "../messages";
import { find, inWorkspace } from "../editor/opening";
import { attachmentOf, nameOf, selectionOf } from "../editor/selection";
import { t } from "../language";
import { unlinked } from "../plain";
import type { Wire } from "../server/wire";

type Export = Omit<Extract<FromPanel, { kind: "export" }>, "kind">;
type Attach = Extract<ToPanel, { kind: "attach" }>;

export async function copy(text: string): Promise<void> {
  await env.clipboard.writeText(text);
}

/** Put text at the cursor of the editor that was looked at last; without one, into a new document. */
export async function insert(text: string): Promise<void> {
  const editor = window.activeTextEditor ?? window.visibleTextEditors[0];
  if (editor === undefined) {
    await window.showTextDocument(await workspace.openTextDocument({ content: text }));
    return;
  }
  const done = await editor.edit((edit) => {
    for (const selection of editor.selections) edit.replace(selection, text);
  });
  if (done) await window.showTextDocument(editor.document, editor.viewColumn);
  else {
    const name = unlinked(nameOf(editor.document.uri));
    void window.showWarningMessage(t.cannotChange(name));
  }
}

/** Save the documents that a turn has changed; true when none is left unsaved. */
export async function saveAll(uris: readonly string[]): Promise<boolean> {
  const wanted = new Set(uris.map(canonical));
  const failed: string[] = [];
  for (const document of workspace.textDocuments) {
    if (!document.isDirty || document.isUntitled || !wanted.has(document.uri.toString())) continue;
    if (!(await document.save())) failed.push(nameOf(document.uri));
  }
  if (failed.length > 0) {
    const names = unlinked(failed.join(", "));
    void window.showErrorMessage(t.notSaved(names));
  }
  return failed.length === 0;
}

/** Write a chat into a file that the user chooses. */
export async function exportChat(wire: Wire, { chatId, format, title }: Export): Promise<void> {
  const ending = format === "json" ? "json" : "md";
  const name = `${fileName(title)}.${ending}`;
  const [folder] = workspace.workspaceFolders ?? [];
  const target = await window.showSaveDialog({
    defaultUri: folder === undefined ? Uri.file(path.resolve(name)) : Uri.joinPath(folder.uri, name),
    filters: format === "json" ? { JSON: ["json"] } : { Markdown: ["md"] },
    title: t.exportChat,
  });
  if (target === undefined) return;
  const { text } = await wire.request("codelaw/chat/export", { chatId, format });
  await workspace.fs.writeFile(target, new TextEncoder().encode(text));
  const chosen = await window.showInformationMessage(t.chatIsIn(unlinked(nameOf(target))), t.open);
  if (chosen === t.open) await window.showTextDocument(target);
}

/** Files that the user picks, to go along with the next message. */
export async function pickFiles(): Promise<Attach | null> {
  const [folder] = workspace.workspaceFolders ?? [];
  const picked = await window.showOpenDialog({
    canSelectMany: true,
    openLabel: t.addThem,
    title: t.addFiles,
    ...(folder === undefined ? {} : { defaultUri: folder.uri }),
  });
  return picked === undefined ? null : attach(picked);
}

/** Files that were dropped on the panel, by uri or by path. */
export async function dropped(named: readonly string[]): Promise<Attach | null> {
  const found: Uri[] = [];
  const missing: string[] = [];
  for (const one of named) {
    const place = await find(/^[a-z][a-z0-9+.-]+:\//i.test(one) ? { uri: one } : { path: one });
    if (place === null) missing.push(one);
    else found.push(place.uri);
  }
  if (missing.length > 0) void window.showWarningMessage(unlinked(t.notFound(missing.slice(0, 5).join(", "))));
  return attach(found);
}

/** The selection of the active editor, or its document; null when there is no editor. */
export function selected(): Attach | null {
  const editor = window.activeTextEditor;
  if (editor === undefined) {
    void window.showInformationMessage(t.selectToAsk);
    return null;
  }
  return { kind: "attach", attachments: [selectionOf(editor)] };
}

/** Files become attachments; a folder is named in the text, for the agent to look into. */
export async function attach(uris: readonly Uri[]): Promise<Attach | null> {
  const attachments: Attachment[] = [];
  const folders: string[] = [];
  for (const uri of uris) {
    const { type } = await workspace.fs.stat(uri);
    if ((type & FileType.Directory) === 0) attachments.push(attachmentOf(uri));
    else if (inWorkspace(uri)) folders.push(mention(`${nameOf(uri)}/`));
  }
  if (attachments.length === 0 && folders.length === 0) return null;
  return { kind: "attach", attachments, ...(folders.length === 0 ? {} : { text: `${folders.join(" ")} ` }) };
}

const mention = (name: string): string => (/^[a-zA-Z0-9/._-]+$/.test(name) ? `@${name}` : `@"${name}"`);

/** A title as the name of a file, on any system. */
export function fileName(title: string): string {
  const plain = title
    .replace(/[^\p{L}\p{N} ._-]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return plain.slice(0, 60).replace(/^[. ]+|[. ]+$/g, "") || "chat";
}

/** A uri as the editor spells it, by which documents are compared. */
export function canonical(uri: string): string {
  try {
    return Uri.parse(uri, true).toString();
  } catch {
    // No uri, and so no document's.
    return uri;
  }
}
