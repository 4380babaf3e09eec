// Which server is started: the decisions, over a probe that runs programs. No import of `vscode`.
import path from "node:path";
import type { ServerState } from "../messages";
import type { Outcome } from "./process";

/** The least Python that the server runs on. */
export const LEAST_PYTHON: readonly [number, number] = [3, 11];

/** How the finder touches the machine. */
export interface Probe {
  platform: NodeJS.Platform;
  /** Run a program for its output, with a time limit. */
  run(command: string, args: readonly string[]): Promise<Outcome>;
  /** The absolute path of a program on PATH. */
  onPath(name: string): Promise<string | undefined>;
}

/** A Python that somebody has chosen. */
export interface Interpreter {
  path: string;
  /** Who chose it, for people: `the Python extension`. */
  from: string;
}

/** Where to look. */
export interface Places {
  /** The setting `codelaw.server.command`; empty when it is not set. */
  command: readonly string[];
  interpreters: readonly Interpreter[];
  /** Folders of complete private environments, that of the present version first. */
  environments: readonly { folder: string; version: string }[];
  /** The version of the wheel that the extension carries; undefined when it carries none. */
  bundled: string | undefined;
}

/** How a server is started; `serve` is among the arguments. */
export interface Launch {
  command: string;
  args: string[];
  version: string;
  /** Where it was found, for people. */
  origin: string;
  /** A private environment of another version than the extension carries: a newer one can be installed. */
  outdated: boolean;
}

/** A Python that can make the private environment. */
export interface Python {
  command: string;
  args: string[];
  version: string;
}

/** One place that was looked at in vain. */
export interface Attempt {
  place: string;
  problem: string;
}

export type Located =
  | { kind: "found"; launch: Launch; tried: Attempt[] }
  | { kind: "missing"; message: string; actions: ServerState["actions"]; tried: Attempt[] };

const LATE = "it did not answer in time";
const VERSION = /^codelaw (\S+)\s*$/m;
const SETTINGS = { title: "Open Settings", command: "codelaw.openSettings" } as const;
const LOGS = { title: "Show Logs", command: "codelaw.showLogs" } as const;
const AGAIN = { title: "Search Again", command: "codelaw.restart" } as const;
const CHOOSE = { title: "Choose Python…", command: "codelaw.choosePython" } as const;
const INSTALL = { title: "Install Server", command: "codelaw.installServer" } as const;

/** The Python of a virtual environment. */
export const pythonOf = (folder: string, platform: NodeJS.Platform): string =>
  platform === "win32" ? path.win32.join(folder, "Scripts", "python.exe") : path.posix.join(folder, "bin", "python");

