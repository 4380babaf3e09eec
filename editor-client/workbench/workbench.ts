// A real workbench: code-server with the packed extension, its own home and settings, a vendor, and a browser.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium as browserType, type BrowserContext } from "playwright-core";
import { afterAll, beforeAll, beforeEach, inject, onTestFinished } from "vitest";
import { CODE_SERVER, CODELAW, NODE, chromium } from "./places";
import { eventually, freePort, processes, Program } from "./processes";
import { Vendor } from "./vendor";
import { Window } from "./window";

/** Every test that has a key is run on a model that the editor lends instead. */
const LENT = process.env["CODELAW_WORKBENCH_LENT"] !== undefined;
const LENT_SETTINGS = { "codelaw.model.provider": "editor", "codelaw.model.name": "lender/loop" };
const NEVER = ["ANTHROPIC_", "CODELAW_", "VSCODE_", "ELECTRON_", "NODE_OPTIONS", "PASSWORD"];
const SIZE = { width: 1280, height: 860 };
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];

export interface WorkbenchOptions {
  /** No key and no address of a model. */
  withoutKey?: boolean;
  /** The editor asks whom it trusts: every folder is opened in its restricted mode. */
  restricted?: boolean;
  /** The editor has its git extension. */
  git?: boolean;
  /** Another extension brings a model into the editor, which is the loopback vendor's. */
  lender?: boolean;
  /** Settings of the user, over those that all tests have. */
  settings?: Record<string, unknown>;
  /** Variables of the editor's environment. */
  env?: Record<string, string>;
}

export interface WindowOptions {
  /** Files of a fresh folder, by path. */
  files?: Record<string, string>;
  /** A folder that is there already. */
  folder?: string;
  /** Settings of the folder. */
  settings?: Record<string, unknown>;
  size?: { width: number; height: number };
  /** Whether to wait until the panel is there. */
  panel?: boolean;
}

export class Workbench {
  readonly windows: Window[] = [];
  private constructor(
    readonly folder: string,
    readonly vendor: Vendor,
    readonly editor: Program,
    readonly browser: BrowserContext,
    readonly url: string,
    private readonly base: Record<string, unknown>,
  ) {}

