// One process of the server with the language client that speaks to it.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { CancellationToken, LogOutputChannel } from "vscode";
import {
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  ExecuteCommandRequest,
  type GenericRequestHandler,
  LanguageClient,
  type LanguageClientOptions,
  type Message,
  type Middleware,
  ResponseError,
  RevealOutputChannelOn,
  type StaticFeature,
} from "vscode-languageclient/node";
import { t } from "../language";
import { unlinked } from "../plain";
import type { ChatEvent, Notifications } from "../protocol/types";
import { announced, capabilitiesIn } from "./announced";
import { reported } from "./diagnostics";
import type { Launch } from "./find";
import type { Connected } from "./lifecycle";
import { killTree } from "./process";
import { cancelled, disconnected, Refusal, refusalOf } from "./refusal";

const TRUST = "codelaw/workspace/editorTrust";
const EVENT: keyof Notifications = "codelaw/chat/event";
const MODEL_CHANGED: keyof Notifications = "codelaw/model/changed";
const PROGRESS = "$/progress";
const REQUEST_FAILED = -32803;
/** So long may a server take to introduce itself. */
const START_TIMEOUT = 60_000;
/** So long may it take to end once it was told to; then it is killed. */
const STOP_TIMEOUT = 3_000;
/** So long is read on after the process has ended, for what it said last. */
const DRAIN = 100;

/** Tells a part of an answer ahead of it. */
export type Tell = (part: unknown) => Promise<void>;
/** Answers a request of the server's; what its params are is known by its method. */
export type Handler = GenericRequestHandler<unknown, unknown>;

export interface ConnectionOptions {
  /** Where the process runs: never in a workspace, whose modules Python would import. */
  folder: string;
  log: LogOutputChannel;
  middleware: Middleware;
  requests: ReadonlyMap<string, Handler>;
  /** The editor trusts the folder. */
  trusted: boolean;
  onEvent(event: ChatEvent): void;
  /** The server's settings have changed, and another model may be asked. */
  onModelChanged(): void;
}

/** Commands of the palette that have the name of one of the server's, and ask it by a request. */
const OWN: readonly string[] = ["codelaw.search"];

