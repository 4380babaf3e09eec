// Edits of a selection by words: a turn proposes other lines, and the document changes when the user accepts them.
import {
  CodeLens,
  commands,
  type Disposable,
  EventEmitter,
  languages,
  Range,
  TabInputTextDiff,
  type TextDocument,
  ThemeColor,
  Uri,
  window,
  workspace,
  WorkspaceEdit,
} from "vscode";
import type { ChatView } from "../chat/view";
import { visible } from "../hidden";
import { t } from "../language";
import { unlinked } from "../plain";
import type { Proposal, TurnRef } from "../protocol/types";
import type { Wire } from "../server/wire";
import { findLines, moved, type Place, placeOf, replaced } from "./lines";
import { attachmentOf, nameOf } from "./selection";

/** Documents as they would be. */
export const SCHEME = "codelaw-edit";
const SAID = 300;

/** One edit of one document. */
interface Edit {
  readonly id: number;
  readonly uri: Uri;
  readonly text: string;
  readonly before: readonly string[];
  /** Where the first of them stands by now, if nobody has touched them. */
  first: number;
  /** The turn, as soon as there is one. */
  turn: TurnRef | null;
  /** What it proposes, once it has ended. */
  lines: readonly string[] | null;
}

/** Asks for edits, shows what is proposed, and puts it in place; one for each document. */
export class Edits implements Disposable {
  readonly #wire: Wire;
  readonly #view: Pick<ChatView, "tell">;
  readonly #failed: (error: unknown) => void;
  readonly #edits = new Map<string, Edit>();
  readonly #lenses = new EventEmitter<undefined>();
  readonly #texts = new EventEmitter<Uri>();
  readonly #mark = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderColor: new ThemeColor("focusBorder"),
    borderStyle: "solid",
    borderWidth: "0 0 0 2px",
  });
  readonly #registered: { dispose(): unknown }[];
  #last = 0;

  constructor(wire: Wire, view: Pick<ChatView, "tell">, failed: (error: unknown) => void) {
    this.#wire = wire;
    this.#view = view;
    this.#failed = failed;
    this.#registered = [
      this.#lenses,
      this.#texts,
      this.#mark,
      languages.registerCodeLensProvider("*", {
        onDidChangeCodeLenses: this.#lenses.event,
        provideCodeLenses: ({ uri }) => this.lensesOf(uri),
      }),
      workspace.registerTextDocumentContentProvider(SCHEME, {
        onDidChange: this.#texts.event,
        provideTextDocumentContent: (uri) => this.proposed(uri),
      }),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const edit = this.#edits.get(document.uri.toString());
        if (edit === undefined || contentChanges.length === 0) return;
        edit.first = moved(edit.first, contentChanges);
        this.#texts.fire(proposalOf(edit));
        this.#show();
      }),
      window.onDidChangeVisibleTextEditors(() => this.#show()),
      window.onDidChangeActiveTextEditor(() => this.#show()),
    ];
  }

  /** Ask what to do with the selected lines, or with the cursor's, and have it proposed. */
  async begin(): Promise<void> {
    const editor = window.activeTextEditor;
    if (editor === undefined) {
      void window.showInformationMessage(t.openFileFirst);
      return;
    }
    if (editor.document.uri.scheme === SCHEME) return this.again();
    const text = await ask(t.editWhat(attachmentOf(editor.document.uri, editor.selection).label));
    if (text !== null) await this.#run(editor.document, placeOf(editor.selection), text, null);
  }

  /** Put the proposed lines in the place of the old ones, in one step to undo. */
  async accept(where?: unknown): Promise<void> {
    const edit = this.#at(where);
    if (edit === undefined || edit.lines === null) return;
    const document = await workspace.openTextDocument(edit.uri);
    const place = findLines(document, edit.before, edit.first);
    if (place === null) {
      this.#lost(edit);
      return;
    }
    const change = new WorkspaceEdit();
    change.replace(edit.uri, rangeOf(document, place, edit.lines), edit.lines.join("\n"));
    const { version } = document;
    const applied = await workspace.applyEdit(change);
    if (!applied || document.version === version) {
      void window.showWarningMessage(t.cannotChange(nameOf(edit.uri)));
      return;
    }
    await this.#end(edit);
    const after = new Range(place.first, 0, place.first, 0);
    await window.showTextDocument(document, { selection: after, preview: false });
  }

  /** Leave the document as it is; a turn that runs is stopped. */
  async reject(where?: unknown): Promise<void> {
    const edit = this.#at(where);
    if (edit !== undefined) await this.#end(edit);
  }

  /** Ask for something else in the place of the same lines, after what was said. */
  async again(where?: unknown): Promise<void> {
    const edit = this.#at(where);
    if (edit === undefined || edit.lines === null) return;
    const document = await workspace.openTextDocument(edit.uri);
    const text = await ask(t.editAgain, edit.text);
    if (text === null) return;
    const place = findLines(document, edit.before, edit.first);
    if (place === null) {
      this.#lost(edit);
      return;
    }
    await this.#run(document, place, text, edit.turn?.chatId ?? null);
  }

  /** Show the document beside what it would be. */
  async compare(where?: unknown): Promise<void> {
    const edit = this.#at(where);
    if (edit === undefined || edit.lines === null) return;
    const title = t.nowAndProposed(edit.uri.path.slice(edit.uri.path.lastIndexOf("/") + 1));
    const selection = new Range(edit.first, 0, edit.first, 0);
    await commands.executeCommand("vscode.diff", edit.uri, proposalOf(edit), title, { preview: true, selection });
  }

  /** Show the chat in which the edit was asked for. */
  async openChat(where?: unknown): Promise<void> {
    const turn = this.#at(where)?.turn ?? null;
    if (turn !== null) await this.#showChat(turn);
  }

  /** The server is gone, and with it the turns that ran; what is proposed already stays. */
  disconnected(): void {
    for (const [key, edit] of this.#edits) if (edit.lines === null) this.#edits.delete(key);
    this.#show();
  }

  /** What stands above the lines. */
  lensesOf(uri: Uri): CodeLens[] {
    const edit = this.#edits.get(uri.toString());
    if (edit === undefined) return [];
    const range = new Range(edit.first, 0, edit.first, 0);
    const lens = (title: string, act: string): CodeLens =>
      new CodeLens(range, { title, command: act === "" ? "" : `codelaw.edit.${act}`, arguments: [edit.id] });
    if (edit.lines === null)
      return [
        lens(`$(loading~spin) ${t.editRuns}`, ""),
        lens(t.editStop, "reject"),
        ...(edit.turn === null ? [] : [lens(t.openAsChat, "openChat")]),
      ];
    return [
      lens(`$(check) ${t.editAccept}`, "accept"),
      lens(`$(close) ${t.editReject}`, "reject"),
      lens(`$(refresh) ${t.editOther}`, "again"),
      lens(`$(diff) ${t.editCompare}`, "compare"),
      lens(`$(comment-discussion) ${t.openAsChat}`, "openChat"),
    ];
  }

  /** The document as it would be; as it is, where the lines are not to be found. */
  async proposed(uri: Uri): Promise<string> {
    const edit = this.#at(uri);
    if (edit === undefined) return "";
    const document = await workspace.openTextDocument(edit.uri);
    const place = findLines(document, edit.before, edit.first);
    return place === null || edit.lines === null ? document.getText() : replaced(document, place, edit.lines);
  }

  dispose(): void {
    this.#edits.clear();
    for (const one of this.#registered) one.dispose();
  }

  async #run(document: TextDocument, place: Place, text: string, chatId: string | null): Promise<void> {
    const older = this.#edits.get(document.uri.toString());
    if (older !== undefined) await this.#end(older);
    const before = Array.from(
      { length: place.end - place.first },
      (_, line) => document.lineAt(place.first + line).text,
    );
    const { uri } = document;
    const edit: Edit = { id: ++this.#last, uri, text, before, first: place.first, turn: null, lines: null };
    this.#edits.set(uri.toString(), edit);
    this.#show();
    try {
      const range = {
        start: { line: place.first, character: 0 },
        end: { line: place.end - 1, character: before.at(-1)?.length ?? 0 },
      };
      const asked = { uri: uri.toString(), range, text, version: document.version };
      edit.turn = await this.#wire.command("codelaw.editor.edit", chatId === null ? asked : { ...asked, chatId });
      if (this.#gone(edit)) {
        await this.#cancel(edit.turn);
        return;
      }
      this.#show();
      const proposal = await this.#wire.command("codelaw.editor.proposal", edit.turn);
      if (!this.#gone(edit)) await this.#take(edit, proposal);
    } catch (error) {
      // Who has stopped it wants to hear no more of it.
      if (!this.#gone(edit)) this.#failed(error);
      await this.#end(edit, true);
    }
  }

  async #take(edit: Edit, { lines, said, error, stopReason }: Proposal): Promise<void> {
    const nothing = lines === undefined || same(lines, edit.before);
    if (nothing) await this.#end(edit, true);
    else {
      edit.lines = lines;
      this.#show();
      await this.compare(edit.id);
    }
    const told = error?.message ?? said;
    if (told !== "") this.#tell(edit, error === undefined ? "info" : "warning", `codelaw: ${short(told)}`);
    else if (nothing && stopReason === "finished") this.#tell(edit, "info", t.editNothing(nameOf(edit.uri)));
  }

  /** Forget an edit, stop its turn if it still runs, and close the comparison. */
  async #end(edit: Edit, over = edit.lines !== null): Promise<void> {
    const known = !this.#gone(edit);
    if (known) this.#edits.delete(edit.uri.toString());
    this.#show();
    const shown = proposalOf(edit).toString();
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
    const old = tabs.filter(({ input }) => input instanceof TabInputTextDiff && input.modified.toString() === shown);
    if (old.length > 0) await window.tabGroups.close(old);
    if (known && !over && edit.turn !== null) await this.#cancel(edit.turn);
  }

  async #cancel({ chatId }: TurnRef): Promise<void> {
    await this.#wire.request("codelaw/chat/cancel", { chatId });
  }

  #gone(edit: Edit): boolean {
    return this.#edits.get(edit.uri.toString()) !== edit;
  }

  #lost(edit: Edit): void {
    this.#tell(edit, "warning", t.editLost(nameOf(edit.uri)));
  }

  /** A message that can be gone on with in the chat; nobody waits for it. */
  #tell({ turn }: Edit, how: "info" | "warning", message: string): void {
    const show = how === "info" ? window.showInformationMessage : window.showWarningMessage;
    show(message, ...(turn === null ? [] : [t.openAsChat])).then((chosen) => {
      if (chosen !== undefined && turn !== null) this.#showChat(turn).catch(this.#failed);
    }, this.#failed);
  }

  async #showChat({ chatId }: TurnRef): Promise<void> {
    await this.#view.tell({ kind: "show", page: "chat", chatId });
  }

  /** The edit that a lens, a tab's button or the editor at hand means. */
  #at(where: unknown): Edit | undefined {
    if (typeof where === "number") return [...this.#edits.values()].find(({ id }) => id === where);
    const uri = where instanceof Uri ? where : window.activeTextEditor?.document.uri;
    if (uri?.scheme === SCHEME) return this.#at(Number(uri.query));
    return uri === undefined ? undefined : this.#edits.get(uri.toString());
  }

  #show(): void {
    for (const editor of window.visibleTextEditors) {
      const edit = this.#edits.get(editor.document.uri.toString());
      const lines = edit === undefined ? [] : [new Range(edit.first, 0, edit.first + edit.before.length - 1, 0)];
      editor.setDecorations(this.#mark, lines);
    }
    this.#lenses.fire(undefined);
    const edit = this.#at(undefined);
    void commands.executeCommand("setContext", "codelaw.editing", edit?.lines === null);
    void commands.executeCommand("setContext", "codelaw.proposed", edit !== undefined && edit.lines !== null);
  }
}

const proposalOf = ({ id, uri }: Edit): Uri => Uri.from({ scheme: SCHEME, path: uri.path, query: String(id) });

const same = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((line, at) => line === other[at]);

/** From the first line's start to the last one's end; with its break where nothing comes in its place. */
function rangeOf(document: TextDocument, { first, end }: Place, lines: readonly string[]): Range {
  if (lines.length === 0 && end < document.lineCount) return new Range(first, 0, end, 0);
  return new Range(first, 0, end - 1, document.lineAt(end - 1).text.length);
}

async function ask(title: string, value = ""): Promise<string | null> {
  const text = await window.showInputBox({ title, value, prompt: t.editPrompt, ignoreFocusOut: true });
  return text === undefined || text.trim() === "" ? null : text;
}

const short = (text: string): string => {
  const line = unlinked(visible(text.replaceAll(/\s+/g, " ").trim()));
  return line.length > SAID ? `${line.slice(0, SAID)}…` : line;
};
