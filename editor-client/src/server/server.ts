// The server as the rest of the extension sees it: found, started, kept running, asked.
import { setTimeout } from "node:timers/promises";
import {
  type CancellationToken,
  commands,
  type Disposable,
  EventEmitter,
  type ExtensionContext,
  type LogOutputChannel,
  window,
  workspace,
} from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { t } from "../language";
import type { Method, Params, Result, ServerState } from "../messages";
import { unlinked } from "../plain";
import type { ChatEvent, Commands, Requests } from "../protocol/types";
import { Connection, type Handler, type Tell } from "./connection";
import type { Extra } from "./extras";
import { type Launch, LEAST_PYTHON } from "./find";
import { Installation } from "./installation";
import { Lifecycle } from "./lifecycle";
import { cancelled, Refusal, refusalOf } from "./refusal";
import { ApiKey } from "./secrets";
import { guardedKeys, serverKeys, settingsFor } from "./settings";
import type { Wire } from "./wire";

/** Answers one request of the server's. */
export type Answer<M extends keyof Requests> = (
  params: Requests[M]["params"],
  token: CancellationToken,
  tell: Tell,
) => Requests[M]["result"] | Promise<Requests[M]["result"]>;

const MODELS = "codelaw/model/list";
/** Pauses in ms after which is looked whether new settings have brought another model. */
const RELOADING = [150, 600, 2_000];

/** Finds, starts and keeps the server; nothing runs before `start`. */
export class Server implements Wire, Disposable {
  readonly log: LogOutputChannel;
  readonly #states = new EventEmitter<ServerState>();
  readonly #events = new EventEmitter<ChatEvent>();
  readonly #modelChanges = new EventEmitter<undefined>();
  readonly #requests = new Map<string, Handler>();
  readonly #lifecycle: Lifecycle<Connection>;
  readonly #installation: Installation;
  readonly #key: ApiKey;
  readonly #keys: string[];
  readonly #guarded: ReadonlySet<string>;
  readonly #disposables: { dispose(): unknown }[];
  #middleware: Middleware = {};
  /** What the newest server was started with. */
  #launch: Launch | undefined;
  /** The connection whose model was asked for. */
  #asked: Connection | undefined;

  readonly onState = this.#states.event;
  readonly onEvent = this.#events.event;
  readonly onModelChanged = this.#modelChanges.event;

