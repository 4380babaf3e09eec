// The private environment of the server: made from the wheel and the lock that the extension carries.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ServerWords } from "../languages/en/server";
import { type Python, pythonOf } from "./find";
import { type Outcome, run } from "./process";
import { cancelled, Refusal } from "./refusal";
import { packagesOf, trim } from "./trim";

/** What the extension carries of the server. */
export interface Bundle {
  version: string;
  wheel: string;
  lock: string;
  /** The folder with a lock for each extra (`extras.ts`). */
  extras: string;
  /** Changes with the wheel and the lock: another one needs another environment. */
  digest: string;
}

export interface Progress {
  report(message: string): void;
  signal: AbortSignal;
  log(line: string): void;
  /** What the user is told in. */
  readonly words: ServerWords;
}

const STAMP = "codelaw-complete.json";
const WHEEL = /^codelaw-([^-]+)-.*\.whl$/;
const MINUTE = 60_000;
/** What an interrupted installation has left is taken for abandoned after this time. */
const ABANDONED = 60 * MINUTE;
/** An environment from which no server was started for so long is not in use. */
const UNUSED = 14 * 24 * 60 * MINUTE;
const LINES_SHOWN = 4;
/** They have done their work, and are as large as all of the server. */
const INSTALLERS = ["pip", "setuptools"];
/** Python keeps the bytecode of what is imported: of this the first start needs it, of everything it is 40 MB. */
const FIRST_TURN = "import anthropic, jinja2, numpy, yaml, codelaw.app.session, codelaw.agent.turn.turn";

/** The wheel and the lock in `folder`; undefined where they are not both there. */
export const bundleIn = async (folder: string): Promise<Bundle | undefined> => {
  const names = await namesIn(folder);
  const wheel = names.find((name) => WHEEL.test(name));
  const version = wheel === undefined ? undefined : WHEEL.exec(wheel)?.[1];
  if (wheel === undefined || version === undefined || !names.includes("requirements.lock")) return undefined;
  const lock = path.join(folder, "requirements.lock");
  const file = path.join(folder, wheel);
  const hash = createHash("sha256");
  const extras = path.join(folder, "extras");
  const locks = (await namesIn(extras)).sort().map((name) => path.join(extras, name));
  for (const part of [file, lock, ...locks]) hash.update(await readFile(part));
  return { version, wheel: file, lock, extras, digest: hash.digest("hex").slice(0, 12) };
};

/** What is in a folder; nothing where there is none. */
const namesIn = async (folder: string): Promise<string[]> => {
  try {
    return await readdir(folder);
  } catch {
    return [];
  }
};

const nameOf = (bundle: Bundle): string => `server-${bundle.version}-${bundle.digest}`;
const ENVIRONMENT = /^server-(.+)-([0-9a-f]{12})$/;

/** The complete private environments in `storage`, that of `bundle` first. */
export const environmentsIn = async (
  storage: string,
  bundle: Bundle | undefined,
): Promise<{ folder: string; version: string }[]> => {
  const present = bundle === undefined ? undefined : nameOf(bundle);
  const names = await namesIn(storage);
  const complete: { folder: string; version: string }[] = [];
  for (const name of names.sort((one, other) => Number(other === present) - Number(one === present))) {
    const version = ENVIRONMENT.exec(name)?.[1];
    const folder = path.join(storage, name);
    if (version !== undefined && (await isThere(path.join(folder, STAMP)))) complete.push({ folder, version });
  }
  return complete;
};

const isThere = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/**
 * Make the private environment of `bundle` in `storage` with `python`.
 *
 * It is built beside its place and moved there when it works, so that one that was interrupted is never taken for
 * whole, and of two windows that build at once both end up with the same one.
 * @throws Refusal `cancelled`, or `install_failed` with what to do
 */
export const install = async (python: Python, bundle: Bundle, storage: string, progress: Progress): Promise<string> => {
  await mkdir(storage, { recursive: true });
  await removeAbandoned(storage);
  const target = path.join(storage, nameOf(bundle));
  const draft = path.join(storage, `draft-${randomUUID()}`);
  try {
    await build(python, bundle, draft, progress);
    await writeFile(path.join(draft, STAMP), JSON.stringify({ version: bundle.version, python: python.version }));
    await moveIn(draft, target, progress);
  } catch (error) {
    await discard(draft, progress);
    throw progress.signal.aborted ? cancelled(progress.words) : error;
  }
  await removeOthers(storage, path.basename(target), progress);
  return target;
};

const PIP = ["-I", "-m", "pip", "--disable-pip-version-check", "--no-input"];
/** Without bytecode, of which most would never be used. */
export const PIP_INSTALL: readonly string[] = [...PIP, "install", "--progress-bar", "off", "--no-compile"];

const build = async (python: Python, bundle: Bundle, draft: string, progress: Progress): Promise<void> => {
  const { words } = progress;
  const inside = pythonOf(draft, process.platform);
  progress.report(words.makingEnvironment);
  await step(python.command, [...python.args, "-I", "-m", "venv", draft], 3 * MINUTE, progress);
  progress.report(words.downloadingPackages);
  await step(inside, [...PIP_INSTALL, "--require-hashes", "--prefer-binary", "-r", bundle.lock], 20 * MINUTE, progress);
  progress.report(words.installingCodelaw);
  await step(inside, [...PIP_INSTALL, "--no-deps", "--no-index", bundle.wheel], 3 * MINUTE, progress);
  await step(inside, [...PIP, "uninstall", "--yes", ...INSTALLERS], MINUTE, progress);
  await trim(await packagesOf(draft));
  progress.report(words.tryingIt);
  const said = await step(inside, ["-I", "-m", "codelaw", "--version"], MINUTE, progress);
  if (!said.stdout.includes(bundle.version)) {
    throw new Refusal("install_failed", words.installedBroken, said.stdout.trim());
  }
  await step(inside, ["-I", "-c", FIRST_TURN], 3 * MINUTE, progress);
};

