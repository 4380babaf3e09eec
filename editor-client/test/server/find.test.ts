import { describe, expect, test } from "vitest";
import { server as german } from "../../src/languages/de/server";
import { server as words } from "../../src/languages/en/server";
import { findPython, findServer, type Places, type Probe, pythonOf } from "../../src/server/find";
import type { Outcome } from "../../src/server/process";

const says = (stdout: string): Outcome => ({ status: 0, stdout: `${stdout}\n`, stderr: "" });
const fails = (stderr: string, stdout = ""): Outcome => ({ status: 1, stdout, stderr });
const absent: Outcome = { status: null, stdout: "", stderr: "ENOENT", failure: "not_started" };
const codelaw = (version = "0.1.0"): Outcome => says(`codelaw ${version}`);
const noCodelaw = fails("/usr/bin/python3: No module named codelaw");

interface Machine {
  platform?: NodeJS.Platform;
  path?: Record<string, string>;
  /** What programs say, by the beginning of their command line. */
  programs: Record<string, Outcome>;
}

/** A machine with these programs, which remembers what was run on it. */
const machine = ({ platform = "linux", path = {}, programs }: Machine): Probe & { ran: string[] } => {
  const ran: string[] = [];
  return {
    platform,
    ran,
    onPath: (name) => Promise.resolve(path[name]),
    run: (command, args) => {
      const line = [command, ...args].join(" ");
      ran.push(line);
      const known = Object.keys(programs).filter((start) => line.startsWith(start));
      known.sort((one, other) => other.length - one.length);
      return Promise.resolve(programs[known[0] ?? ""] ?? absent);
    },
  };
};

const nowhere: Places = { command: [], interpreters: [], environments: [], bundled: "0.1.0", words };
const selected = { path: "/venv/bin/python", from: "the Python extension" };
const environment = { folder: "/storage/server-0.1.0-abc", version: "0.1.0" };

describe("the order of the search", () => {
  const everywhere: Machine = {
    path: { codelaw: "/usr/bin/codelaw", python3: "/usr/bin/python3" },
    programs: {
      "/usr/local/bin/codelaw": codelaw("1.0.0"),
      "/venv/bin/python -m codelaw": codelaw("2.0.0"),
      "/usr/bin/codelaw": codelaw("3.0.0"),
      "/storage/server-0.1.0-abc/bin/python -I -m codelaw": codelaw("4.0.0"),
    },
  };
  const all: Places = {
    command: ["/usr/local/bin/codelaw"],
    interpreters: [selected],
    environments: [environment],
    bundled: "0.1.0",
    words,
  };

  test.each([
    ["the setting first", everywhere, all, "/usr/local/bin/codelaw serve", "1.0.0"],
    ["then the interpreter", everywhere, { ...all, command: [] }, "/venv/bin/python -m codelaw serve", "2.0.0"],
    ["then PATH", everywhere, { ...all, command: [], interpreters: [] }, "/usr/bin/codelaw serve", "3.0.0"],
    [
      "then its own environment",
      { ...everywhere, path: {} },
      { ...all, command: [], interpreters: [] },
      "/storage/server-0.1.0-abc/bin/python -I -m codelaw serve",
      "4.0.0",
    ],
    [
      "an interpreter without codelaw is passed over",
      { ...everywhere, programs: { ...everywhere.programs, "/venv/bin/python -m codelaw": noCodelaw } },
      { ...all, command: [] },
      "/usr/bin/codelaw serve",
      "3.0.0",
    ],
    [
      "a setting that names `serve` and `--stdio` means the same",
      everywhere,
      { ...all, command: ["/usr/local/bin/codelaw", "serve", "--stdio"] },
      "/usr/local/bin/codelaw serve",
      "1.0.0",
    ],
  ])("%s", async (_name, on, places, line, version) => {
    const found = await findServer(machine(on), places);
    if (found.kind !== "found") throw new Error(found.message);
    expect([found.launch.command, ...found.launch.args].join(" ")).toBe(line);
    expect(found.launch.version).toBe(version);
  });

  test("a command that was set and does not run is told, and nothing else is taken in its place", async () => {
    const probe = machine({ ...everywhere, programs: { ...everywhere.programs, "/usr/local/bin/codelaw": absent } });
    const found = await findServer(probe, all);
    expect(found.kind).toBe("missing");
    expect(found.kind === "missing" && found.message).toContain("codelaw.server.command does not run");
    expect(found.kind === "missing" && found.actions[0]?.command).toBe("codelaw.openSettings");
    expect(probe.ran).toEqual(["/usr/local/bin/codelaw --version"]);
  });

  test("each candidate is asked for its version, and what is not codelaw is not taken", async () => {
    const probe = machine({ path: { codelaw: "/usr/bin/codelaw" }, programs: { "/usr/bin/codelaw": says("Coda 2") } });
    const found = await findServer(probe, nowhere);
    expect(found.kind).toBe("missing");
    expect(found.tried).toContainEqual({ place: "PATH (/usr/bin/codelaw)", problem: "it said: Coda 2" });
  });

  test("an environment of an older version is used, and known to be outdated", async () => {
    const probe = machine({ programs: { "/storage/server-0.0.9-abc/bin/python": codelaw("0.0.9") } });
    const environments = [{ folder: "/storage/server-0.0.9-abc", version: "0.0.9" }];
    const found = await findServer(probe, { ...nowhere, environments });
    expect(found.kind === "found" && found.launch.outdated).toBe(true);
  });

  test("on Windows the environment's Python lies in Scripts", () => {
    expect(pythonOf("C:\\data\\server", "win32")).toBe("C:\\data\\server\\Scripts\\python.exe");
    expect(pythonOf("/data/server", "darwin")).toBe("/data/server/bin/python");
  });
});