  constructor(context: ExtensionContext) {
    this.log = window.createOutputChannel("codelaw", { log: true });
    this.#installation = new Installation(context, this.log);
    this.#keys = serverKeys(context.extension.packageJSON);
    this.#guarded = guardedKeys(context.extension.packageJSON);
    this.#key = new ApiKey(context, () => void this.#settingsChanged());
    this.#lifecycle = new Lifecycle<Connection>({
      locate: () => this.#installation.locate(),
      connect: async (launch, lost, signal) => {
        this.#launch = launch;
        const folder = await this.#installation.folder();
        const { log } = this;
        const middleware = this.#withSettings();
        const onEvent = (event: ChatEvent) => this.#events.fire(event);
        const onModelChanged = () => this.modelChanged();
        const trusted = workspace.isTrusted;
        const options = { folder, log, middleware, requests: this.#requests, trusted, onEvent, onModelChanged };
        return await Connection.open(launch, options, lost, signal);
      },
      changed: (state) => this.#changed(state),
      log: (message) => this.log.info(message),
      now: () => Date.now(),
      words: t.server,
    });
    this.#disposables = [
      this.log,
      this.#states,
      this.#events,
      this.#modelChanges,
      this.#key,
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("codelaw.server.command")) void this.restart();
        else if (change.affectsConfiguration("codelaw")) void this.#settingsChanged();
      }),
      workspace.onDidGrantWorkspaceTrust(() => this.#trusted()),
    ];
  }

  get state(): ServerState {
    return this.#toldOfTrust(this.#lifecycle.state);
  }

  #toldOfTrust(state: ServerState): ServerState {
    return workspace.isTrusted ? state : { ...state, restricted: true };
  }

  /** Answer a request of the server's, of this one and of all that are started after it. Call it before `start`. */
  onRequest<M extends keyof Requests>(method: M, answer: Answer<M>): void {
    this.#requests.set(method, answer);
  }

  /** Let these see what goes to the editor and what comes from it. Call it before `start`. */
  use(middleware: Middleware): void {
    this.#middleware = middleware;
  }

  /** Search a server and start it; what becomes of it is told by `onState`. */
  start(): void {
    this.#lifecycle.start();
  }

  async restart(): Promise<void> {
    this.#installation.cancel();
    await this.#lifecycle.restart();
  }

  /** End the server; for the end of the window. */
  async stop(): Promise<void> {
    this.#installation.cancel();
    await this.#lifecycle.stop();
  }

  async request<M extends Method>(method: M, params: Params<M>, token?: CancellationToken): Promise<Result<M>> {
    const connection = await this.#lifecycle.ready();
    if (token?.isCancellationRequested) throw cancelled(t.server); // it was withdrawn while the server was not there
    if (!connection.methods.includes(method)) {
      const version = connection.version ?? "";
      throw new Refusal("method_not_found", t.server.tooOld(version), t.server.updateServer);
    }
    return await connection.request<Result<M>>(method, params, token);
  }

  async command<C extends keyof Commands>(command: C, params: Commands[C]["params"]): Promise<Commands[C]["result"]> {
    const connection = await this.#lifecycle.ready();
    return await connection.command<Commands[C]["result"]>(command, params);
  }

  /** Install the server that the extension carries, then start it; one that runs goes on until then. */
  async install(): Promise<void> {
    const updating = this.#lifecycle.current !== undefined;
    const tell = (message: string) => {
      if (!updating) this.#lifecycle.installing(t.server.beingInstalled(message));
    };
    tell(t.server.preparing);
    const result = await this.#installation.install(tell);
    if (result.kind === "installed") await this.#lifecycle.restart();
    else if (result.kind === "superseded") return;
    else if (updating) {
      if (result.kind === "failed") void window.showErrorMessage(unlinked(`codelaw: ${result.message}`));
    } else if (result.kind === "failed") this.#lifecycle.fail(result.message, result.actions);
    else await this.#lifecycle.restart(); // cancelled: what is missing is said again
  }

  /** Add packages to the private environment; gives whether a server that is started now has more than this one. */
  async add(extra: Extra): Promise<boolean> {
    return this.#launch !== undefined && (await this.#installation.add(extra, this.#launch));
  }

  /** Let the user choose a Python, by the Python extension where there is one, and search again. */
  async choosePython(): Promise<void> {
    const known = await commands.getCommands(true);
    if (known.includes("python.setInterpreter")) {
      await commands.executeCommand("python.setInterpreter");
    } else {
      const chosen = await window.showOpenDialog({
        title: t.server.pythonTitle(LEAST_PYTHON.join(".")),
        openLabel: t.server.usePython,
      });
      const file = chosen?.[0];
      if (file === undefined) return;
      await this.#installation.choose(file.fsPath);
    }
    await this.restart();
  }

  /** Ask for an API key; the server learns of it at once. */
  async setKey(): Promise<void> {
    await this.#key.ask();
  }

  async removeKey(): Promise<void> {
    await this.#key.remove();
  }

  showLogs(): void {
    this.log.show(true);
  }

  dispose(): void {
    void this.stop().finally(() => {
      for (const disposable of this.#disposables) disposable.dispose();
    });
  }

  #changed(state: ServerState): void {
    this.log.debug(`The server is ${state.phase} (session ${String(state.session)})`);
    this.#states.fire(this.#toldOfTrust(state));
    const { current } = this.#lifecycle;
    if (current !== undefined && current !== this.#asked) {
      this.#asked = current;
      void this.#tellTrust(current); // it may have been given while the server started
      void this.#learnModel(current);
    }
  }

  /** Other models than before may be asked. */
  modelChanged(): void {
    const { current } = this.#lifecycle;
    if (current === undefined) return;
    void this.#learnModel(current);
    this.#modelChanges.fire(undefined);
  }

  /** Whether the offline model answers, for want of a key; asked of the server, who knows all that is configured. */
  async #learnModel(connection: Connection): Promise<void> {
    if (!connection.methods.includes(MODELS)) return;
    try {
      const { models } = await connection.request<Result<typeof MODELS>>(MODELS, {});
      const offline = models.some(({ current, provider }) => current && provider === "offline");
      if (offline !== this.#lifecycle.state.offline) this.#lifecycle.learn(connection, { offline });
    } catch (error) {
      this.log.warn(`The models could not be listed: ${refusalOf(error, t.server).message}`);
    }
  }

  /** The server reads its settings again, and then it may have another model. */
  async #settingsChanged(): Promise<void> {
    const connection = this.#lifecycle.current;
    if (connection === undefined) return; // it reads them when it starts
    try {
      await connection.settingsChanged();
      for (const pause of RELOADING) {
        await setTimeout(pause); // that it has read them is not told
        if (connection !== this.#lifecycle.current) return;
        await this.#learnModel(connection);
      }
    } catch (error) {
      this.log.warn(`The settings could not be sent: ${refusalOf(error, t.server).message}`);
    }
  }

  #trusted(): void {
    this.#states.fire(this.state);
    // What was not looked at before may hold a server.
    if (this.state.phase === "missing") void this.restart();
    else void this.#trustGranted();
  }

  async #trustGranted(): Promise<void> {
    const { current } = this.#lifecycle;
    if (current !== undefined) await this.#tellTrust(current);
    await this.#settingsChanged();
  }

  async #tellTrust(connection: Connection): Promise<void> {
    if (connection.trusted || !workspace.isTrusted) return;
    try {
      await connection.trust();
    } catch (error) {
      this.log.warn(`The server could not be told of the trust in the folder: ${refusalOf(error, t.server).message}`);
    }
  }

  #withSettings(): Middleware {
    const read = async (section: string | undefined): Promise<unknown> => {
      if (section !== "codelaw") return null;
      const configuration = workspace.getConfiguration("codelaw");
      const apiKey = await this.#key.read();
      const options = { trusted: workspace.isTrusted, apiKey, guarded: this.#guarded };
      return settingsFor(this.#keys, (key) => configuration.inspect(key), options);
    };
    return {
      ...this.#middleware,
      workspace: {
        ...this.#middleware.workspace,
        configuration: ({ items }) => Promise.all(items.map((item) => read(item.section))),
      },
    };
  }
}
