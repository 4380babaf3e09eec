// As much of VS Code's API as the extension's own modules use, and a record of what they did with it.
import path from "node:path";

type Listener<T> = (value: T) => unknown;

export class Disposable {
  constructor(private readonly end: () => unknown) {}
  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
  dispose(): void {
    this.end();
  }
}

export class EventEmitter<T> {
  readonly #listeners = new Set<Listener<T>>();
  readonly event = (listener: Listener<T>): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class CancellationTokenSource {
  readonly #cancelled = new EventEmitter<undefined>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.#cancelled.event };
  cancel(): void {
    if (this.token.isCancellationRequested) return;
    this.token.isCancellationRequested = true;
    this.#cancelled.fire(undefined);
  }
  dispose(): void {
    this.#cancelled.dispose();
  }
}
export class CancellationError extends Error {}

const encode = (text: string): string => encodeURIComponent(text).replaceAll("%2F", "/");

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly authority: string,
    readonly path: string,
    readonly query = "",
    readonly fragment = "",
  ) {}
  static file(name: string): Uri {
    return new Uri("file", "", name);
  }
  static from(parts: { scheme: string; authority?: string; path?: string; query?: string }): Uri {
    return new Uri(parts.scheme, parts.authority ?? "", parts.path ?? "", parts.query ?? "");
  }
  static parse(text: string, strict = false): Uri {
    const found = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(text);
    if (strict && found?.[1] === undefined) throw new Error(`no scheme: ${text}`);
    const [, scheme = "file", authority = "", where = "", query = "", fragment = ""] = found ?? [];
    return new Uri(scheme, authority, decodeURIComponent(where), query, fragment);
  }
  static joinPath(base: Uri, ...parts: string[]): Uri {
    return base.with({ path: path.posix.join(base.path, ...parts) });
  }
  get fsPath(): string {
    return this.path;
  }
  with({ scheme, authority, path: at }: { scheme?: string; authority?: string; path?: string }): Uri {
    return new Uri(scheme ?? this.scheme, authority ?? this.authority, at ?? this.path, this.query, this.fragment);
  }
  toString(): string {
    const authority = this.authority !== "" || this.scheme === "file" ? `//${this.authority}` : "";
    const query = this.query === "" ? "" : `?${this.query}`;
    return `${this.scheme}:${authority}${encode(this.path)}${query}${this.fragment === "" ? "" : `#${this.fragment}`}`;
  }
}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}
export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(start: Position | number, end: Position | number, line?: number, character?: number) {
    this.start = typeof start === "number" ? new Position(start, end as number) : start;
    this.end = typeof end === "number" ? new Position(line ?? 0, character ?? 0) : end;
  }
  get isEmpty(): boolean {
    return this.start.line === this.end.line && this.start.character === this.end.character;
  }
}

export class Selection extends Range {
  get active(): Position {
    return this.end;
  }
}
export class CodeLens {
  constructor(
    readonly range: Range,
    readonly command?: { title: string; command: string; arguments?: unknown[] },
  ) {}
}

export class WorkspaceEdit {
  readonly all: { uri?: Uri; edits?: unknown[]; from?: Uri; to?: Uri }[] = [];
  set(uri: Uri, edits: unknown[]): void {
    this.all.push({ uri, edits });
  }
  replace(uri: Uri, range: Range, newText: string): void {
    this.all.push({ uri, edits: [{ range, newText }] });
  }
  renameFile(from: Uri, to: Uri): void {
    this.all.push({ from, to });
  }
  entries(): [Uri, unknown[]][] {
    return this.all.flatMap(({ uri, edits }): [Uri, unknown[]][] => (uri && edits ? [[uri, edits]] : []));
  }
  _allEntries(): unknown[] {
    return this.all;
  }
}
export class TabInputTextDiff {
  constructor(
    readonly original: Uri,
    readonly modified: Uri,
  ) {}
}
export class CodeAction {
  edit?: WorkspaceEdit;
  disabled?: unknown;
  constructor(readonly title: string) {}
}
export const CodeActionKind = { QuickFix: { value: "quickfix" } };
export class MarkdownString {
  value = "";
  appendText(text: string): this {
    this.value += text;
    return this;
  }
  appendCodeblock(text: string): this {
    this.value += `\n${text}`;
    return this;
  }
  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}
