// Running programs: for their output, with a time limit, and so that nothing of them stays when they are stopped.
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** How a program ended. */
export interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
  /** Why there is no status: it could not be started, took too long, or was stopped. */
  failure?: "not_started" | "timeout" | "cancelled";
}

export interface RunOptions {
  timeout: number;
  cwd?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
  signal?: AbortSignal | undefined;
  /** Called with each line of either stream. */
  onLine?: ((line: string) => void) | undefined;
}

/** As much of a program's output as is kept. */
const MAX_OUTPUT = 256 * 1024;

/** End a program and all that it has started. */
export const killTree = (child: ChildProcess): void => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () =>
      child.kill("SIGKILL"),
    );
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // it leads no group
  }
};

/** Run a program to its end; never throws. */
export const run = (command: string, args: readonly string[], options: RunOptions): Promise<Outcome> =>
  new Promise((resolve) => {
    if (options.signal?.aborted) {
      resolve({ status: null, stdout: "", stderr: "", failure: "cancelled" });
      return;
    }
    let failure: Outcome["failure"];
    const kept = { stdout: "", stderr: "" };
    let child: ChildProcessByStdio<null, Readable, Readable>;
    try {
      child = spawn(command, [...args], {
        cwd: options.cwd,
        env: options.env ?? process.env,
        stdio: ["ignore", "pipe", "pipe"],
        windowsHide: true,
        detached: process.platform !== "win32",
      });
    } catch (error) {
      // Some of what cannot be started is told at once: a folder that is a file, a batch file on Windows.
      resolve({ status: null, stdout: "", stderr: String(error), failure: "not_started" });
      return;
    }
    const stop = (why: Outcome["failure"]) => () => {
      failure ??= why;
      killTree(child);
      // What it has started may have outlived it, and holds its streams.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(stop("timeout"), options.timeout);
    const abort = stop("cancelled");
    options.signal?.addEventListener("abort", abort);
    const end = (status: number | null) => {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
      resolve(failure === undefined ? { status, ...kept } : { status, ...kept, failure });
    };
    for (const name of ["stdout", "stderr"] as const) {
      const stream = child[name].setEncoding("utf8");
      stream.on("data", (chunk: string) => (kept[name] = (kept[name] + chunk).slice(-MAX_OUTPUT)));
      if (options.onLine !== undefined) createInterface({ input: stream }).on("line", options.onLine);
    }
    child.on("error", (error) => {
      failure ??= "not_started";
      kept.stderr ||= error.message;
      end(null);
    });
    child.on("close", end);
  });

/**
 * The absolute path of a program on PATH that no workspace folder has a part in (S-8).
 *
 * Folders of PATH that are relative do not count: they would be a workspace's. Nor does one of `folders`, as an
 * activated `.venv/bin` or `node_modules/.bin` would be, or what a link leads into one.
 */
export const onPath = async (
  name: string,
  folders: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> => {
  const windows = process.platform === "win32";
  const found = Object.entries(env).find(([key]) => key.toUpperCase() === "PATH")?.[1] ?? "";
  for (const folder of found.split(path.delimiter)) {
    if (!path.isAbsolute(folder)) continue;
    const file = path.join(folder, windows && path.extname(name) === "" ? `${name}.exe` : name);
    if ((await runnable(file)) && (await outside(file, folders))) return file;
  }
  return undefined;
};

/** Whether a file lies in none of `folders`, neither by its name nor really. */
export const outside = async (file: string, folders: readonly string[]): Promise<boolean> => {
  const forms = [
    path.resolve(file),
    await realOf(file),
    path.join(await realOf(path.dirname(file)), path.basename(file)),
  ];
  for (const folder of folders) {
    for (const root of [path.resolve(folder), await realOf(folder)]) {
      if (forms.some((form) => form === root || form.startsWith(root.endsWith(path.sep) ? root : root + path.sep))) {
        return false;
      }
    }
  }
  return true;
};

const realOf = async (file: string): Promise<string> => {
  try {
    return await realpath(file);
  } catch {
    return path.resolve(file); // it is not there; its name is all there is
  }
};

const runnable = async (file: string): Promise<boolean> => {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false; // not there, or not for us: the search goes on
  }
};