describe("what is missing", () => {
  const python = (version: string, status = 0): Outcome => ({ status, stdout: `python ${version}\n`, stderr: "" });
  const path = { python3: "/usr/bin/python3" };
  const ask = "/usr/bin/python3 -c";

  test.each([
    ["no Python at all", { programs: {} }, "no Python was found", "codelaw.restart"],
    ["a Python that is too old", { path, programs: { [ask]: python("3.9.2") } }, "found is 3.9.2", "codelaw.restart"],
    [
      "no venv module",
      { path, programs: { [ask]: python("3.11.2", 1) } },
      "apt install python3-venv",
      "codelaw.restart",
    ],
    ["the package", { path, programs: { [ask]: python("3.11.2") } }, "not installed yet", "codelaw.installServer"],
    [
      "a Python that is only the shop's sign",
      { path, programs: { [ask]: fails("Python was not found; run without arguments to install") } },
      "no Python was found",
      "codelaw.restart",
    ],
  ])("%s", async (_name, on: Machine, words, command) => {
    const found = await findServer(machine(on), nowhere);
    if (found.kind !== "missing") throw new Error("it was found");
    expect(found.message).toContain(words);
    expect(found.actions[0]?.command).toBe(command);
  });

  test("a server on a slow disk is not taken for one that is not there", async () => {
    const late: Outcome = { status: null, stdout: "", stderr: "", failure: "timeout" };
    const programs = { "/storage/server-0.1.0-abc/bin/python": late, [ask]: python("3.11.2") };
    const found = await findServer(machine({ path, programs }), { ...nowhere, environments: [environment] });
    if (found.kind !== "missing") throw new Error("it was found");
    expect(found.message).toContain("did not answer in time");
    expect(found.actions.map(({ command }) => command).slice(0, 2)).toEqual([
      "codelaw.restart",
      "codelaw.installServer",
    ]);
  });

  test("without a wheel in the extension pip is named", async () => {
    const found = await findServer(machine({ path, programs: { [ask]: python("3.12.0") } }), {
      ...nowhere,
      bundled: undefined,
    });
    expect(found.kind === "missing" && found.message).toContain("-m pip install .");
  });

  test("a newer Python beside an old one is taken", async () => {
    const probe = machine({
      path: { "python3": "/usr/bin/python3", "python3.12": "/usr/bin/python3.12" },
      programs: { [ask]: python("3.9.2"), "/usr/bin/python3.12 -c": python("3.12.1") },
    });
    expect(await findPython(probe, [])).toEqual({
      kind: "found",
      python: { command: "/usr/bin/python3.12", args: [], version: "3.12.1" },
    });
  });

  test("3.9 is older than 3.11, and 3.100 is newer", async () => {
    for (const [version, kind] of [
      ["3.9.18", "old"],
      ["3.10.0", "old"],
      ["3.11.0", "found"],
      ["3.100.0", "found"],
      ["4.0.0", "found"],
    ] as const) {
      expect((await findPython(machine({ path, programs: { [ask]: python(version) } }), [])).kind).toBe(kind);
    }
  });

  test("on Windows the launcher is asked for a Python 3", async () => {
    const launcher = "C:\\Windows\\py.exe";
    const probe = machine({
      platform: "win32",
      path: { py: launcher },
      programs: { [`${launcher} -3`]: python("3.13.0") },
    });
    const found = await findPython(probe, []);
    expect(found).toEqual({ kind: "found", python: { command: launcher, args: ["-3"], version: "3.13.0" } });
  });
});

test("what is missing, and what helps, is told in the words that are given", async () => {
  const found = await findServer(machine({ programs: {} }), {
    ...nowhere,
    command: ["/nowhere/codelaw"],
    words: german,
  });
  expect(found).toMatchObject({
    message:
      "Der Befehl in codelaw.server.command läuft nicht: es ließ sich nicht starten. Berichtigen Sie ihn, oder entfernen Sie ihn, damit der Server gesucht wird.",
    actions: [{ title: "Einstellungen öffnen" }, { title: "Erneut suchen" }, { title: "Protokoll zeigen" }],
  });
});