export class ThemeColor {
  constructor(readonly id: string) {}
}
export const EndOfLine = { LF: 1, CRLF: 2 };
export const OverviewRulerLane = { Left: 1 };
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 };
export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 };
export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };
export const ConfigurationTarget = { Global: 1, Workspace: 2 };
export const ViewColumn = { Active: -1, Beside: -2 };
export const ProgressLocation = { Notification: 15 };
export const StatusBarAlignment = { Left: 1, Right: 2 };

/** What the tests put in and look at; `reset` empties it. */
export const editor = {
  folders: [] as { uri: Uri; name: string; index: number }[],
  /** Files by path; a folder is null. */
  files: new Map<string, string | null>(),
  documents: [] as unknown[],
  diagnostics: new Map<string, unknown[]>(),
  /** What the next messages of the editor are answered with, in turn. */
  answers: [] as unknown[],
  /** What was set of the extension's settings, by their name without `codelaw.`. */
  settings: new Map<string, { globalValue?: unknown; workspaceValue?: unknown; workspaceFolderValue?: unknown }>(),
  /** Answers of commands, by id. */
  commands: new Map<string, (...args: unknown[]) => unknown>(),
  /** Tabs with pages, in the order in which they were made. */
  tabs: [] as WebviewPanel[],
  /** Makes the changes of an edit; false when it will not. */
  applies: (() => false) as (edit: WorkspaceEdit) => boolean,
  /** What other extensions export, by id. */
  extensions: new Map<string, unknown>(),
  /** The work that can be stopped, begun last. */
  progress: null as CancellationTokenSource | null,
  /** The box that was opened last. */
  box: null as QuickPick | null,
  /** Everything that was done, in order. */
  done: [] as { what: string; with: unknown[] }[],
};
export const diagnosticsChanged = new EventEmitter<{ uris: Uri[] }>();
export const documentClosed = new EventEmitter<{ uri: Uri }>();
export const documentChanged = new EventEmitter<{ document: unknown }>();
export const documentOpened = new EventEmitter<unknown>();
export const foldersChanged = new EventEmitter<undefined>();
export const configurationChanged = new EventEmitter<{ affectsConfiguration: (section: string) => boolean }>();
export const activeEditorChanged = new EventEmitter<unknown>();
export const visibleEditorsChanged = new EventEmitter<unknown>();
export const selectionChanged = new EventEmitter<{ textEditor: unknown }>();
export const visibleRangesChanged = new EventEmitter<{ textEditor: unknown }>();

export const terminalClosed = new EventEmitter<unknown>();
export const commandStarted = new EventEmitter<unknown>();
export const commandEnded = new EventEmitter<unknown>();

export function reset(): void {
  editor.folders = [];
  editor.files.clear();
  editor.documents = [];
  editor.diagnostics.clear();
  editor.answers = [];
  editor.commands.clear();
  editor.settings.clear();
  editor.extensions.clear();
  extensions.all = [];
  window.tabGroups.all = [];
  editor.progress = null;
  editor.done = [];
  editor.box = null;
  editor.tabs = [];
  env.remoteName = undefined;
}

function did(what: string, ...args: unknown[]): void {
  editor.done.push({ what, with: args });
}
const asked =
  (what: string) =>
  (...args: unknown[]): Promise<unknown> => {
    did(what, ...args);
    return Promise.resolve(editor.answers.shift());
  };