/** Run one step to its end, with what it says in the log. @throws Refusal */
export const step = async (
  command: string,
  args: readonly string[],
  timeout: number,
  progress: Progress,
): Promise<Outcome> => {
  const onLine = (line: string) => {
    progress.log(line);
    const name = /^Collecting ([A-Za-z0-9._-]+)/.exec(line)?.[1];
    if (name !== undefined) progress.report(progress.words.downloading(name));
    else if (line.startsWith("Installing collected packages")) progress.report(progress.words.installingPackages);
  };
  const outcome = await run(command, args, { timeout, env: environment(), signal: progress.signal, onLine });
  if (outcome.failure === "cancelled") throw cancelled(progress.words);
  if (outcome.failure !== undefined || outcome.status !== 0) throw failure(outcome, progress.words);
  return outcome;
};

/** Settings with which no environment can be filled; all others of the user's count, such as a mirror or a proxy. */
const HARMFUL = ["PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PYTHONHOME", "PYTHONPATH"];

const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !HARMFUL.includes(name))),
  PYTHONUTF8: "1",
});

/** What a step says when it fails, and what helps. */
const remediesOf = (words: ServerWords): readonly (readonly [RegExp, string])[] => [
  [/ensurepip is not available|No module named '?ensurepip|python3(\.\d+)?-venv/, words.venvMissing],
  [/No space left|disk is full|ENOSPC/i, words.diskFull],
  [/DO NOT MATCH THE HASHES/, words.wrongHash],
  [/CERTIFICATE_VERIFY_FAILED|SSLError/, words.untrustedIndex],
  [
    /Failed to establish|name resolution|getaddrinfo|Network is unreachable|ConnectionError|ConnectTimeout|ProxyError|Max retries|Connection refused|No matching distribution/,
    words.noIndex,
  ],
  [/Failed building wheel|error: command .*(gcc|cc|cl\.exe)/, words.noBuild],
];

/** What a failed step means, with the last lines that it said. */
export const failure = (outcome: Outcome, words: ServerWords): Refusal => {
  const said = `${outcome.stdout}\n${outcome.stderr}`;
  const remedy = remediesOf(words).find(([pattern]) => pattern.test(said))?.[1] ?? words.logsHaveAll;
  if (outcome.failure === "timeout") {
    return new Refusal("install_failed", words.tookTooLong, remedy);
  }
  const errors = (outcome.stderr.trim() === "" ? outcome.stdout : outcome.stderr).trim().split("\n");
  const last = errors
    .filter((line) => line.trim() !== "")
    .slice(-LINES_SHOWN)
    .join("\n");
  return new Refusal("install_failed", last === "" ? words.installFailed : last.slice(0, 600), remedy);
};

const moveIn = async (draft: string, target: string, progress: Progress): Promise<void> => {
  for (let attempt = 0; ; attempt++) {
    try {
      await rename(draft, target);
      return;
    } catch (error) {
      if (attempt === 3) throw new Refusal("install_failed", progress.words.cannotPlace(String(error)));
      if (await works(target, progress.signal)) {
        await discard(draft, progress); // another window was faster
        return;
      }
      if (progress.signal.aborted) throw cancelled(progress.words); // and so it is not known whether that one works
      await rename(target, `${path.dirname(target)}${path.sep}old-${randomUUID()}`).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 200 * (attempt + 1)));
    }
  }
};

const works = async (folder: string, signal: AbortSignal): Promise<boolean> => {
  if (!(await isThere(path.join(folder, STAMP)))) return false;
  const python = pythonOf(folder, process.platform);
  return (await run(python, ["-I", "-m", "codelaw", "--version"], { timeout: MINUTE, signal })).status === 0;
};

/** Environments of other versions go; so does what earlier removals have left. Another window's server may still run from an older environment, and import from it when it needs to. */
const removeOthers = async (storage: string, kept: string, progress: Progress): Promise<void> => {
  for (const name of await readdir(storage)) {
    if (name === kept) continue;
    const folder = path.join(storage, name);
    if (name.startsWith("old-") || (ENVIRONMENT.test(name) && (await isUnused(folder))))
      await discard(folder, progress);
  }
};

/** Note that a server starts from this environment. */
export const use = async (folder: string): Promise<void> => {
  const now = new Date();
  await utimes(path.join(folder, STAMP), now, now);
};

const isUnused = async (folder: string): Promise<boolean> => {
  const stamp = await stat(path.join(folder, STAMP)).catch(() => undefined); // without one it was never whole
  return stamp === undefined || Date.now() - stamp.mtimeMs > UNUSED;
};

/** What an installation has left that ended with its window. */
export const removeAbandoned = async (storage: string): Promise<void> => {
  for (const name of await readdir(storage)) {
    const folder = path.join(storage, name);
    if (!name.startsWith("draft-")) continue;
    // Another window may just have finished with it.
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    const age = Date.now() - mtimeMs;
    if (age > ABANDONED) await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
};

const discard = async (folder: string, progress: Progress): Promise<void> => {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    progress.log(`${folder} could not be removed: ${String(error)}`);
  }
};
