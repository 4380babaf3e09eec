// The message of the next commit, written into the box of the source control view; nobody commits.
import { type CancellationToken, extensions, ProgressLocation, Uri, window } from "vscode";
import { isFields } from "../chat/incoming";
import type { ChatView } from "../chat/view";
import { visible } from "../hidden";
import { t } from "../language";
import { unlinked } from "../plain";
import type { Wire } from "../server/wire";

/** As much as is used of what the editor's git extension offers others. */
interface Repository {
  readonly rootUri: Uri;
  readonly inputBox: { value: string };
  readonly ui: { readonly selected: boolean };
}

/** Write the message for the repository whose view the command was called in, or for the one that is picked. */
export async function writeCommitMessage(wire: Wire, view: Pick<ChatView, "tell">, where: unknown): Promise<void> {
  const repository = await pick(await repositories(), where);
  if (repository === null) return;
  const { inputBox, rootUri } = repository;
  const before = inputBox.value;
  if (before.trim() !== "" && !(await agreed(t.replaceMessage, t.replace))) return;
  const options = { location: ProgressLocation.Notification, title: t.messageRuns, cancellable: true };
  const made = await window.withProgress(options, (_, token) => proposed(wire, rootUri, token));
  if (made === null) return;
  const { chatId, lines, said } = made;
  if (lines === undefined) {
    const chosen = await window.showWarningMessage(unlinked(`codelaw: ${visible(said)}`), t.openAsChat);
    if (chosen !== undefined) await view.tell({ kind: "show", page: "chat", chatId });
    return;
  }
  // What was written meanwhile is not lost either.
  if (inputBox.value !== before && inputBox.value.trim() !== "" && !(await agreed(t.replaceMessage, t.replace))) return;
  inputBox.value = lines.join("\n");
}

/** What a turn makes of it; null when the user has stopped it. */
async function proposed(
  wire: Wire,
  root: Uri,
  token: CancellationToken,
): Promise<{ chatId: string; lines?: string[]; said: string } | null> {
  const turn = await wire.command("codelaw.editor.commitMessage", { uri: root.toString() });
  const { chatId } = turn;
  const stop = async (): Promise<null> => {
    await wire.request("codelaw/chat/cancel", { chatId });
    return null;
  };
  if (token.isCancellationRequested) return stop();
  const stopped = new Promise<null>((end, failed) => {
    token.onCancellationRequested(() => void stop().then(end, failed));
  });
  const ended = wire.command("codelaw.editor.proposal", turn).then(({ lines, said, error, stopReason }) => {
    if (stopReason === "cancelled") return null;
    const told = error?.message ?? (said === "" ? t.noMessage : said);
    return { chatId, said: told, ...(lines === undefined ? {} : { lines }) };
  });
  return Promise.race([stopped, ended]);
}

async function agreed(question: string, yes: string): Promise<boolean> {
  return (await window.showWarningMessage(question, yes)) === yes;
}

/** Null where the user picks none, or there is none, which is said. */
async function pick(known: readonly Repository[] | null, where: unknown): Promise<Repository | null> {
  if (known === null || known.length === 0) {
    void window.showInformationMessage(known === null ? t.noGit : t.noRepository);
    return null;
  }
  const root = isFields(where) && where["rootUri"] instanceof Uri ? where["rootUri"].toString() : null;
  const meant = known.filter(({ rootUri, ui }) => (root === null ? ui.selected : rootUri.toString() === root));
  const [only] = meant.length > 0 ? meant : known;
  if (only !== undefined && (meant.length === 1 || known.length === 1)) return only;
  const items = known.map((repository) => ({ label: repository.rootUri.fsPath, repository }));
  return (await window.showQuickPick(items, { title: t.whichRepository }))?.repository ?? null;
}

/** The repositories that the editor has open; null without its git extension, or when that is switched off. */
async function repositories(): Promise<readonly Repository[] | null> {
  const found = extensions.getExtension<unknown>("vscode.git");
  if (found === undefined) return null;
  const git = found.isActive ? found.exports : await found.activate();
  if (!isGit(git) || !git.enabled) return null;
  return git.getAPI(1).repositories;
}

interface Git {
  readonly enabled: boolean;
  getAPI(version: 1): { readonly repositories: readonly Repository[] };
}

function isGit(value: unknown): value is Git {
  return isFields(value) && typeof value["enabled"] === "boolean" && typeof value["getAPI"] === "function";
}
