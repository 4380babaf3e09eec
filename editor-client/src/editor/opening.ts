// Opens what an answer names: files of the workspace, and others only when the user says so.
import path from "node:path";
import { commands, env, FileType, Position, Range, type TextDocumentShowOptions, Uri, window, workspace } from "vscode";
import { t } from "../language";
import type { FromPanel } from "../messages";
import { unlinked } from "../plain";

type Wanted = Omit<Extract<FromPanel, { kind: "open" }>, "kind">;
/** A place in a document; lines count from 1. */
interface Place {
  uri: Uri;
  line?: number;
  endLine?: number;
}

/** Open a document at its lines, in the editor that is made for it. */
export async function open(wanted: Wanted): Promise<void> {
  const named = wanted.uri ?? wanted.path ?? "";
  const place = await find(wanted);
  if (place === null) {
    void window.showWarningMessage(t.noFile(short(named)));
    return;
  }
  const { uri } = place;
  if (!inWorkspace(uri) && uri.scheme !== "codelaw-chat") {
    const detail = t.liesOutside;
    const asked = await window.showWarningMessage(t.openIt(uri.fsPath), { modal: true, detail }, t.open);
    if (asked !== t.open) return;
  }
  if ((await kindOf(uri)) === "folder") {
    await commands.executeCommand("revealInExplorer", uri);
    return;
  }
  const options: TextDocumentShowOptions = { preview: true };
  if (place.line !== undefined) {
    const first = place.line - 1;
    const last = place.endLine === undefined ? first : Math.max(first, place.endLine - 1);
    options.selection = new Range(new Position(first, 0), new Position(last, last === first ? 0 : 2 ** 20));
  }
  await commands.executeCommand("vscode.open", uri, options);
}

/** Open a web page in the browser; the editor asks before it goes to an address that it does not trust. */
export async function openExternal(url: string): Promise<void> {
  const address = URL.canParse(url) ? new URL(url) : null;
  if (address === null || (address.protocol !== "https:" && address.protocol !== "http:")) {
    void window.showWarningMessage(t.onlyWeb(short(url)));
    return;
  }
  await env.openExternal(Uri.parse(address.href, true));
}

/** The document that is meant; null when there is none. */
export async function find({ uri, path: named, line, endLine }: Wanted): Promise<Place | null> {
  const lines = { ...(line === undefined ? {} : { line }), ...(endLine === undefined ? {} : { endLine }) };
  if (uri !== undefined) {
    const parsed = fromHere(parse(uri));
    if (parsed === null || !isOurs(parsed)) return null;
    const there = parsed.scheme === "codelaw-chat" || (await kindOf(parsed)) !== null;
    return there ? { uri: parsed, ...lines } : null;
  }
  if (named === undefined) return null;
  // A name may end like a place: the whole of it is tried first.
  for (const candidate of [{ name: named, ...lines }, split(named, lines)]) {
    if (candidate === null) continue;
    const { name, ...at } = candidate;
    for (const one of candidates(name)) if ((await kindOf(one)) !== null) return { uri: one, ...at };
  }
  return null;
}

/** Whether a document lies in a folder of the workspace. */
export function inWorkspace(uri: Uri): boolean {
  return workspace.getWorkspaceFolder(uri) !== undefined;
}

/** `src/a.py:10-24`, `src/a.py:10:5` and `src/a.py#L10-L24`, without their end. */
function split(named: string, given: { line?: number; endLine?: number }): (typeof given & { name: string }) | null {
  const found =
    /^(?<name>.+?)(?::(?<line>\d{1,9})(?::\d+)?(?:-(?<end>\d{1,9}))?|#L(?<hash>\d{1,9})(?:-L?(?<to>\d{1,9}))?)$/.exec(
      named,
    )?.groups;
  const name = found?.["name"];
  if (name === undefined) return null;
  const line = Number(found?.["line"] ?? found?.["hash"] ?? 0);
  const end = Number(found?.["end"] ?? found?.["to"] ?? 0);
  return {
    name,
    ...(line > 0 ? { line } : {}),
    ...(end >= line && line > 0 ? { endLine: end } : {}),
    ...given,
  };
}

/** Where a name may lead: in multi-root workspaces its first part can be the folder's name. */
function candidates(name: string): Uri[] {
  const folders = workspace.workspaceFolders ?? [];
  if (path.isAbsolute(name) || /^[a-z]:[\\/]/i.test(name)) {
    const [first] = folders;
    // On a remote that is not reached by paths of this machine, the folder's own scheme counts.
    const one = first === undefined || first.uri.scheme === "file" ? Uri.file(name) : first.uri.with({ path: name });
    // `\\host\share` would have Windows log in at a host that an answer names.
    return isOurs(one) ? [one] : [];
  }
  const relative = name.replaceAll("\\", "/").replace(/^\.\//, "");
  const found: Uri[] = [];
  for (const folder of folders) {
    const [head = "", ...rest] = relative.split("/");
    if (head === folder.name && rest.length > 0) found.push(Uri.joinPath(folder.uri, ...rest));
  }
  for (const folder of folders) found.push(Uri.joinPath(folder.uri, relative));
  // `..` may have led out of the folders, and relative names never do.
  return found.filter(inWorkspace);
}

function isOurs({ scheme, authority }: Uri): boolean {
  const folders = workspace.workspaceFolders ?? [];
  if (scheme === "codelaw-chat") return true;
  if (scheme === "file") return authority === "" || folders.some(({ uri }) => uri.authority === authority);
  return folders.some(({ uri }) => uri.scheme === scheme && uri.authority === authority);
}

async function kindOf(uri: Uri): Promise<"file" | "folder" | null> {
  try {
    const { type } = await workspace.fs.stat(uri);
    return (type & FileType.Directory) === 0 ? "file" : "folder";
  } catch {
    // It is not there, or may not be looked at: to the user that is the same.
    return null;
  }
}

/** What is dragged in a remote window has the address that the window knows; on the remote itself it is a plain file. */
function fromHere(uri: Uri | null): Uri | null {
  if (uri?.scheme !== "vscode-remote" || env.remoteName === undefined) return uri;
  const folders = workspace.workspaceFolders ?? [];
  return folders.some((folder) => folder.uri.scheme === uri.scheme) ? uri : uri.with({ scheme: "file", authority: "" });
}

function parse(uri: string): Uri | null {
  try {
    return Uri.parse(uri, true);
  } catch {
    return null;
  }
}

const short = (text: string): string => unlinked(text.length > 200 ? `${text.slice(0, 200)}…` : text);
