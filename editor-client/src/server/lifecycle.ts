// The life of the server: searching, starting, ready, crashed, started again. No import of `vscode`.
import type { ServerWords } from "../languages/en/server";
import type { ServerState } from "../messages";
import type { Launch, Located } from "./find";
import { disconnected, type Refusal, refusalOf } from "./refusal";
import { remediesIn } from "./remedies";

/** A server that has introduced itself. */
export interface Connected {
  readonly version: string | undefined;
  readonly methods: string[];
  /** What to tell the user about this server, if anything. */
  readonly message: string;
  /** Say goodbye and wait for the end of the process. */
  stop(): Promise<void>;
}

/** What the lifecycle needs of the world. */
export interface World<C extends Connected> {
  locate(): Promise<Located>;
  /**
   * Start it and introduce the editor. `lost` is called if it ends by itself afterwards; an abort of `signal` before it
   * is ready ends it and rejects.
   */
  connect(launch: Launch, lost: (reason: string) => void, signal: AbortSignal): Promise<C>;
  changed(state: ServerState): void;
  log(message: string): void;
  now(): number;
  /** What the user is told in. */
  readonly words: ServerWords;
}

/** After so many restarts within `CRASH_WINDOW` it is given up. */
export const MAX_RESTARTS = 5;
export const CRASH_WINDOW = 180_000;
const FIRST_DELAY = 250;

interface Waiter<C> {
  resolve(connection: C): void;
  reject(refusal: Refusal): void;
}