const inside = (uri: Uri, folder: Uri): boolean =>
  uri.scheme === folder.scheme &&
  uri.authority === folder.authority &&
  (uri.path === folder.path || uri.path.startsWith(`${folder.path}/`));

export const workspace = {
  get workspaceFolders() {
    return editor.folders.length === 0 ? undefined : editor.folders;
  },
  get textDocuments() {
    return editor.documents;
  },
  getWorkspaceFolder: (uri: Uri) => editor.folders.find((folder) => inside(uri, folder.uri)),
  asRelativePath(uri: Uri, withFolder = false): string {
    const folder = editor.folders.find((one) => inside(uri, one.uri));
    if (folder === undefined) return uri.path;
    const relative = uri.path.slice(folder.uri.path.length + 1);
    return withFolder ? `${folder.name}/${relative}` : relative;
  },
  fs: {
    stat(uri: Uri): Promise<{ type: number }> {
      const file = editor.files.get(uri.path);
      if (file === undefined) return Promise.reject(new Error(`EntryNotFound ${uri.path}`));
      return Promise.resolve({ type: file === null ? FileType.Directory : FileType.File });
    },
    writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
      editor.files.set(uri.path, new TextDecoder().decode(bytes));
      return Promise.resolve();
    },
    readDirectory(uri: Uri): Promise<[string, number][]> {
      const names = [...editor.files].filter(([name]) => path.posix.dirname(name) === uri.path);
      return Promise.resolve(
        names.map(([name, text]) => [path.posix.basename(name), text === null ? FileType.Directory : FileType.File]),
      );
    },
  },
  openTextDocument(what: Uri | { content: string }): Promise<unknown> {
    if (!(what instanceof Uri)) return Promise.resolve({ getText: () => what.content });
    const open = editor.documents.find((one) => String((one as { uri: Uri }).uri) === what.toString());
    return Promise.resolve(open ?? { uri: what, getText: () => editor.files.get(what.path) ?? "" });
  },
  applyEdit(edit: WorkspaceEdit): Promise<boolean> {
    did("applyEdit", edit);
    let applied = false;
    for (const [uri, edits] of edit.entries()) {
      const open = editor.documents.find((one) => String((one as { uri: Uri }).uri) === uri.toString());
      const apply = (open as { apply?: (edit: unknown) => void } | undefined)?.apply;
      if (apply === undefined) continue;
      for (const one of edits) apply.call(open, one);
      applied = true;
    }
    return Promise.resolve(applied || editor.applies(edit));
  },
  onDidCloseTextDocument: documentClosed.event,
  onDidChangeTextDocument: documentChanged.event,
  onDidOpenTextDocument: documentOpened.event,
  onDidChangeWorkspaceFolders: foldersChanged.event,
  onDidChangeConfiguration: configurationChanged.event,
  getConfiguration: () => ({
    inspect: (key: string) => editor.settings.get(key),
    get: (key: string, otherwise?: unknown) => editor.settings.get(key)?.globalValue ?? otherwise,
    update: (key: string, globalValue: unknown, target: unknown) => {
      did("update", key, globalValue, target);
      editor.settings.set(key, { globalValue });
      return Promise.resolve();
    },
  }),
  registerTextDocumentContentProvider(scheme: string, provider: unknown): Disposable {
    did("registerTextDocumentContentProvider", scheme, provider);
    return new Disposable(() => undefined);
  },
};

/** A box in which the user types and picks; the one that was shown last is `editor.box`. */
export class QuickPick {
  readonly #typed = new EventEmitter<string>();
  readonly #accepted = new EventEmitter<undefined>();
  readonly #hidden = new EventEmitter<undefined>();
  readonly onDidChangeValue = this.#typed.event;
  readonly onDidAccept = this.#accepted.event;
  readonly onDidHide = this.#hidden.event;
  title = "";
  busy = false;
  items: readonly { label: string; description?: string; detail?: string }[] = [];
  selectedItems: readonly unknown[] = [];
  show(): void {
    editor.box = this;
  }
  hide(): void {
    this.#hidden.fire(undefined);
  }
  dispose(): void {
    this.#typed.dispose();
    this.#accepted.dispose();
    this.#hidden.dispose();
  }
  type(value: string): void {
    this.#typed.fire(value);
  }
  pick(index: number): void {
    this.selectedItems = this.items.slice(index, index + 1);
    this.#accepted.fire(undefined);
  }
}

