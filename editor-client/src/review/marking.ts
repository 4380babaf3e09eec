// The parts that wait, in the open file itself: coloured lines, and a lens over each to accept or reject it.
import {
  CodeLens,
  type CodeLensProvider,
  commands,
  Disposable,
  EndOfLine,
  EventEmitter,
  languages,
  MarkdownString,
  OverviewRulerLane,
  Range,
  Selection,
  type TextDocument,
  type TextEditor,
  TextEditorRevealType,
  ThemeColor,
  window,
  workspace,
  WorkspaceEdit,
} from "vscode";
import { t } from "../language";
import type { ReviewedFile } from "../protocol/types";
import type { Comparing } from "./comparing";
import { type Hunk, hunksOf, rejection } from "./hunks";
import type { PendingFile } from "./pending";
import type { PendingOf, Reviews } from "./reviews";

/** Characters of a file whose parts are looked for; a larger one is accepted or rejected as a whole. */
const LARGEST = 2_000_000;
/** Parts of a file that have lenses and colours. */
const MOST_HUNKS = 500;
/** Lines that were there before, in the text that the mouse brings up. */
const MOST_LINES = 40;
/** Files whose texts are kept. */
const MOST_TEXTS = 30;
const PAUSE_MS = 150;

/** What waits in an open document. */
interface Marked extends PendingOf {
  document: TextDocument;
  /** In order; null where the file waits as a whole. */
  hunks: readonly Hunk[] | null;
}

