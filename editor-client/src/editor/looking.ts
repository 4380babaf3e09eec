// What the user looks at: the document of the active editor, its cursor, its selection and the lines on the screen.
import { Disposable, EventEmitter, type TextDocument, type TextEditor, window, workspace } from "vscode";
import type { Looking } from "../messages";
import { linesOf, nameOf, rangeOf } from "./selection";

/** The setting that switches it off, without the prefix `codelaw.`. */
export const SEND_EDITOR = "panel.sendEditor";
/** Changes that come closer together, as while typing or scrolling, are told once. */
const PAUSE_MS = 50;
/** Output, source control, notebooks and documents of ours are not what a question is about. */
const SCHEMES: ReadonlySet<string> = new Set(["file", "untitled", "vscode-remote"]);

export class LookingAt implements Disposable {
  readonly #changes = new EventEmitter<Looking | null>();
  /** What is looked at has changed; null: nothing, or it is switched off. */
  readonly onChange = this.#changes.event;
  readonly #listening: Disposable;
  #editor: TextEditor | null = null;
  #told: Looking | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    const soon = (): void => this.#soon();
    const ofIts = ({ textEditor }: { textEditor: TextEditor }): void => {
      if (textEditor === this.#editor) soon();
    };
    this.#listening = Disposable.from(
      window.onDidChangeActiveTextEditor(soon),
      window.onDidChangeVisibleTextEditors(soon),
      window.onDidChangeTextEditorSelection(ofIts),
      window.onDidChangeTextEditorVisibleRanges(ofIts),
      workspace.onDidChangeTextDocument(({ document }) => {
        if (document === this.#editor?.document) soon();
      }),
      workspace.onDidChangeWorkspaceFolders(soon),
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration(`codelaw.${SEND_EDITOR}`)) soon();
      }),
    );
    this.#look();
  }

  /** As it was told last. */
  get current(): Looking | null {
    return this.#told;
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#listening.dispose();
    this.#changes.dispose();
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => this.#look(), PAUSE_MS);
  }

  #look(): void {
    this.#timer = null;
    this.#editor = this.#atHand();
    const looking = this.#editor === null || !isOn() ? null : lookingAt(this.#editor);
    if (JSON.stringify(looking) === JSON.stringify(this.#told)) return;
    this.#told = looking;
    this.#changes.fire(looking);
  }

  /** The active editor; beside the output or a page without text, the one before it as long as it is on the screen. */
  #atHand(): TextEditor | null {
    const active = window.activeTextEditor;
    if (active !== undefined && isOurs(active.document)) return active;
    return window.visibleTextEditors.find((editor) => editor === this.#editor) ?? null;
  }
}

/** What an editor shows. */
export function lookingAt({ document, selection, visibleRanges }: TextEditor): Looking {
  const { line, character } = selection.active;
  const first = visibleRanges[0];
  const last = visibleRanges[visibleRanges.length - 1];
  const name = nameOf(document.uri);
  return {
    uri: document.uri.toString(),
    version: document.version,
    cursor: { line, character },
    ...(selection.isEmpty ? {} : { selection: rangeOf(selection) }),
    ...(first === undefined || last === undefined ? {} : { visible: rangeOf({ start: first.start, end: last.end }) }),
    label: selection.isEmpty ? name : `${name}:${linesOf(selection)}`,
  };
}

const isOurs = ({ uri }: TextDocument): boolean => SCHEMES.has(uri.scheme);

/** A folder may switch it off and never on: any `false` counts. */
function isOn(): boolean {
  const set = workspace.getConfiguration("codelaw").inspect<unknown>(SEND_EDITOR);
  return ![set?.globalValue, set?.workspaceValue, set?.workspaceFolderValue].includes(false);
}
