// Programs that a test starts: each in a process group of its own, which ends with it.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const GRACE = 4_000;
const started = new Set<Program>();
process.on("exit", () => {
  for (const program of started) program.kill();
});

/** A running program and what it has said. */
export class Program {
  readonly child: ChildProcess;
  output = "";

  constructor(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
    this.child = spawn(command, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const keep = (chunk: Buffer) => (this.output += chunk.toString());
    this.child.stdout?.on("data", keep);
    this.child.stderr?.on("data", keep);
    this.child.on("error", (error) => (this.output += String(error)));
    started.add(this);
  }

  /** Wait until it has said something that matches. */
  async says(pattern: RegExp, milliseconds = 150_000): Promise<RegExpExecArray> {
    const until = Date.now() + milliseconds;
    while (Date.now() < until) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.child.exitCode !== null) break;
      await sleep(20);
    }
    throw new Error(`The program ${this.child.spawnfile} did not say ${pattern.source}, but: ${this.output}`);
  }

  /** End the whole group at once. */
  kill(): void {
    started.delete(this);
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }

  async stop(): Promise<void> {
    if (this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null) {
      const gone = once(this.child, "exit");
      this.child.kill("SIGTERM");
      await Promise.race([gone, sleep(GRACE)]);
    }
    this.kill();
  }
}

/** The ids of the processes whose command line matches and whose environment has this entry. */
export function processes(command: RegExp, entry: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        return command.test(line) && readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(entry);
      } catch {
        return false; // It has ended meanwhile.
      }
    })
    .map(Number);
}

/** A port of loopback that is free, and that the system gives to nobody by itself. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer().listen(port, "127.0.0.1");
    const free = await once(server, "listening").then(
      () => true,
      () => false,
    );
    server.close();
    if (free) return port;
  }
}

/** Look again until it holds. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  milliseconds = 120_000,
): Promise<T> {
  const until = Date.now() + milliseconds;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (Date.now() > until) throw new Error(`Not within ${milliseconds} ms: ${what}`);
    await sleep(30);
  }
}

/** Tell the reader of the run a measure; nothing depends on it. */
export const tell = (words: string): void => void process.stdout.write(`${words}\n`);
