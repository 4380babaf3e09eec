// An editor at the outside edge: as much of `vscode` as the language client and the server's part of the extension need.
import { mkdtempSync } from "node:fs";
import Module from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

type Listener = (value: unknown) => void;

export class Disposable {
  constructor(readonly dispose: () => void = () => undefined) {}
  static from(...all: Disposable[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
}

export class EventEmitter {
  readonly #listeners = new Set<Listener>();
  readonly event = (listener: Listener): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(value: unknown): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

const uri = (file: string) => ({
  scheme: "file",
  fsPath: file,
  path: file,
  toString: () => pathToFileURL(file).toString(),
});

/** Everything that is not spelt out: events that never come, registrations, classes and numbers of enumerations. */
const anything = (own: Record<string, unknown>): object =>
  new Proxy(own, {
    has: () => true,
    get: (target, name) => {
      if (typeof name === "symbol" || name in target || name === "then") return target[name as string];
      if (/^on(Did|Will)/.test(name)) return () => new Disposable();
      if (/^(register|create)/.test(name)) return () => new Disposable();
      if (!/^[A-Z]/.test(name)) return undefined;
      // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- it is there to be extended
      class Unknown {}
      target[name] = new Proxy(Unknown, {
        get: (type, member): unknown =>
          typeof member === "symbol" || member in type || !/^[A-Z]/.test(member) ? Reflect.get(type, member) : member,
      });
      return target[name];
    },
  });

/** One window of the fake editor, with what is set in it and what it has logged. */
export const editor = () => {
  const home = mkdtempSync(path.join(os.tmpdir(), "codelaw-editor-"));
  const log: string[] = [];
  const settings = new Map<string, { globalValue?: unknown; workspaceValue?: unknown }>();
  const secrets = new Map<string, string>();
  const configurationChanged = new EventEmitter();
  const secretChanged = new EventEmitter();
  const commands = new Map<string, unknown>();
  const write = (level: string) => (line: unknown) => void log.push(`${level} ${String(line)}`);
  const channel = {
    logLevel: 1,
    onDidChangeLogLevel: () => new Disposable(),
    trace: write("trace"),
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    appendLine: write("line"),
    show: () => undefined,
    dispose: () => undefined,
  };
  const vscode = anything({
    __esModule: true,
    Disposable,
    EventEmitter,
    version: "1.139.0",
    LogLevel: { Off: 0, Trace: 1, Debug: 2, Info: 3, Warning: 4, Error: 5 },
    CancellationError: class extends Error {},
    Uri: { file: uri, parse: (text: string) => ({ ...uri(text), toString: () => text }) },
    env: { language: "en", appName: "Fake Editor" },
    languages: anything({ match: () => 0 }),
    extensions: { getExtension: () => undefined },
    commands: {
      registerCommand: (name: string, handler: unknown) => {
        if (commands.has(name)) throw new Error(`command '${name}' already exists`);
        commands.set(name, handler);
        return new Disposable(() => commands.delete(name));
      },
      getCommands: () => Promise.resolve([...commands.keys()]),
    },
    window: anything({
      createOutputChannel: () => channel,
      visibleTextEditors: [],
      tabGroups: anything({ all: [] }),
      showInformationMessage: () => Promise.resolve(undefined),
      showWarningMessage: (message: string) => {
        log.push(`warned ${message}`);
        return Promise.resolve(undefined);
      },
      withProgress: (_options: unknown, work: (progress: unknown, token: unknown) => unknown) =>
        work({ report: () => undefined }, { onCancellationRequested: () => new Disposable() }),
      showErrorMessage: (message: string) => {
        log.push(`popup ${message}`);
        return Promise.resolve(undefined);
      },
    }),
    workspace: anything({
      isTrusted: true,
      textDocuments: [],
      notebookDocuments: [],
      workspaceFolders: [{ uri: uri(home), name: "home", index: 0 }],
      onDidChangeConfiguration: configurationChanged.event,
      getConfiguration: (section: string) => ({
        get: (key: string, otherwise: unknown) => settings.get(`${section}.${key}`)?.globalValue ?? otherwise,
        inspect: (key: string) => settings.get(`${section}.${key}`),
      }),
    }),
  });
  return {
    vscode,
    home,
    log,
    commands,
    secrets,
    /** Set a setting, as the settings page does it. */
    set(key: string, globalValue: unknown): void {
      settings.set(key, { globalValue });
      configurationChanged.fire({ affectsConfiguration: (section: string) => `${key}.`.startsWith(`${section}.`) });
    },
    context: {
      extensionPath: path.join(home, "extension"),
      extension: { packageJSON: {} as unknown },
      globalStorageUri: uri(path.join(home, "storage")),
      globalState: { get: () => undefined, update: () => Promise.resolve() },
      secrets: {
        onDidChange: secretChanged.event,
        get: (key: string) => Promise.resolve(secrets.get(key)),
        store: (key: string, value: string) => {
          secrets.set(key, value);
          secretChanged.fire({ key });
          return Promise.resolve();
        },
        delete: (key: string) => {
          secrets.delete(key);
          secretChanged.fire({ key });
          return Promise.resolve();
        },
      },
    },
  };
};

/** Let packages that `require("vscode")` have the fake one. */
export const provide = (vscode: object): void => {
  const loader = Module as unknown as { _load: (name: string, ...others: unknown[]) => unknown };
  const load = loader._load.bind(Module);
  loader._load = (name, ...others) => (name === "vscode" ? vscode : load(name, ...others));
};
