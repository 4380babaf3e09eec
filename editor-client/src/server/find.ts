// Which server is started: the decisions, over a probe that runs programs. No import of `vscode`.
import path from "node:path";
import type { ServerWords } from "../languages/en/server";
import type { ServerState } from "../messages";
import type { Outcome } from "./process";
import { remediesIn } from "./remedies";

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
  /** What the user is told in. */
  words: ServerWords;
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

const VERSION = /^codelaw (\S+)\s*$/m;

/** The Python of a virtual environment. */
export const pythonOf = (folder: string, platform: NodeJS.Platform): string =>
  platform === "win32" ? path.win32.join(folder, "Scripts", "python.exe") : path.posix.join(folder, "bin", "python");

/** What a program that should be codelaw said when it was asked for its version. */
const answer = (outcome: Outcome, words: ServerWords): { version: string } | { problem: string } => {
  const version = VERSION.exec(outcome.stdout)?.[1];
  if (outcome.failure === undefined && outcome.status === 0 && version !== undefined) return { version };
  if (outcome.failure === "not_started") return { problem: words.cannotStart };
  if (outcome.failure === "timeout") return { problem: words.late };
  if (/No module named '?codelaw/.test(outcome.stderr)) return { problem: words.notInIt };
  const said = lastLine(outcome.stderr) || lastLine(outcome.stdout);
  return { problem: said === "" ? words.notCodelaw : words.itSaid(said) };
};

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim().slice(0, 200) ?? "";

/** Find the server: setting, chosen interpreters, PATH, private environment. Each candidate is really run. */
export const findServer = async (probe: Probe, places: Places): Promise<Located> => {
  const { words } = places;
  const tried: Attempt[] = [];
  const attempt = async (
    command: string,
    args: string[],
    origin: string,
    outdated = false,
  ): Promise<Located | null> => {
    const said = answer(await probe.run(command, [...args, "--version"]), words);
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
    const found = await attempt(command, args, words.inSetting(places.command.join(" ")));
    return found ?? brokenSetting(tried, words);
  }
  for (const { path: python, from } of places.interpreters) {
    const found = await attempt(python, ["-m", "codelaw"], `${from} (${python})`);
    if (found !== null) return found;
  }
  const program = await probe.onPath("codelaw");
  if (program === undefined) tried.push({ place: "PATH", problem: words.notOnPath });
  else {
    const found = await attempt(program, [], `PATH (${program})`);
    if (found !== null) return found;
  }
  for (const { folder, version } of places.environments) {
    const python = pythonOf(folder, probe.platform);
    const outdated = places.bundled !== undefined && version !== places.bundled;
    const found = await attempt(python, ["-I", "-m", "codelaw"], words.inEnvironment(folder), outdated);
    if (found !== null) return found;
  }
  return missing(await findPython(probe, places.interpreters), tried, places);
};

/** `["codelaw", "serve"]` and `["codelaw"]` mean the same. */
const withoutServe = (command: readonly string[]): string[] => {
  const parts = command.filter((part) => part !== "--stdio");
  return parts.at(-1) === "serve" ? parts.slice(0, -1) : parts;
};

const brokenSetting = (tried: Attempt[], words: ServerWords): Located => {
  const { settings, searchAgain, logs } = remediesIn(words);
  const message = words.brokenSetting(tried.at(-1)?.problem ?? words.settingEmpty);
  return { kind: "missing", message, actions: [settings, searchAgain, logs], tried };
};

const missing = (python: PythonSearch, tried: Attempt[], { bundled, words }: Places): Located => {
  const { settings, logs, searchAgain, choosePython, install } = remediesIn(words);
  if (python.kind === "found" && bundled === undefined) {
    const message = words.notInstalled(python.python.version, python.python.command);
    return { kind: "missing", message, actions: [searchAgain, choosePython, settings], tried };
  }
  const late = tried.find(({ problem }) => problem === words.late);
  if (late !== undefined) {
    const message = words.notKnown(late.place, late.problem);
    return {
      kind: "missing",
      message,
      actions: [searchAgain, ...(python.kind === "found" ? [install] : []), logs],
      tried,
    };
  }
  if (python.kind === "found") {
    const message = words.installable(python.python.version);
    return { kind: "missing", message, actions: [install, choosePython, settings], tried };
  }
  return {
    kind: "missing",
    message: whyNoPython(python, words),
    actions: [searchAgain, choosePython, settings],
    tried,
  };
};

/** Why there is no Python that could run the server, and what to do. */
export const whyNoPython = (search: Exclude<PythonSearch, { kind: "found" }>, words: ServerWords): string => {
  const least = LEAST_PYTHON.join(".");
  switch (search.kind) {
    case "no_venv":
      return words.noVenv(search.version, search.command);
    case "old":
      return words.oldPython(least, search.version, search.command);
    case "none":
      return words.noPython(least);
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
