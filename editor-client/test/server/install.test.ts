// The installation on a real disk, with a Python that only records what it is told, and fails or waits on demand.
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { server as words } from "../../src/languages/en/server";
import type { Python } from "../../src/server/find";
import { type Bundle, bundleIn, environmentsIn, failure, install, use } from "../../src/server/install";
import { fakeBundle, fakePython } from "./python";

let root: string;
let storage: string;
let python: Python;
let bundle: Bundle;

const says = (name: string) => writeFile(path.join(root, name), "");
const calls = async () => (await readFile(path.join(root, "calls"), "utf8")).trim().split("\n");
const inStorage = async () => (await readdir(storage)).sort();

const progress = (signal = new AbortController().signal) => {
  const reported: string[] = [];
  const logged: string[] = [];
  return {
    reported,
    logged,
    signal,
    words,
    report: (message: string) => void reported.push(message),
    log: (line: string) => void logged.push(line),
  };
};

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), "codelaw install "));
  storage = path.join(root, "storage");
  const command = await fakePython(root);
  const carried = await fakeBundle(path.join(root, "server"));
  python = { command, args: [], version: "3.11.2" };
  bundle = (await bundleIn(carried))!;
  vi.stubEnv("FAKE", root);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true, force: true });
});

// The fake is a shell script; what differs on Windows is the place of the Python, which find.test.ts covers.
describe.skipIf(process.platform === "win32")("the private environment", () => {
  test("is made of the lock, with hashes, and of the wheel alone, and tried before it counts", async () => {
    const told = progress();
    const folder = await install(python, bundle, storage, told);
    const steps = (await calls()).map((line) => line.replace(/.*-m /, "").split(" ")[0]);
    expect(steps.slice(0, 5)).toEqual(["venv", "pip", "pip", "pip", "codelaw"]);
    expect((await calls())[1]).toContain(`--require-hashes --prefer-binary -r ${bundle.lock}`);
    expect((await calls())[2]).toContain(`--no-deps --no-index ${bundle.wheel}`);
    expect(told.reported).toContain("Downloading numpy");
    expect(await environmentsIn(storage, bundle)).toEqual([{ folder, version: "0.1.0" }]);
    expect(await inStorage()).toEqual([path.basename(folder)]);
  });

  test("keeps no installer, and bytecode of what a first turn imports alone", async () => {
    await install(python, bundle, storage, progress());
    const said = await calls();
    const added = said.filter((line) => line.includes("--no-input install"));
    expect(added).toHaveLength(2);
    for (const line of added) expect(line).toContain("--no-compile");
    expect(said[3]).toContain("uninstall --yes pip setuptools");
    expect(said[5]).toMatch(/^-I -c import .*codelaw/);
  });

  test("settings of pip with which it could not be filled do not count", async () => {
    vi.stubEnv("PIP_USER", "1");
    await install(python, bundle, storage, progress());
    expect((await calls()).join("\n")).not.toContain("PIP_USER");
  });

  test("without a network nothing is left, and pip's last lines are told with what to do", async () => {
    await says("no-network");
    const refusal = install(python, bundle, storage, progress());
    await expect(refusal).rejects.toMatchObject({
      code: "install_failed",
      message: expect.stringContaining("No matching distribution found for numpy") as string,
      hint: expect.stringContaining("check the network") as string,
    });
    expect(await inStorage()).toEqual([]);
  });

  test("without the venv module its package is named", async () => {
    await says("no-venv");
    await expect(install(python, bundle, storage, progress())).rejects.toMatchObject({
      hint: expect.stringContaining("apt install python3-venv") as string,
    });
    expect(await inStorage()).toEqual([]);
  });

  test("cancelled in the middle, nothing is left and no program runs on", async () => {
    await says("slow");
    const stop = new AbortController();
    const refusal = expect(install(python, bundle, storage, progress(stop.signal))).rejects.toMatchObject({
      code: "cancelled",
    });
    const beats = async () => (await readFile(path.join(root, "beats"), "utf8")).length;
    await vi.waitFor(async () => expect(await beats()).toBeGreaterThan(1), 150_000);
    stop.abort();
    await refusal;
    expect(await inStorage()).toEqual([]);
    const last = await beats();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await beats()).toBe(last);
  });

  test("one that was interrupted is not taken for whole, and goes when it is abandoned", async () => {
    const draft = path.join(storage, "draft-1234");
    const half = path.join(storage, `server-0.1.0-${bundle.digest}`);
    await mkdir(draft, { recursive: true });
    await mkdir(half);
    expect(await environmentsIn(storage, bundle)).toEqual([]);
    const long = new Date(Date.now() - 2 * 3600_000);
    await utimes(draft, long, long);
    const folder = await install(python, bundle, storage, progress());
    expect(await inStorage()).toEqual([path.basename(folder)]);
  });

  test("the draft of another window that is at work stays", async () => {
    await mkdir(path.join(storage, "draft-of-another"), { recursive: true });
    await install(python, bundle, storage, progress());
    expect(await inStorage()).toContain("draft-of-another");
  });

  test("two windows that install at once end up with one that works", async () => {
    const both = await Promise.all([
      install(python, bundle, storage, progress()),
      install(python, bundle, storage, progress()),
    ]);
    expect(both[0]).toBe(both[1]);
    expect(await inStorage()).toEqual([path.basename(both[0])]);
    expect(await readdir(path.join(both[0], "bin"))).toContain("installed");
  });

  test("one that stands there and does not run is replaced", async () => {
    const folder = await install(python, bundle, storage, progress());
    await rm(path.join(folder, "bin", "installed"));
    expect(await install(python, bundle, storage, progress())).toBe(folder);
    expect(await readdir(path.join(folder, "bin"))).toContain("installed");
    expect(await inStorage()).toEqual([path.basename(folder)]);
  });

  test("those of other versions go once the new one works and nothing runs from them, and not before", async () => {
    const old = path.join(storage, "server-0.0.9-0123456789ab");
    const stamp = path.join(old, "codelaw-complete.json");
    const long = new Date(Date.now() - 15 * 24 * 3600_000);
    await mkdir(old, { recursive: true });
    await writeFile(stamp, "{}");
    await utimes(stamp, long, long);
    await says("no-network");
    await expect(install(python, bundle, storage, progress())).rejects.toThrow();
    expect(await environmentsIn(storage, bundle)).toEqual([{ folder: old, version: "0.0.9" }]);
    await rm(path.join(root, "no-network"));
    await use(old);
    const folder = await install(python, bundle, storage, progress());
    expect(await environmentsIn(storage, bundle)).toEqual([
      { folder, version: "0.1.0" },
      { folder: old, version: "0.0.9" },
    ]);
    await utimes(stamp, long, long);
    await rm(path.join(folder, "bin", "installed"));
    await install(python, bundle, storage, progress());
    expect(await environmentsIn(storage, bundle)).toEqual([{ folder, version: "0.1.0" }]);
  });

  test("what the user keeps beside it is not touched", async () => {
    await mkdir(path.join(storage, "notes"), { recursive: true });
    await install(python, bundle, storage, progress());
    expect(await inStorage()).toContain("notes");
  });

  test("the wheel and the lock must both be there", async () => {
    const carried = path.dirname(bundle.wheel);
    expect(bundle).toMatchObject({ version: "0.1.0", lock: path.join(carried, "requirements.lock") });
    await writeFile(bundle.lock, "another lock");
    expect((await bundleIn(carried))!.digest).not.toBe(bundle.digest);
    const other = (await bundleIn(carried))!.digest;
    await writeFile(path.join(bundle.extras, "mcp.lock"), "another extra");
    expect((await bundleIn(carried))!.digest).not.toBe(other);
    await rm(bundle.lock);
    expect(await bundleIn(carried)).toBeUndefined();
    expect(await bundleIn(path.join(root, "nowhere"))).toBeUndefined();
  });
});

test.each([
  ["ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "not the one that was expected"],
  ["OSError: [Errno 28] No space left on device", "disk is full"],
  ["SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "certificate"],
  ["NewConnectionError: Temporary failure in name resolution", "check the network"],
  ["ERROR: Failed building wheel for tiktoken", "choose another Python"],
  ["something that nobody knows", "Show Logs"],
])("%s is told with what to do", (stderr, remedy) => {
  const refusal = failure({ status: 1, stdout: "", stderr }, words);
  expect(refusal.hint).toContain(remedy);
  expect(refusal.message).toContain(stderr);
});
