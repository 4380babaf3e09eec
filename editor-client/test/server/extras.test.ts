// What an environment gets later: the decisions, and the way on a real disk with a Python that only records.
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { server as words } from "../../src/languages/en/server";
import type { ChatEvent, Server, Setting } from "../../src/protocol/types";
import { addExtra, EXTRAS, hasExtra, neededByEvent, neededByServers, neededBySettings } from "../../src/server/extras";
import { type Bundle, bundleIn, install, type Progress } from "../../src/server/install";
import { packagesOf } from "../../src/server/trim";
import { fakeBundle, fakePython } from "./python";

const set = (value: unknown): Setting => ({ value, origin: "user" });

test.each([
  ["nothing that is set", {}, []],
  ["a model of the vendor", { "model.name": set("claude-sonnet-5"), "embedding.provider": set("none") }, []],
  ["a local embedder", { "embedding.provider": set("local") }, ["local"]],
  ["a database", { "store.url": set("postgresql://***@host/db") }, ["postgresql"]],
  ["a file as the store", { "store.url": set("sqlite:///chats.db") }, []],
  ["a model of another vendor", { "model.name": set("gpt-5") }, ["tokenizer"]],
  ["a provider by its name", { "model.provider": set("openai") }, ["openai"]],
  ["a key of such a vendor", { "model.providers.gemini.apiKey": set("••••") }, ["openai"]],
  ["a key of another", { "model.providers.deepseek.apiKey": set("••••"), "model.provider": set("auto") }, []],
])("%s needs what it needs", (_what, settings, needed) => {
  expect(neededBySettings(settings)).toEqual(needed);
});

test("servers need their package when one of them may be started", () => {
  const server = (state: Server["state"]): Server => ({ name: "s", state, tools: 0 });
  expect(neededByServers({ servers: [] })).toEqual([]);
  expect(neededByServers({ servers: [server("needs_trust")] })).toEqual([]);
  expect(neededByServers({ servers: [server("needs_trust"), server("failed")] })).toEqual(["mcp"]);
});

test("a server that does something needs its package, a call of a tool nothing", () => {
  const call = (tool: string): ChatEvent["event"] => ({
    kind: "tool_call",
    callId: "c",
    tool,
    title: tool,
    status: "running",
    step: 1,
  });
  expect(neededByEvent(call("search_code"))).toEqual([]);
  expect(neededByEvent({ kind: "mcp", server: "s", state: "failed" })).toEqual(["mcp"]);
  expect(neededByEvent({ kind: "notice", level: "warning", code: "mcp_failed", message: "" })).toEqual(["mcp"]);
  expect(neededByEvent({ kind: "notice", level: "warning", code: "law_changed", message: "" })).toEqual([]);
});

test("every extra has a lock that the extension carries", async () => {
  const locks = await readdir(path.join(import.meta.dirname, "../../../requirements-editor"));
  expect(locks.sort()).toEqual(EXTRAS.map((name) => `${name}.lock`).sort());
});

// The fake is a shell script.
describe.skipIf(process.platform === "win32")("an extra", () => {
  let root: string;
  let environment: string;
  let bundle: Bundle;
  const progress: Progress = {
    report: () => undefined,
    log: () => undefined,
    signal: new AbortController().signal,
    words,
  };

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), "codelaw extras "));
    vi.stubEnv("FAKE", root);
    bundle = (await bundleIn(await fakeBundle(path.join(root, "server"))))!;
    const python = { command: await fakePython(root), args: [], version: "3.11.2" };
    environment = await install(python, bundle, path.join(root, "storage"), progress);
    await writeFile(path.join(root, "calls"), "");
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(root, { recursive: true, force: true });
  });

  test("comes from its lock, by hashes, without tests, scripts and an installer", async () => {
    expect(await hasExtra(environment, "mcp")).toBe(false);
    await addExtra(environment, bundle, "mcp", progress);
    expect(await hasExtra(environment, "mcp")).toBe(true);
    const packages = await packagesOf(environment);
    expect(await readdir(packages)).toEqual(["mcp"]);
    expect(await readdir(path.join(packages, "mcp"))).toEqual(["__init__.py"]);
    const calls = await readFile(path.join(root, "calls"), "utf8");
    expect(calls).toContain(`--no-deps --require-hashes --prefer-binary -r ${path.join(bundle.extras, "mcp.lock")}`);
    expect(await readdir(path.dirname(environment))).toEqual([path.basename(environment)]);
  });

  test("is there once when two windows add it", async () => {
    await Promise.all([addExtra(environment, bundle, "mcp", progress), addExtra(environment, bundle, "mcp", progress)]);
    expect(await readdir(await packagesOf(environment))).toEqual(["mcp"]);
    expect(await readdir(path.dirname(environment))).toEqual([path.basename(environment)]);
  });

  test.each([
    ["no-network", "check the network"],
    ["wrong-hash", "not the one that was expected"],
    ["no-venv", "apt install python3-venv"],
  ])("that cannot be had (%s) leaves the environment as it was, and says what to do", async (fault, remedy) => {
    await writeFile(path.join(root, fault), "");
    await expect(addExtra(environment, bundle, "mcp", progress)).rejects.toMatchObject({
      code: "install_failed",
      hint: expect.stringContaining(remedy) as string,
    });
    await untouched();
  });

  test("that is cancelled half way leaves nothing, and no program runs on", async () => {
    await writeFile(path.join(root, "slow"), "");
    const stop = new AbortController();
    const added = addExtra(environment, bundle, "mcp", { ...progress, signal: stop.signal });
    const refusal = expect(added).rejects.toMatchObject({ code: "cancelled" });
    const beats = async () => (await readFile(path.join(root, "beats"), "utf8")).length;
    await vi.waitFor(async () => expect(await beats()).toBeGreaterThan(1), 150_000);
    stop.abort();
    await refusal;
    await untouched();
  });

  test("removes what one has left that ended long ago with its window", async () => {
    const [old, young] = ["draft-old", "draft-new"].map((name) => path.join(path.dirname(environment), name));
    await mkdir(path.join(old!, "packages"), { recursive: true });
    await mkdir(young!);
    const long = new Date(Date.now() - 2 * 3600_000);
    await utimes(old!, long, long);
    await addExtra(environment, bundle, "mcp", progress);
    expect((await readdir(path.dirname(environment))).sort()).toEqual(["draft-new", path.basename(environment)]);
  });

  async function untouched(): Promise<void> {
    expect(await hasExtra(environment, "mcp")).toBe(false);
    expect(await readdir(await packagesOf(environment))).toEqual([]);
    expect(await readdir(path.dirname(environment))).toEqual([path.basename(environment)]);
  }
});