/** A page in a webview: what it was told, and a way to let it speak. */
export class Webview {
  readonly posted: unknown[] = [];
  readonly said = new EventEmitter<unknown>();
  readonly onDidReceiveMessage = this.said.event;
  readonly cspSource = "https://own.example";
  html = "";
  options: unknown = {};
  asWebviewUri(uri: Uri): Uri {
    return Uri.parse(`https://own.example${uri.path}`);
  }
  postMessage(message: unknown): Promise<boolean> {
    this.posted.push(message);
    return Promise.resolve(true);
  }
}

/** A tab of the editor with a page. */
export class WebviewPanel {
  readonly webview = new Webview();
  readonly #moved = new EventEmitter<undefined>();
  readonly #closed = new EventEmitter<undefined>();
  readonly onDidChangeViewState = this.#moved.event;
  readonly onDidDispose = this.#closed.event;
  iconPath: unknown;
  visible = true;
  active = true;
  constructor(public title: string) {}
  move(visible: boolean, active: boolean): void {
    this.visible = visible;
    this.active = active;
    this.#moved.fire(undefined);
  }
  reveal(): void {
    did("reveal", this.title);
    this.move(true, true);
  }
  close(): void {
    this.visible = false;
    this.active = false;
    this.#closed.fire(undefined);
  }
}

export const window = {
  tabGroups: {
    all: [] as { tabs: unknown[] }[],
    close(tabs: readonly unknown[]): Promise<boolean> {
      did("closeTabs", ...tabs);
      const left = (one: unknown): boolean => !tabs.includes(one);
      window.tabGroups.all = window.tabGroups.all.map((group) => ({ tabs: group.tabs.filter(left) }));
      return Promise.resolve(true);
    },
  },
  activeTextEditor: undefined as unknown,
  visibleTextEditors: [] as unknown[],
  onDidChangeActiveTextEditor: activeEditorChanged.event,
  onDidChangeVisibleTextEditors: visibleEditorsChanged.event,
  onDidChangeTextEditorSelection: selectionChanged.event,
  onDidChangeTextEditorVisibleRanges: visibleRangesChanged.event,
  activeTerminal: undefined as unknown,
  onDidCloseTerminal: terminalClosed.event,
  onDidStartTerminalShellExecution: commandStarted.event,
  onDidEndTerminalShellExecution: commandEnded.event,
  withProgress(
    options: unknown,
    work: (progress: unknown, token: CancellationTokenSource["token"]) => unknown,
  ): Promise<unknown> {
    did("progress", options);
    editor.progress = new CancellationTokenSource();
    return Promise.resolve(work({}, editor.progress.token));
  },
  showInformationMessage: asked("information"),
  showWarningMessage: asked("warning"),
  showErrorMessage: asked("error"),
  showInputBox: asked("input"),
  showQuickPick: asked("pick"),
  createTextEditorDecorationType: (options: unknown) => ({ options, dispose: () => undefined }),
  createQuickPick: () => new QuickPick(),
  showSaveDialog: asked("save"),
  showOpenDialog: asked("openDialog"),
  showWorkspaceFolderPick: asked("folder"),
  showTextDocument: asked("showTextDocument"),
  /** The editor puts a page into a tab; the newest is the last of `editor.tabs`. */
  createWebviewPanel(type: string, title: string, column: unknown): WebviewPanel {
    did("createWebviewPanel", type, title, column);
    const panel = new WebviewPanel(title);
    editor.tabs.push(panel);
    return panel;
  },
  registerWebviewPanelSerializer(type: string, serializer: unknown): Disposable {
    did("registerWebviewPanelSerializer", type, serializer);
    return new Disposable(() => undefined);
  },
  registerWebviewViewProvider(id: string, provider: unknown): Disposable {
    did("registerWebviewViewProvider", id, provider);
    return new Disposable(() => undefined);
  },
};

