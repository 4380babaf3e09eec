// Finding and installing the server in this editor: its settings, its storage, its progress bar.
import { mkdir } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type ExtensionContext, type LogOutputChannel, ProgressLocation, window, workspace } from "vscode";
import { t } from "../language";
import type { ServerState } from "../messages";
import {
  findPython,
  findServer,
  type Interpreter,
  type Launch,
  type Located,
  type Probe,
  type Python,
  whyNoPython,
} from "./find";
import { addExtra, type Extra, hasExtra } from "./extras";
import { bundleIn, environmentsIn, install, use } from "./install";
import { onPath, outside, run } from "./process";
import { interpreters } from "./python";
import { refusalOf } from "./refusal";
import { remediesIn } from "./remedies";

/** A cold Python on a slow disk takes its time to say its version. */
const PROBE_TIMEOUT = 20_000;
const CHOSEN = "codelaw.python";

export type Installed =
  | { kind: "installed" }
  | { kind: "cancelled" }
  /** Something else was begun meanwhile, which goes on by itself. */
  | { kind: "superseded" }
  | { kind: "failed"; message: string; actions: ServerState["actions"] };

/** What this editor has of the server, and how it gets one. */
export class Installation {
  #running: AbortController | undefined;

  constructor(
    private readonly context: ExtensionContext,
    private readonly log: LogOutputChannel,
  ) {}

  /** The extension's own folder, which is there afterwards. */
  async folder(): Promise<string> {
    const folder = this.context.globalStorageUri.fsPath;
    await mkdir(folder, { recursive: true });
    return folder;
  }

  /** Search the server. */
  async locate(): Promise<Located> {
    const storage = await this.folder();
    const bundle = await this.#bundle();
    const environments = await environmentsIn(storage, bundle);
    const located = await findServer(this.#probe(storage), {
      command: command(),
      interpreters: await this.#interpreters(),
      environments,
      bundled: bundle?.version,
      words: t.server,
    });
    for (const { folder } of environments) {
      if (located.kind === "found" && located.launch.command.startsWith(folder + path.sep)) await use(folder);
    }
    return located;
  }

  /** Use this Python from now on, beside what the Python extension has. */
  async choose(python: string): Promise<void> {
    await this.context.globalState.update(CHOSEN, python);
  }

  /** Install the server that the extension carries, with progress; never throws. */
  async install(tell: (message: string) => void): Promise<Installed> {
    this.cancel();
    const running = new AbortController();
    this.#running = running;
    try {
      return await this.#install(running, tell);
    } catch (error) {
      if (this.#running !== running) return { kind: "superseded" };
      if (running.signal.aborted) return { kind: "cancelled" };
      const { message, hint } = refusalOf(error, t.server);
      this.log.error(`The installation failed: ${message}`);
      return failed(t.server.couldNotInstall(hint, message).trim());
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  /**
   * Add an extra to the private environment that a server runs from, with progress in the status bar.
   * Gives whether that changed anything: a server from another place has the packages that somebody gave it.
   * @throws Refusal
   */
  async add(extra: Extra, launch: Launch): Promise<boolean> {
    const storage = await this.folder();
    const bundle = await this.#bundle();
    const environments = bundle === undefined ? [] : await environmentsIn(storage, bundle);
    const own = environments.find(({ folder }) => launch.command.startsWith(folder + path.sep))?.folder;
    if (bundle === undefined || own === undefined || (await hasExtra(own, extra))) return false;
    this.log.info(`Adding to the server what it needs: ${extra}`);
    const bar = { location: ProgressLocation.Window, title: t.server.adding(t.server.extras[extra]) };
    await window.withProgress(bar, async (progress) => {
      await addExtra(own, bundle, extra, {
        report: (message) => progress.report({ message }),
        log: (line) => this.log.info(`[install] ${line}`),
        signal: new AbortController().signal,
        words: t.server,
      });
    });
    return true;
  }

  /** Stop an installation that runs. */
  cancel(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  async #install(running: AbortController, tell: (message: string) => void): Promise<Installed> {
    const storage = await this.folder();
    const bundle = await this.#bundle();
    if (bundle === undefined) return failed(t.server.carriesNone);
    const search = await findPython(this.#probe(storage), await this.#interpreters());
    if (search.kind !== "found") return failed(whyNoPython(search, t.server));
    const python: Python = search.python;
    this.log.info(`Installing codelaw ${bundle.version} with Python ${python.version} (${python.command})`);
    const bar = { location: ProgressLocation.Notification, title: t.server.installing, cancellable: true };
    await window.withProgress(bar, async (progress, token) => {
      token.onCancellationRequested(() => running.abort());
      await install(python, bundle, storage, {
        report: (message) => {
          progress.report({ message });
          tell(message);
        },
        log: (line) => this.log.info(`[install] ${line}`),
        signal: running.signal,
        words: t.server,
      });
    });
    return { kind: "installed" };
  }

  async #bundle() {
    return await bundleIn(path.join(this.context.extensionPath, "server"));
  }

  async #interpreters(): Promise<Interpreter[]> {
    const chosen = this.context.globalState.get<unknown>(CHOSEN);
    const mine = typeof chosen === "string" ? [{ path: chosen, from: t.server.fromChoice }] : [];
    const others: Interpreter[] = [];
    // One that lies in the workspace belongs to whoever wrote that; who wants it for the server can choose it.
    for (const one of await interpreters()) if (await outside(one.path, folders())) others.push(one);
    return [...mine, ...others];
  }

  #probe(cwd: string): Probe {
    return {
      platform: process.platform,
      run: (program, args) => run(program, args, { timeout: PROBE_TIMEOUT, cwd }),
      onPath: (name) => onPath(name, folders()),
    };
  }
}

const failed = (message: string): Installed => {
  const { tryAgain, choosePython, logs } = remediesIn(t.server);
  return { kind: "failed", message, actions: [tryAgain, choosePython, logs] };
};

const folders = (): string[] => (workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);

/** The setting; a folder cannot set it, whatever stands in its settings. */
const command = (): string[] => {
  const set = workspace.getConfiguration("codelaw").inspect<unknown>("server.command")?.globalValue;
  const parts: unknown[] = Array.isArray(set) ? set : [];
  return parts.filter((part) => typeof part === "string").map((part) => part.replace(/^~(?=[\\/])/, os.homedir()));
};
