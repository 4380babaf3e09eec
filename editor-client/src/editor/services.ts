// Answers what the server asks of the editor: to save, and what its language servers know.
import {
  CancellationError,
  type CancellationToken,
  CodeAction,
  CodeActionKind,
  commands,
  type Diagnostic,
  type Disposable,
  type DocumentSymbol,
  languages,
  type Location,
  type LocationLink,
  type SymbolInformation,
  type TextDocument,
  Uri,
  WorkspaceEdit,
  workspace,
} from "vscode";
import type { DocumentDiagnostics, QuickFix, Requests } from "../protocol/types";
import type { Answer, Server } from "../server/server";
import { diagnosticOf, locationOf, nestedOf, positionOf, rangeFrom, symbolOf, workspaceEditOf } from "./shapes";
import type { Terminals } from "./terminals";

/** The server asks for up to two seconds, and this much of it is spent waiting for a language server. */
const PATIENCE_MS = 1_900;
/** Several sources report one after the other: what comes within this time belongs together. */
const SETTLE_MS = 120;
const MOST_DOCUMENTS = 2_000;
const MOST_ITEMS = 20_000;
/** Quick fixes whose edit is worked out. */
const MOST_FIXES = 20;

/** Symbols of a project that are told. */
const MOST_SYMBOLS = 500;

/** What the server asks of the editor, but for approvals and what is lent. */
type Asked = Exclude<
  Extract<keyof Requests, `codelaw/editor/${string}`>,
  `codelaw/editor/${"model" | "tool"}${string}`
>;
export type Services = {
  readonly [M in Asked]: (params: Requests[M]["params"], token: CancellationToken) => ReturnType<Answer<M>>;
};

/** Which text the diagnostics of each document are about: the version it had when they were last reported. */
export class Reported implements Disposable {
  readonly #versions = new Map<string, number>();
  /** Languages in which somebody has reported on a document, if only that nothing is wrong. */
  readonly #languages = new Set<string>();
  readonly #listening: Disposable[];
  readonly #waiting = new Set<() => void>();