/** Lenses, colours and commands of the parts that wait. */
export class Marking implements CodeLensProvider, Disposable {
  readonly #reviews: Reviews;
  readonly #comparing: Comparing;
  readonly #failed: (error: unknown) => void;
  readonly #stale = new EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#stale.event;
  /** By file: the texts around what waits in it, and which chat and changes they are of. */
  readonly #texts = new Map<string, { key: string; texts: Promise<ReviewedFile> }>();
  readonly #added = window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new ThemeColor("diffEditor.insertedLineBackground"),
    borderStyle: "solid",
    borderWidth: "0 0 0 3px",
    borderColor: new ThemeColor("editorGutter.addedBackground"),
    overviewRulerColor: new ThemeColor("editorOverviewRuler.addedForeground"),
    overviewRulerLane: OverviewRulerLane.Left,
  });
  readonly #removed = window.createTextEditorDecorationType({
    isWholeLine: true,
    borderStyle: "solid",
    borderWidth: "2px 0 0 0",
    borderColor: new ThemeColor("editorGutter.deletedBackground"),
    overviewRulerColor: new ThemeColor("editorOverviewRuler.deletedForeground"),
    overviewRulerLane: OverviewRulerLane.Left,
  });
  readonly #registered: Disposable;
  #timer: NodeJS.Timeout | null = null;

  constructor(reviews: Reviews, comparing: Comparing, failed: (error: unknown) => void) {
    this.#reviews = reviews;
    this.#comparing = comparing;
    this.#failed = failed;
    this.#registered = Disposable.from(
      this.#stale,
      this.#added,
      this.#removed,
      languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: "vscode-remote" }], this),
      reviews.onChange(() => this.#soon()),
      window.onDidChangeActiveTextEditor(() => this.#soon()),
      window.onDidChangeVisibleTextEditors(() => this.#soon()),
      workspace.onDidChangeTextDocument(({ document }) => {
        if (reviews.find(document.uri.toString()) !== null) this.#soon();
      }),
      ...this.#commands(),
    );
  }

  async provideCodeLenses(document: TextDocument): Promise<CodeLens[]> {
    const marked = await this.marked(document);
    if (marked === null) return [];
    const { hunks } = marked;
    const words = t.review;
    const uri = document.uri.toString();
    const lens = (line: number, title: string, command: string, ...args: string[]): CodeLens => {
      const at = Math.min(line, document.lineCount - 1);
      return new CodeLens(new Range(at, 0, at, 0), { title, command, arguments: args });
    };
    const lenses = [
      lens(0, words.waits(hunks?.length ?? 1), "codelaw.compareFile", uri),
      lens(0, words.acceptFile, "codelaw.acceptFile", uri),
      lens(0, words.rejectFile, "codelaw.rejectFile", uri),
    ];
    for (const { id, start, touched } of (hunks ?? []).slice(0, MOST_HUNKS)) {
      lenses.push(lens(start, words.accept, "codelaw.acceptChange", uri, id));
      lenses.push(
        touched
          ? lens(start, words.touched, "codelaw.compareFile", uri)
          : lens(start, words.reject, "codelaw.rejectChange", uri, id),
      );
    }
    return lenses;
  }

  /** What waits in a document as it is now; null where nothing does. */
  async marked(document: TextDocument): Promise<Marked | null> {
    const found = this.#reviews.find(document.uri.toString());
    if (found === null) return null;
    const { before, after, redacted } = await this.#textsOf(found);
    if (before === null || after === null || redacted) return { ...found, document, hunks: null };
    const now = document.getText();
    if (Math.max(now.length, before.length, after.length) > LARGEST) return { ...found, document, hunks: null };
    const parts = new Set(this.#reviews.partsOf(found.chatId, found.file.uri));
    return { ...found, document, hunks: hunksOf(before, after, now, parts) };
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#registered.dispose();
    this.#texts.clear();
  }

  /** Colour what is seen, a moment after the last keystroke. */
  #soon(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.draw().catch(this.#failed);
    }, PAUSE_MS);
  }

  /** Colour what is seen, and tell the menus whether something waits in the file at hand. */
  async draw(): Promise<void> {
    this.#stale.fire();
    for (const editor of window.visibleTextEditors) {
      const { document } = editor;
      const { version } = document;
      const hunks = (await this.marked(document))?.hunks?.slice(0, MOST_HUNKS) ?? [];
      // What was typed meanwhile draws anew.
      if (document.version === version) this.#colour(editor, hunks);
    }
    const active = window.activeTextEditor?.document.uri.toString();
    const waits = active !== undefined && this.#reviews.find(active) !== null;
    await commands.executeCommand("setContext", "codelaw.reviewing", waits);
  }

  #colour(editor: TextEditor, hunks: readonly Hunk[]): void {
    const last = editor.document.lineCount - 1;
    const added = hunks.filter(({ start, end }) => end > start);
    const removed = hunks.filter(({ before, after }) => before.length > after.length);
    editor.setDecorations(
      this.#added,
      added.map((hunk) => ({
        range: new Range(hunk.start, 0, Math.min(hunk.end - 1, last), 0),
        hoverMessage: was(hunk, editor.document.languageId),
      })),
    );
    editor.setDecorations(
      this.#removed,
      removed.map((hunk) => {
        const at = Math.min(hunk.start, last);
        const count = hunk.before.length - hunk.after.length;
        const contentText = `  ${t.review.removedLines(count)}`;
        const color = new ThemeColor("descriptionForeground");
        const renderOptions = { after: { contentText, color, fontStyle: "italic" } };
        const hoverMessage = was(hunk, editor.document.languageId);
        return { range: new Range(at, 0, at, 0), hoverMessage, renderOptions };
      }),
    );
  }

  #commands(): Disposable[] {
    const all: Record<string, (uri: unknown, id: unknown) => Promise<void>> = {
      "codelaw.acceptChange": async (uri, id) => this.#accept(await this.#chosen(uri, id)),
      "codelaw.rejectChange": async (uri, id) => this.#reject(await this.#chosen(uri, id)),
      "codelaw.acceptFile": async (uri) => {
        const found = this.#reviews.find(named(uri));
        if (found !== null) await this.#reviews.keep(found.chatId, [found.file.uri]);
      },
      "codelaw.rejectFile": async (uri) => {
        const found = this.#reviews.find(named(uri));
        if (found !== null) await this.#reviews.undo(found.chatId, [found.file.uri]);
      },
      "codelaw.compareFile": (uri) => this.#comparing.file(named(uri)),
      "codelaw.nextChange": () => this.#step(1),
      "codelaw.previousChange": () => this.#step(-1),
    };
    return Object.entries(all).map(([command, act]) =>
      commands.registerCommand(command, async (uri: unknown, id: unknown) => {
        try {
          await act(uri, id);
        } catch (error) {
          this.#failed(error);
        }
      }),
    );
  }

  /** The part that a lens names, else the one at the cursor; null with a word about it where there is none. */
  async #chosen(uri: unknown, id: unknown): Promise<{ marked: Marked; hunk: Hunk } | null> {
    const name = named(uri);
    const document = workspace.textDocuments.find((one) => one.uri.toString() === name);
    const marked = document === undefined ? null : await this.marked(document);
    const line = window.activeTextEditor?.selection.active.line ?? 0;
    const hunk = marked?.hunks?.find((one) => (typeof id === "string" ? one.id === id : holds(one, line)));
    if (marked !== null && hunk !== undefined) return { marked, hunk };
    void window.showInformationMessage(typeof id === "string" ? t.review.moved : t.review.noChangeHere);
    return null;
  }

  async #accept(chosen: { marked: Marked; hunk: Hunk } | null): Promise<void> {
    if (chosen === null) return;
    const { chatId, file, hunks } = chosen.marked;
    if (hunks?.length === 1) await this.#reviews.keep(chatId, [file.uri]);
    else await this.#reviews.keepParts(chatId, file, [chosen.hunk.id]);
  }

  /** Take a part back in the document: the user's own change, which the server hears of as of any other. */
  async #reject(chosen: { marked: Marked; hunk: Hunk } | null): Promise<void> {
    if (chosen === null) return;
    const { marked, hunk } = chosen;
    const { document, chatId, file } = marked;
    const edit = rejection(document.getText(), hunk, document.eol === EndOfLine.CRLF ? "\r\n" : "\n");
    const change = new WorkspaceEdit();
    if (edit !== null) {
      const { from, to, text } = edit;
      change.replace(document.uri, new Range(from.line, from.character, to.line, to.character), text);
    }
    // The editor refuses it, too, where the document has another version by now.
    if (edit === null || !(await workspace.applyEdit(change))) {
      void window.showWarningMessage(t.review.moved);
      return;
    }
    await this.#settle(chatId, file, document);
  }

  async #settle(chatId: string, file: PendingFile, document: TextDocument): Promise<void> {
    const left = await this.marked(document);
    if (left?.hunks?.length === 0) await this.#reviews.settle(chatId, file);
    else this.#soon();
  }

  async #step(by: 1 | -1): Promise<void> {
    const editor = window.activeTextEditor;
    const hunks = editor === undefined ? [] : ((await this.marked(editor.document))?.hunks ?? []);
    const line = editor?.selection.active.line ?? 0;
    const next =
      by === 1
        ? hunks.find(({ start }) => start > line)
        : hunks.findLast(({ end, start }) => end <= line && start < line);
    if (editor === undefined || next === undefined) {
      void window.showInformationMessage(t.review.noMore);
      return;
    }
    const at = Math.min(next.start, editor.document.lineCount - 1);
    editor.selection = new Selection(at, 0, at, 0);
    editor.revealRange(editor.selection, TextEditorRevealType.InCenterIfOutsideViewport);
  }

  #textsOf({ chatId, file }: PendingOf): Promise<ReviewedFile> {
    const { uri, above, number } = file;
    const key = JSON.stringify([chatId, above, number]);
    const there = this.#texts.get(uri);
    if (there?.key === key) return there.texts;
    const texts = this.#reviews.text(chatId, uri, above);
    this.#texts.set(uri, { key, texts });
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MOST_TEXTS) break;
      this.#texts.delete(oldest);
    }
    texts.catch(() => this.#texts.delete(uri));
    return texts;
  }
}

const named = (uri: unknown): string =>
  typeof uri === "string" ? uri : (window.activeTextEditor?.document.uri.toString() ?? "");

const holds = ({ start, end }: Hunk, line: number): boolean => line >= start && line < Math.max(end, start + 1);

/** What was there before, as code that is nothing but shown. */
function was({ before }: Hunk, language: string): MarkdownString | undefined {
  if (before.length === 0) return undefined;
  const told = new MarkdownString();
  told.appendText(t.review.replaced);
  const more = before.length > MOST_LINES ? "\n…" : "";
  told.appendCodeblock(before.slice(0, MOST_LINES).join("\n") + more, language);
  return told;
}