/** Keeps one server running. Each beginning has a number; what an older one still has to say is not listened to. */
export class Lifecycle<C extends Connected> {
  #state: ServerState = {
    phase: "stopped",
    session: 0,
    message: "",
    actions: [],
    methods: [],
    offline: false,
  };
  #beginning = 0;
  #connection: C | undefined;
  #known: Launch | undefined;
  #crashes: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ending: Promise<void> = Promise.resolve();
  #starting = new AbortController();
  readonly #waiters = new Set<Waiter<C>>();
  readonly #words: ServerWords;
  readonly #remedies: ReturnType<typeof remediesIn>;

  constructor(private readonly world: World<C>) {
    this.#words = world.words;
    this.#remedies = remediesIn(world.words);
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The server that is ready just now. */
  get current(): C | undefined {
    return this.#connection;
  }

  /** Search and start; does nothing when that is under way or done. */
  start(): void {
    if (this.#state.phase !== "stopped" && this.#state.phase !== "missing") return;
    this.#set({ phase: "searching", message: "", actions: [] });
    void this.#begin();
  }

  /** End what runs and start anew, searching again. */
  async restart(): Promise<void> {
    this.#crashes = [];
    this.#known = undefined;
    this.#leave();
    this.#set({ phase: "searching", message: "", actions: [] });
    await this.#begin();
  }

  /** End for good; requests that wait are refused. */
  async stop(): Promise<void> {
    this.#leave();
    this.#set({ phase: "stopped", message: "", actions: [this.#remedies.restart] });
    this.#refuse(disconnected(this.#words.wasStopped));
    await this.#ending;
  }

  /** While the server is installed nothing is searched or started; ended by `restart` or `fail`. */
  installing(message: string): void {
    this.#leave();
    this.#set({ phase: "installing", message, actions: [this.#remedies.logs] });
  }

  /** There is no server to start, and this is why. */
  fail(message: string, actions: ServerState["actions"]): void {
    this.#leave();
    this.#missing(message, actions);
  }

  /** Lay something learnt of the running server over its state. */
  learn(connection: C, what: Partial<Pick<ServerState, "offline" | "message">>): void {
    if (connection === this.#connection) this.#set(what);
  }

  /**
   * The server, as soon as it is ready.
   * @throws Refusal `disconnected` when none is to be expected
   */
  ready(): Promise<C> {
    if (this.#connection !== undefined) return Promise.resolve(this.#connection);
    const { phase, message } = this.#state;
    const hopeless = phase === "stopped" || phase === "missing" || (phase === "crashed" && this.#timer === undefined);
    if (hopeless) return Promise.reject(disconnected(message || this.#words.notRunning, this.#words.restartServer));
    return new Promise((resolve, reject) => this.#waiters.add({ resolve, reject }));
  }

  async #begin(): Promise<void> {
    const mine = ++this.#beginning;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#ending;
      if (mine !== this.#beginning) return;
      const launch = this.#known ?? (await this.#search(mine));
      if (launch === undefined || mine !== this.#beginning) return;
      await this.#connect(mine, launch);
    } catch (error) {
      this.#lost(mine, refusalOf(error, this.#words).message);
    }
  }

  async #search(mine: number): Promise<Launch | undefined> {
    if (this.#state.phase !== "searching") this.#set({ phase: "searching", message: "", actions: [] });
    const located = await this.world.locate();
    if (mine !== this.#beginning) return undefined;
    for (const { place, problem } of located.tried) this.world.log(`Not taken: ${place}: ${problem}`);
    if (located.kind === "found") return located.launch;
    this.#missing(located.message, located.actions);
    return undefined;
  }

  async #connect(mine: number, launch: Launch): Promise<void> {
    this.world.log(`Starting codelaw ${launch.version} from ${launch.origin}`);
    this.#set({
      phase: "starting",
      session: this.#state.session + 1,
      message: "",
      actions: [this.#remedies.logs],
      origin: launch.origin,
      version: launch.version,
    });
    this.#starting = new AbortController();
    const connection = await this.world.connect(launch, (reason) => this.#lost(mine, reason), this.#starting.signal);
    if (mine !== this.#beginning) {
      this.#ending = connection.stop();
      return;
    }
    this.#known = launch;
    this.#connection = connection;
    const version = connection.version ?? launch.version;
    const message = launch.outdated ? this.#words.newerCarried : connection.message;
    const actions = launch.outdated ? [this.#remedies.update] : [];
    this.#set({ phase: "ready", message, actions, version, methods: connection.methods });
    for (const waiter of this.#waiters) waiter.resolve(connection);
    this.#waiters.clear();
  }

  /** The server of this beginning is gone, or did not get up. */
  #lost(mine: number, reason: string): void {
    if (mine !== this.#beginning) return;
    if (this.#connection === undefined) this.#known = undefined; // it never got up: look again
    this.#beginning++;
    this.#connection = undefined;
    const now = this.world.now();
    this.#crashes = [...this.#crashes.filter((at) => now - at < CRASH_WINDOW), now];
    this.world.log(`The server is gone: ${reason}`);
    if (this.#crashes.length > MAX_RESTARTS) {
      const message = this.#words.givenUp(this.#crashes.length, reason);
      this.#set({ phase: "crashed", message, actions: [this.#remedies.restart, this.#remedies.logs] });
      this.#refuse(disconnected(message, this.#words.logsTellWhy));
      return;
    }
    this.#timer = setTimeout(() => void this.#begin(), FIRST_DELAY * 2 ** (this.#crashes.length - 1));
    this.#set({ phase: "crashed", message: this.#words.startedAgain, actions: [this.#remedies.logs] });
  }

  /** Turn away from what runs or begins. */
  #leave(): void {
    this.#beginning++;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#starting.abort();
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection === undefined) return;
    this.#ending = connection.stop().catch((error: unknown) => {
      this.world.log(`The server did not end well: ${refusalOf(error, this.#words).message}`);
    });
  }

  #missing(message: string, actions: ServerState["actions"]): void {
    this.world.log(message);
    this.#set({ phase: "missing", message, actions });
    this.#refuse(disconnected(message));
  }

  #refuse(refusal: Refusal): void {
    for (const waiter of this.#waiters) waiter.reject(refusal);
    this.#waiters.clear();
  }

  #set(change: Partial<ServerState>): void {
    this.#state = { ...this.#state, ...change };
    this.world.changed(this.#state);
  }
}