/** What a program that should be codelaw said when it was asked for its version. */
const answer = (outcome: Outcome): { version: string } | { problem: string } => {
  const version = VERSION.exec(outcome.stdout)?.[1];
  if (outcome.failure === undefined && outcome.status === 0 && version !== undefined) return { version };
  if (outcome.failure === "not_started") return { problem: "it could not be started" };
  if (outcome.failure === "timeout") return { problem: LATE };
  if (/No module named '?codelaw/.test(outcome.stderr)) return { problem: "codelaw is not installed in it" };
  const said = lastLine(outcome.stderr) || lastLine(outcome.stdout);
  return { problem: said === "" ? "it is not codelaw" : `it said: ${said}` };
};

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim().slice(0, 200) ?? "";

/** Find the server: setting, chosen interpreters, PATH, private environment. Each candidate is really run. */
export const findServer = async (probe: Probe, places: Places): Promise<Located> => {
  const tried: Attempt[] = [];
  const attempt = async (
    command: string,
    args: string[],
    origin: string,
    outdated = false,
  ): Promise<Located | null> => {
    const said = answer(await probe.run(command, [...args, "--version"]));
    if ("version" in said) {
      const launch = { command, args: [...args, "serve"], version: said.version, origin, outdated };
      return { kind: "found", launch, tried };
    }
    tried.push({ place: origin, problem: said.problem });
    return null;
  };

  const [command, ...args] = withoutServe(places.command);
  if (command !== undefined) {
    // What somebody has set is what they want: nothing else is taken in its place.
    const found = await attempt(command, args, `the setting codelaw.server.command (${places.command.join(" ")})`);
    return found ?? brokenSetting(tried);
  }
  for (const { path: python, from } of places.interpreters) {
    const found = await attempt(python, ["-m", "codelaw"], `${from} (${python})`);
    if (found !== null) return found;
  }
  const program = await probe.onPath("codelaw");
  if (program === undefined) tried.push({ place: "PATH", problem: "there is no codelaw on it" });
  else {
    const found = await attempt(program, [], `PATH (${program})`);
    if (found !== null) return found;
  }
  for (const { folder, version } of places.environments) {
    const python = pythonOf(folder, probe.platform);
    const outdated = places.bundled !== undefined && version !== places.bundled;
    const found = await attempt(python, ["-I", "-m", "codelaw"], `its own environment (${folder})`, outdated);
    if (found !== null) return found;
  }
  return missing(await findPython(probe, places.interpreters), places.bundled, tried);
};

/** `["codelaw", "serve"]` and `["codelaw"]` mean the same. */
const withoutServe = (command: readonly string[]): string[] => {
  const parts = command.filter((part) => part !== "--stdio");
  return parts.at(-1) === "serve" ? parts.slice(0, -1) : parts;
};

const brokenSetting = (tried: Attempt[]): Located => ({
  kind: "missing",
  message: `The command in codelaw.server.command does not run: ${tried.at(-1)?.problem ?? "it is empty"}. Correct it, or remove it so that the server is searched for.`,
  actions: [SETTINGS, AGAIN, LOGS],
  tried,
});

const missing = (python: PythonSearch, bundled: string | undefined, tried: Attempt[]): Located => {
  if (python.kind === "found" && bundled === undefined) {
    const message = `The server is not installed. Install it with \`pip install codelaw\` into Python ${python.python.version} (${python.python.command}), or set codelaw.server.command.`;
    return { kind: "missing", message, actions: [AGAIN, CHOOSE, SETTINGS], tried };
  }
  const late = tried.find(({ problem }) => problem === LATE);
  if (late !== undefined) {
    const message = `It is not known whether the server is in ${late.place}: ${LATE}. Search again when the machine is less busy.`;
    return { kind: "missing", message, actions: [AGAIN, ...(python.kind === "found" ? [INSTALL] : []), LOGS], tried };
  }
  if (python.kind === "found") {
    const message = `The server is not installed yet. It goes into an environment of its own, made with Python ${python.python.version}; its packages are downloaded once.`;
    return { kind: "missing", message, actions: [INSTALL, CHOOSE, SETTINGS], tried };
  }
  return { kind: "missing", message: whyNoPython(python), actions: [AGAIN, CHOOSE, SETTINGS], tried };
};

/** Why there is no Python that could run the server, and what to do. */
export const whyNoPython = (search: Exclude<PythonSearch, { kind: "found" }>): string => {
  const least = LEAST_PYTHON.join(".");
  switch (search.kind) {
    case "no_venv":
      return `Python ${search.version} (${search.command}) cannot make an environment for the server. On Debian and Ubuntu: apt install python3-venv.`;
    case "old":
      return `The server needs Python ${least} or newer; the newest that was found is ${search.version} (${search.command}). Install a newer one or choose it.`;
    case "none":
      return `The server needs Python ${least} or newer, and no Python was found. Install one, or choose where it is.`;
  }
};

export type PythonSearch =
  | { kind: "found"; python: Python }
  | { kind: "no_venv"; command: string; version: string }
  | { kind: "old"; command: string; version: string }
  | { kind: "none" };

const NAMES = ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"];
const ASK = "import sys; print('python', '.'.join(map(str, sys.version_info[:3]))); import venv, ensurepip";

/** Find a Python that can make the private environment: a chosen one, else what is on PATH. */
export const findPython = async (probe: Probe, interpreters: readonly Interpreter[]): Promise<PythonSearch> => {
  let best: PythonSearch = { kind: "none" };
  const seen = new Set<string>();
  for await (const [command, args] of candidates(probe, interpreters)) {
    if (seen.has(command)) continue;
    seen.add(command);
    const outcome = await probe.run(command, [...args, "-c", ASK]);
    const version = /^python (\d+\.\d+\.\d+)/m.exec(outcome.stdout)?.[1];
    if (version === undefined) continue;
    if (!recent(version)) {
      if (best.kind === "none" || (best.kind === "old" && newer(version, best.version))) {
        best = { kind: "old", command, version };
      }
    } else if (outcome.status === 0) {
      return { kind: "found", python: { command, args, version } };
    } else if (best.kind !== "no_venv") {
      best = { kind: "no_venv", command, version };
    }
  }
  return best;
};

async function* candidates(
  probe: Probe,
  interpreters: readonly Interpreter[],
): AsyncGenerator<[command: string, args: string[]]> {
  for (const interpreter of interpreters) yield [interpreter.path, []];
  if (probe.platform === "win32") {
    const launcher = await probe.onPath("py");
    if (launcher !== undefined) yield [launcher, ["-3"]];
  }
  for (const name of NAMES) {
    const found = await probe.onPath(name);
    if (found !== undefined) yield [found, []];
  }
}

const numbers = (version: string): number[] => version.split(".").map(Number);

const newer = (one: string, other: string): boolean => {
  const others = numbers(other);
  for (const [index, part] of numbers(one).entries()) {
    const against = others[index] ?? 0;
    if (part !== against) return part > against;
  }
  return false;
};

const recent = (version: string): boolean => !newer(LEAST_PYTHON.join("."), version);