  constructor() {
    for (const document of workspace.textDocuments) {
      if (languages.getDiagnostics(document.uri).length > 0) this.#heard(document);
    }
    this.#listening = [
      languages.onDidChangeDiagnostics(({ uris }) => {
        for (const uri of uris) {
          const document = documentAt(uri);
          if (document !== undefined) this.#heard(document);
        }
        for (const wake of [...this.#waiting]) wake();
      }),
      workspace.onDidCloseTextDocument(({ uri }) => this.#versions.delete(uri.toString())),
    ];
  }

  of(uri: Uri): number | undefined {
    return this.#versions.get(uri.toString());
  }

  /** Whether anybody can be expected to report on a document: somebody has, on it or on another of its language. */
  expects(uri: Uri): boolean {
    const document = documentAt(uri);
    return this.of(uri) !== undefined || (document !== undefined && this.#languages.has(document.languageId));
  }

  /** Wait until diagnostics of that version are there and have settled, or patience is over. */
  async wait(uri: Uri, version: number, token: CancellationToken): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    while (!this.#has(uri, version) && Date.now() < end && !token.isCancellationRequested) {
      await this.#next(end - Date.now(), token);
    }
    if (this.#has(uri, version)) await this.#next(Math.min(SETTLE_MS, Math.max(0, end - Date.now())), token);
  }

  dispose(): void {
    for (const one of this.#listening) one.dispose();
    for (const wake of [...this.#waiting]) wake();
  }

  #heard(document: TextDocument): void {
    this.#versions.set(document.uri.toString(), document.version);
    this.#languages.add(document.languageId);
  }

  #has(uri: Uri, version: number): boolean {
    const known = this.of(uri);
    return known !== undefined && known >= version;
  }

  /** The next report of any document, the end of the time or the withdrawal. */
  #next(milliseconds: number, token: CancellationToken): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        listening.dispose();
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      const listening = token.onCancellationRequested(done);
      this.#waiting.add(done);
    });
  }
}

/** Answer `codelaw/editor/*`. */
export function answerServices(server: Pick<Server, "onRequest">, reported: Reported, terminals: Terminals): void {
  const answers = services(reported, terminals);
  server.onRequest("codelaw/editor/save", answers["codelaw/editor/save"]);
  server.onRequest("codelaw/editor/diagnostics", answers["codelaw/editor/diagnostics"]);
  server.onRequest("codelaw/editor/definition", answers["codelaw/editor/definition"]);
  server.onRequest("codelaw/editor/references", answers["codelaw/editor/references"]);
  server.onRequest("codelaw/editor/rename", answers["codelaw/editor/rename"]);
  server.onRequest("codelaw/editor/quickFix", answers["codelaw/editor/quickFix"]);
  server.onRequest("codelaw/editor/symbols", answers["codelaw/editor/symbols"]);
  server.onRequest("codelaw/editor/outline", answers["codelaw/editor/outline"]);
  server.onRequest("codelaw/editor/terminal", answers["codelaw/editor/terminal"]);
}

/** The answers, by the method that asks. */
export function services(reported: Reported, terminals: Terminals): Services {
  return {
    "codelaw/editor/save": async ({ uris }) => {
      const wanted = new Set(uris.map((uri) => Uri.parse(uri).toString()));
      const open = workspace.textDocuments.filter(
        (document) => document.isDirty && !document.isUntitled && wanted.has(document.uri.toString()),
      );
      const saved = await Promise.all(open.map(async (document) => ((await document.save()) ? document.uri : null)));
      return { saved: saved.flatMap((uri) => (uri === null ? [] : [uri.toString()])) };
    },

    "codelaw/editor/diagnostics": async ({ uri, version }, token) => {
      if (uri === undefined) {
        return languages
          .getDiagnostics()
          .filter(([, found]) => found.length > 0)
          .slice(0, MOST_DOCUMENTS)
          .map(([document, found]) => reportOf(reported, document, found));
      }
      const asked = Uri.parse(uri);
      if (version !== undefined) {
        if (!reported.expects(asked)) return null;
        await reported.wait(asked, version, token);
      }
      return [reportOf(reported, asked, languages.getDiagnostics(asked))];
    },

    "codelaw/editor/definition": async ({ uri, position }, token) =>
      places(await provided("vscode.executeDefinitionProvider", token, await open(uri), positionOf(position))),

    "codelaw/editor/references": async ({ uri, position }, token) =>
      places(await provided("vscode.executeReferenceProvider", token, await open(uri), positionOf(position))),

    "codelaw/editor/rename": async ({ uri, position, newName }, token) => {
      const command = "vscode.executeDocumentRenameProvider";
      const edit = await provided(command, token, await open(uri), positionOf(position), newName);
      return edit instanceof WorkspaceEdit ? workspaceEditOf(edit, workspace.textDocuments) : null;
    },

    "codelaw/editor/quickFix": async ({ uri, range }, token) => {
      const command = "vscode.executeCodeActionProvider";
      const kind = CodeActionKind.QuickFix.value;
      const found = await provided(command, token, await open(uri), rangeFrom(range), kind, MOST_FIXES);
      if (!Array.isArray(found)) return null;
      return found.flatMap((action: unknown): QuickFix[] =>
        action instanceof CodeAction && action.edit !== undefined && action.disabled === undefined
          ? [{ title: action.title, edit: workspaceEditOf(action.edit, workspace.textDocuments) }]
          : [],
      );
    },

    "codelaw/editor/symbols": async ({ query }, token) => {
      const found = await provided("vscode.executeWorkspaceSymbolProvider", token, query);
      return Array.isArray(found) ? found.filter(isSymbol).slice(0, MOST_SYMBOLS).map(symbolOf) : null;
    },

    "codelaw/editor/outline": async ({ uri }, token) => {
      const found = await provided("vscode.executeDocumentSymbolProvider", token, await open(uri));
      if (!Array.isArray(found)) return null;
      const nested = found.filter(isNested).slice(0, MOST_ITEMS).map(nestedOf);
      return nested.length > 0 ? nested : found.filter(isSymbol).slice(0, MOST_ITEMS).map(symbolOf);
    },

    "codelaw/editor/terminal": () => terminals.last(),
  };
}

function reportOf(reported: Reported, uri: Uri, found: readonly Diagnostic[]): DocumentDiagnostics {
  const version = documentAt(uri) === undefined ? undefined : reported.of(uri);
  return {
    uri: uri.toString(),
    ...(version === undefined ? {} : { version }),
    diagnostics: found.slice(0, MOST_ITEMS).map(diagnosticOf),
  };
}

/** The document, so that the language's extension is there and has been told of it. */
async function open(uri: string): Promise<Uri> {
  return (await workspace.openTextDocument(Uri.parse(uri))).uri;
}

/** What a provider says; VS Code's commands take no token, so a withdrawn question is not waited for. */
async function provided(command: string, token: CancellationToken, ...args: unknown[]): Promise<unknown> {
  if (token.isCancellationRequested) throw new CancellationError();
  let listening: Disposable | undefined;
  const withdrawn = new Promise<never>((_resolve, reject) => {
    listening = token.onCancellationRequested(() => reject(new CancellationError()));
  });
  try {
    return await Promise.race([commands.executeCommand(command, ...args), withdrawn]);
  } finally {
    listening?.dispose();
  }
}

function places(found: unknown): ReturnType<typeof locationOf>[] | null {
  if (!Array.isArray(found)) return null;
  return found.filter(isPlace).slice(0, MOST_ITEMS).map(locationOf);
}

function isSymbol(value: unknown): value is SymbolInformation {
  return typeof value === "object" && value !== null && "location" in value && isPlace(value.location);
}

function isNested(value: unknown): value is DocumentSymbol {
  return typeof value === "object" && value !== null && "selectionRange" in value && "children" in value;
}

function isPlace(value: unknown): value is Location | LocationLink {
  if (typeof value !== "object" || value === null) return false;
  return "targetUri" in value ? "targetRange" in value : "uri" in value && "range" in value;
}

function documentAt(uri: Uri): TextDocument | undefined {
  const name = uri.toString();
  return workspace.textDocuments.find((document) => document.uri.toString() === name);
}