/** Announces what the extension can do, and keeps the commands that it has itself. */
const abilities = (trusted: boolean): StaticFeature => ({
  fillClientCapabilities: (capabilities) => {
    const given: unknown = capabilities.experimental;
    const others = typeof given === "object" ? given : {};
    capabilities.experimental = { ...others, codelaw: capabilitiesIn(trusted) };
  },
  preInitialize: ({ executeCommandProvider: offered }) => {
    if (offered !== undefined) offered.commands = offered.commands.filter((name) => !OWN.includes(name));
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
});

/** The log, for the trace of messages: one of them gives the server its settings and with them the key. */
const withoutKey = (log: LogOutputChannel): LogOutputChannel => ({
  ...log,
  get logLevel() {
    return log.logLevel;
  },
  trace: (message) => log.trace(message.includes('"apiKey"') ? "A message with the key is not written down." : message),
});

const TOLD = new Set<unknown>(["window/showMessage", "window/showMessageRequest"]);

/** What the server has the editor tell may quote a file of the workspace: no link comes out of it. */
const harmless = (message: Message): Message => {
  if (!("method" in message) || !TOLD.has(message.method) || !("params" in message)) return message;
  const { params } = message;
  if (!isFields(params) || typeof params["message"] !== "string") return message;
  return Object.assign(message, { params: { ...params, message: unlinked(params["message"]) } });
};

const isFields = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The language client, without its own pop-ups: what is wrong is told by the state. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** A server that is up. */
export class Connection implements Connected {
  readonly version: string | undefined;
  readonly methods: string[];
  readonly message: string;
  readonly #client: LanguageClient;
  readonly #process: ChildProcess;
  readonly #gone: Promise<never>;

  /** What the server was told last of the editor's trust in the folder. */
  trusted: boolean;

  private constructor(client: LanguageClient, child: ChildProcess, gone: Promise<never>, trusted: boolean) {
    this.trusted = trusted;
    const { version, methods, message } = announced(client.initializeResult, t.server);
    this.version = version;
    this.methods = methods;
    this.message = message;
    this.#client = client;
    this.#process = child;
    this.#gone = gone;
  }

  /**
   * Start a server and introduce the editor to it.
   * @throws Refusal when it does not get up; nothing of it is left then
   */
  static async open(
    launch: Launch,
    options: ConnectionOptions,
    lost: (reason: string) => void,
    signal: AbortSignal,
  ): Promise<Connection> {
    if (signal.aborted) throw cancelled(t.server);
    const child = spawn(launch.command, launch.args, {
      cwd: options.folder,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    options.log.info(`The server is process ${String(child.pid)}`);
    createInterface({ input: child.stderr }).on("line", (line) => options.log.info(`[server] ${line}`));
    // A grandchild may hold on to the stream; the connection must end with the process all the same.
    child.once("exit", () => setTimeout(() => child.stdout.destroy(), DRAIN));
    child.stdin.on("error", (error) => options.log.debug(`The server does not read: ${error.message}`));
    const gone = new Promise<never>((_resolve, reject) => {
      child.once("error", (error) => reject(disconnected(t.server.notStarted(error.message))));
      child.once("exit", (status, by) => reject(disconnected(ending(status, by))));
    });
    gone.catch((error: unknown) => lost(refusalOf(error, t.server).message));
    const client = new QuietClient(
      "codelaw-server",
      "codelaw",
      () => Promise.resolve({ reader: child.stdout, writer: child.stdin, detached: true }),
      clientOptions(options, () => setTimeout(() => killTree(child), DRAIN)),
    );
    client.registerFeature(abilities(options.trusted));
    for (const [method, handler] of options.requests) client.onRequest(method, answering(client, handler));
    client.onNotification(EVENT, (event: ChatEvent) => options.onEvent(event));
    client.onNotification(MODEL_CHANGED, () => options.onModelChanged());
    const limit = timeLimit(signal);
    try {
      await Promise.race([client.start(), gone, limit.passed]);
      return new Connection(client, child, gone, options.trusted);
    } catch (error) {
      killTree(child);
      throw error;
    } finally {
      limit.clear();
    }
  }

  /** @throws Refusal of the server, `cancelled`, or `disconnected` */
  async request<R>(method: string, params: unknown, token?: CancellationToken): Promise<R> {
    try {
      // A token that is not there would count as a second parameter.
      const rest = token === undefined ? [] : [token];
      return await Promise.race([this.#client.sendRequest<R>(method, params, ...rest), this.#gone]);
    } catch (error) {
      const refusal = refusalOf(error, t.server);
      // The stream ends before the process does: who hears of it can ask again at once and gets the next server.
      if (refusal.code === "disconnected") await this.#gone.catch(() => undefined);
      throw refusal;
    }
  }

  /** Run a command of the server's. @throws Refusal */
  command<R>(command: string, params: unknown): Promise<R> {
    return this.request<R>(ExecuteCommandRequest.method, { command, arguments: [params] });
  }

  /** Tell the server that the editor trusts the folder now. */
  async trust(): Promise<void> {
    this.trusted = true;
    await this.#client.sendNotification(TRUST, { trusted: true });
  }

  /** Let the server read its settings again. */
  async settingsChanged(): Promise<void> {
    await this.#client.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
  }

  async stop(): Promise<void> {
    const child = this.#process;
    const running = child.exitCode === null && child.signalCode === null;
    const ended = running ? new Promise<void>((resolve) => child.once("exit", () => resolve())) : Promise.resolve();
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT);
    try {
      await this.#client.dispose(STOP_TIMEOUT);
    } finally {
      child.stdin?.end(); // the end of its input ends the server as well
      await ended;
      clearTimeout(late);
    }
  }
}

/** A handler as the client wants it: its parts are progress, and what it refuses has the code in its data. */
const answering =
  (client: LanguageClient, handler: Handler) =>
  async (params: unknown, token: CancellationToken): Promise<unknown> => {
    const to = isFields(params) ? params["partialResultToken"] : undefined;
    try {
      return await handler(params, token, (value: unknown) => client.sendNotification(PROGRESS, { token: to, value }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new ResponseError(REQUEST_FAILED, error.message, { code: error.code });
    }
  };

const ending = (status: number | null, by: NodeJS.Signals | null): string =>
  by === null ? t.server.endedWith(String(status)) : t.server.endedBy(by);

const clientOptions = (options: ConnectionOptions, closed: () => void): LanguageClientOptions => ({
  documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
  outputChannel: options.log,
  traceOutputChannel: withoutKey(options.log),
  revealOutputChannelOn: RevealOutputChannelOn.Never,
  diagnosticCollectionName: "codelaw",
  middleware: { ...reported(), ...options.middleware },
  connectionOptions: { messageStrategy: { handleMessage: (message, next) => next(harmless(message)) } },
  // The one who owns this connection decides what is done when it ends, and hears of a failed start by its error.
  initializationFailedHandler: () => false,
  errorHandler: {
    error: () => ({ action: ErrorAction.Continue, handled: true }),
    closed: () => {
      closed(); // a server that cannot be spoken to is none
      return { action: CloseAction.DoNotRestart, handled: true, message: t.server.connectionEnded };
    },
  },
});

const timeLimit = (signal: AbortSignal): { passed: Promise<never>; clear(): void } => {
  const { promise: passed, reject } = withReject();
  const timer = setTimeout(() => reject(disconnected(t.server.silent(START_TIMEOUT / 1000))), START_TIMEOUT);
  const abort = () => reject(cancelled(t.server));
  signal.addEventListener("abort", abort);
  passed.catch(() => undefined); // who waits hears of it; nobody may
  return {
    passed,
    clear: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
};

const withReject = (): { promise: Promise<never>; reject: (error: Error) => void } => {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, give) => (reject = give));
  return { promise, reject };
};