export const commands = {
  registerCommand(id: string, act: (...args: unknown[]) => unknown): Disposable {
    editor.commands.set(id, act);
    return new Disposable(() => editor.commands.delete(id));
  },
  executeCommand(id: string, ...args: unknown[]): Promise<unknown> {
    did(id, ...args);
    const command = editor.commands.get(id);
    return Promise.resolve().then(() => command?.(...args));
  },
};

export const extensions = {
  all: [] as { id: string; packageJSON: unknown }[],
  getExtension(id: string): unknown {
    const exports = editor.extensions.get(id);
    return exports === undefined ? undefined : { isActive: false, activate: () => Promise.resolve(exports) };
  },
};

export const languages = {
  registerCodeLensProvider(selector: unknown, provider: unknown): Disposable {
    did("registerCodeLensProvider", selector, provider);
    return new Disposable(() => undefined);
  },
  onDidChangeDiagnostics: diagnosticsChanged.event,
  getDiagnostics(uri?: Uri): unknown {
    if (uri !== undefined) return editor.diagnostics.get(uri.toString()) ?? [];
    return [...editor.diagnostics].map(([name, found]) => [Uri.parse(name), found]);
  },
};

export const CommentMode = { Editing: 0, Preview: 1 };
export const CommentThreadCollapsibleState = { Collapsed: 0, Expanded: 1 };
export const comments = {
  createCommentController(id: string, label: string): object {
    const controller = {
      id,
      label,
      createCommentThread(uri: Uri, range: Range, said: unknown[]): object {
        const thread = { uri, range, comments: said, dispose: () => undefined };
        did("createCommentThread", thread);
        return thread;
      },
      dispose: () => undefined,
    };
    did("createCommentController", controller);
    return controller;
  },
};

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}
export class LanguageModelToolCallPart {
  constructor(
    readonly callId: string,
    readonly name: string,
    readonly input: object,
  ) {}
}
export class LanguageModelToolResultPart {
  constructor(
    readonly callId: string,
    readonly content: unknown[],
  ) {}
}
export class LanguageModelChatMessage {
  constructor(
    readonly role: number,
    readonly content: unknown[],
  ) {}
}
export const LanguageModelChatMessageRole = { User: 1, Assistant: 2 };
export class LanguageModelError extends Error {
  constructor(
    message: string,
    readonly code: string,
    cause?: Error,
  ) {
    super(message, { cause });
  }
}
export const modelsChanged = new EventEmitter<undefined>();
export const lm = {
  models: [] as unknown[],
  onDidChangeChatModels: modelsChanged.event,
  selectChatModels(selector?: unknown): Promise<unknown[]> {
    did("selectChatModels", selector);
    return Promise.resolve(lm.models);
  },
  tools: [] as { name: string; description: string; inputSchema?: object }[],
  /** What a tool gives. */
  given: (): unknown[] => [],
  async invokeTool(name: string, options: unknown): Promise<unknown> {
    did("invokeTool", name, options);
    return { content: await Promise.resolve(lm.given()) };
  },
};

export const env = {
  language: "en",
  /** Where the extension runs, when that is not the window's own machine. */
  remoteName: undefined as string | undefined,
  clipboard: {
    writeText(text: string): Promise<void> {
      did("clipboard", text);
      return Promise.resolve();
    },
  },
  openExternal(uri: Uri): Promise<boolean> {
    did("openExternal", uri.toString());
    return Promise.resolve(true);
  },
};