  static async start(options: WorkbenchOptions = {}): Promise<Workbench> {
    const withoutKey = options.withoutKey === true;
    const lent = LENT && !withoutKey;
    const base = lent ? { ...SETTINGS, ...LENT_SETTINGS } : SETTINGS;
    const folder = mkdtempSync(join(tmpdir(), "codelaw-workbench-"));
    const vendor = await Vendor.start();
    set(folder, { ...base, "git.enabled": options.git === true, ...options.settings });
    mkdirSync(join(folder, "home"));
    const env: NodeJS.ProcessEnv = {
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !NEVER.some((start) => name.startsWith(start))),
      ),
      CODELAW_HOME: join(folder, "home"),
      CODELAW_MODEL__DIALECT: "react",
      EXTENSIONS_GALLERY: "{}", // Nobody is asked for extensions.
      LENDER_URL: vendor.url,
      ...(withoutKey || lent ? {} : { ANTHROPIC_BASE_URL: vendor.url, ANTHROPIC_API_KEY: "loopback" }),
      ...options.env,
    };
    const port = await freePort();
    const where = ["--user-data-dir", join(folder, "user"), "--extensions-dir", inject("extensions")];
    const quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check"];
    if (options.restricted !== true) quiet.push("--disable-workspace-trust");
    const builtin = withMore(folder, { git: options.git === true, lender: options.lender === true || lent });
    const few = ["--vscode-option", `builtin-extensions-dir=${builtin}`];
    const address = ["--bind-addr", `127.0.0.1:${port}`, "--config", join(folder, "none.yaml")];
    const brief = ["--ignore-last-opened", "--reconnection-grace-time", "5", "--disable-getting-started-override"];
    write(join(folder, "none.yaml"), "");
    const editor = new Program(NODE, [CODE_SERVER, ...address, ...where, ...few, ...quiet, ...brief], { env });
    const browser = await browserType.launchPersistentContext(join(folder, "browser"), {
      executablePath: chromium(),
      timeout: 150_000,
      headless: true,
      args: FLAGS,
      viewport: SIZE,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await editor.says(/HTTP server listening/);
    return new Workbench(folder, vendor, editor, browser, `http://127.0.0.1:${port}`, base);
  }

  /** A window on a fresh folder, with the panel shown; it is closed when the test ends. */
  async open(options: WindowOptions = {}): Promise<Window> {
    const folder = options.folder ?? mkdtempSync(join(this.folder, "workspace-"));
    for (const [path, text] of Object.entries(options.files ?? {})) write(join(folder, path), text);
    if (options.settings !== undefined)
      write(join(folder, ".vscode", "settings.json"), JSON.stringify(options.settings));
    const page = await this.browser.newPage();
    if (options.size !== undefined) await page.setViewportSize(options.size);
    const window = new Window(page, folder);
    this.windows.push(window);
    await window.go(`${this.url}/?folder=${encodeURIComponent(folder)}`);
    if (options.panel !== false) await window.showPanel();
    return window;
  }

  async close(window: Window): Promise<void> {
    this.windows.splice(this.windows.indexOf(window), 1);
    await window.page.close({ runBeforeUnload: false });
  }

  /** Change the user's settings, over those that all tests have; the editor sees it by itself. */
  set(settings: Record<string, unknown>): void {
    set(this.folder, { ...this.base, ...settings });
  }

  /** The ids of the language servers that run. */
  servers(): number[] {
    return processes(/codelaw(\S*) serve/, `CODELAW_HOME=${join(this.folder, "home")}`);
  }

  /** The language server of the one window. */
  async server(): Promise<number> {
    return eventually("one language server runs", () => (this.servers().length === 1 ? this.servers()[0] : undefined));
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await Promise.all([this.editor.stop(), this.vendor.stop()]);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const SETTINGS = {
  "codelaw.server.command": [CODELAW],
  "telemetry.telemetryLevel": "off",
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.colorTheme": "Default Dark Modern",
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "editor.acceptSuggestionOnEnter": "off",
  "editor.autoClosingBrackets": "never",
  "files.autoSave": "off",
  "update.mode": "none",
  "extensions.webWorker": false,
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
};

/** The few extensions of the editor's own, with its git and the one that brings a model. */
function withMore(folder: string, { git, lender }: { git: boolean; lender: boolean }): string {
  if (!git && !lender) return inject("builtin");
  const builtin = join(folder, "builtin");
  mkdirSync(builtin);
  const few = inject("builtin");
  for (const name of readdirSync(few)) symlinkSync(join(few, name), join(builtin, name));
  const all = join(dirname(CODE_SERVER), "..", "..", "lib", "vscode", "extensions");
  for (const name of git ? ["git", "git-base"] : []) symlinkSync(join(all, name), join(builtin, name));
  if (lender) symlinkSync(join(import.meta.dirname, "lender"), join(builtin, "lender"));
  return builtin;
}

function set(folder: string, settings: Record<string, unknown>): void {
  for (const kind of ["User", "Machine"]) write(join(folder, "user", kind, "settings.json"), JSON.stringify(settings));
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What a test has at hand. */
export interface Hands {
  workbench: Workbench;
  vendor: Vendor;
  /** The window that the tests of the file share, each with a new chat; a test that fails takes it with it. */
  window: Window;
}

/** One workbench for all tests of a file. A test that fails tells what the windows and the server said. */
export function useWorkbench(options: WorkbenchOptions & { window?: WindowOptions } = {}): () => Hands {
  let workbench: Workbench | undefined;
  let window: Window | undefined;
  beforeAll(async () => {
    workbench = await Workbench.start(options);
  });
  beforeEach(async ({ task }) => {
    const running = need(workbench);
    onTestFinished(async () => {
      if (task.result?.state !== "pass") {
        window = undefined;
        await report(running, task.name);
      }
      await Promise.all(running.windows.filter((one) => one !== window).map((one) => running.close(one)));
      const left = window === undefined ? 0 : 1;
      await eventually("the servers of closed windows end", () => running.servers().length <= left);
    });
    if (options.window === undefined) return;
    if (window === undefined) window = await running.open(options.window);
    else if (options.window.panel !== false) await window.newChat();
  });
  afterAll(async () => {
    await workbench?.stop();
  });
  return () => ({
    workbench: need(workbench),
    vendor: need(workbench).vendor,
    get window() {
      return need(window);
    },
  });
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("it has not started");
  return value;
}

async function report(workbench: Workbench, name: string): Promise<void> {
  for (const [place, window] of workbench.windows.entries()) {
    const path = await window.shot(`failed-${name.replaceAll(/\W+/g, "-").slice(0, 60)}-${place}`);
    const log = await window.log().catch((error: unknown) => `The log cannot be shown: ${String(error)}`);
    const said = window.said.slice(-30).join("\n");
    process.stderr.write(`\nwindow ${place}: ${path}\n--- its log\n${log}\n--- its console\n${said}\n`);
  }
  process.stderr.write(`--- the editor\n${workbench.editor.output.slice(-1_000)}\n`);
}
