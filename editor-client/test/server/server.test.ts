// The real server behind the real language client, in a fake editor.
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ExtensionContext } from "vscode";
import type { Server as ServerClass } from "../../src/server/server";
import type { ServerState } from "../../src/messages";
import type { ChatEvent } from "../../src/protocol/types";
import manifest from "../../package.json";
import { fakeBundle, fakePython } from "./python";

const fake = await vi.hoisted(async () => {
  const { editor, provide } = await import("./editor");
  const made = editor();
  provide(made.vscode);
  return made;
});
vi.mock("vscode", () => fake.vscode);

const VENV = path.resolve(import.meta.dirname, "../../../.venv");
const CODELAW = process.env["CODELAW_SERVER"] ?? path.join(VENV, "bin", "codelaw");
const KEY = "sk-ant-a-key-that-must-not-be-seen";

let server: ServerClass;
let states: ServerState[];
let events: ChatEvent[];

const begin = async (): Promise<ServerClass> => {
  const { Server } = await import("../../src/server/server");
  const made = new Server(fake.context as unknown as ExtensionContext);
  made.onState((state) => states.push(state));
  made.onEvent((event) => events.push(event));
  return made;
};

const until = async (what: () => boolean) =>
  vi.waitFor(() => expect(what()).toBe(true), { timeout: 150_000, interval: 20 });
const pidOf = (): number => {
  const line = fake.log.findLast((entry) => entry.includes("process "));
  return Number(/process (\d+)/.exec(line ?? "")?.[1]);
};
const script = async (replies: unknown[]) => {
  const file = path.join(fake.home, "script.json");
  await writeFile(file, JSON.stringify({ replies }));
  fake.set("codelaw.model.provider", "scripted");
  fake.set("codelaw.model.script", file);
};

describe.skipIf(!existsSync(CODELAW))("the real server", { timeout: 60_000 }, () => {
  beforeEach(async () => {
    states = [];
    events = [];
    fake.log.length = 0;
    fake.secrets.clear();
    fake.context.extension.packageJSON = manifest;
    vi.stubEnv("CODELAW_HOME", path.join(fake.home, "data"));
    for (const name of ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"]) vi.stubEnv(name, undefined);
    await mkdir(path.join(fake.home, "data"), { recursive: true });
    fake.set("codelaw.server.command", [CODELAW]);
    fake.set("codelaw.model.provider", undefined);
    fake.set("codelaw.model.script", undefined);
    server = await begin();
  });

  afterEach(async () => {
    await server.stop();
    server.dispose();
    vi.unstubAllEnvs();
    await rm(path.join(fake.home, "data"), { recursive: true, force: true });
  });

  test("starts, says its version and what it can, and refuses with codes and hints", async () => {
    server.start();
    const { chats } = await server.request("codelaw/chat/list", {});
    expect(chats).toEqual([]);
    expect(server.state).toMatchObject({ phase: "ready", session: 1, message: "" });
    expect(server.state.methods).toContain("codelaw/chat/send");
    expect(server.state.version).toMatch(/^\d+\.\d+/);
    expect(states.map(({ phase }) => phase).slice(0, 3)).toEqual(["searching", "starting", "ready"]);
    const read = (chatId?: string) => server.request("codelaw/chat/read", { chatId } as { chatId: string });
    await expect(read("none")).rejects.toMatchObject({ name: "Refusal", code: "chat_not_found" });
    await expect(read()).rejects.toMatchObject({ code: "invalid_params" });
    const shown = server.command("codelaw.chat.show", { chatId: "none", what: "transcript" });
    await expect(shown).rejects.toMatchObject({ code: "chat_not_found" });
    const unknown = server.request("codelaw/chat/sing" as "codelaw/chat/list", {});
    await expect(unknown).rejects.toMatchObject({ code: "method_not_found" });
  });

  test.each(["messages", "verbose"])(
    "a key and a setting reach the running server at once, and the key no log: %s",
    async (trace) => {
      fake.set("codelaw-server.trace.server", trace);
      await writeFile(path.join(fake.home, "data", "config.toml"), "[turn]\nmaxSteps = 7\n");
      server.start();
      await until(() => server.state.offline);
      const read = async (key: string) => (await server.request("codelaw/settings/read", {})).settings[key];
      // What is not set in the editor leaves the user's file alone.
      expect(await read("turn.maxSteps")).toMatchObject({ value: 7, origin: "user" });
      fake.set("codelaw.turn.maxSteps", 9);
      await vi.waitFor(
        async () => expect(await read("turn.maxSteps")).toMatchObject({ value: 9, origin: "client" }),
        150_000,
      );
      fake.set("codelaw.turn.maxSteps", undefined);
      await fake.context.secrets.store("codelaw.model.apiKey", KEY);
      await until(() => !server.state.offline);
      expect(server.state.session).toBe(1);
      const { settings } = await server.request("codelaw/settings/read", {});
      expect(settings["model.apiKey"]?.origin).toBe("client");
      await server.removeKey();
      await until(() => server.state.offline);
      expect(fake.log.join("\n")).not.toContain(KEY);
      expect(fake.log.some((line) => line.includes("Params:"))).toBe(trace === "verbose");
      expect(fake.log.some((line) => line.includes("A message with the key"))).toBe(trace === "verbose");
      fake.set("codelaw-server.trace.server", undefined);
      expect(JSON.stringify(states)).not.toContain(KEY);
      expect(JSON.stringify(settings)).not.toContain(KEY);
    },
  );

  test("what a file of the workspace is called in a message cannot be clicked to run a command", async () => {
    const folder = path.join(fake.home, ".codelaw");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "config.toml"), '"[Repair](command:workbench.action.quit)" = 1\n');
    server.start();
    await vi.waitFor(() => expect(fake.log.join("\n")).toContain("[Repair] (command:workbench.action.quit)"), 150_000);
    await rm(folder, { recursive: true });
    expect(fake.log.filter((line) => line.startsWith("warned")).join("\n")).not.toContain("](");
  });

  test("events come, its questions are answered, and both still after a crash in the middle of a turn", async () => {
    const asked: string[] = [];
    server.onRequest("codelaw/approval/request", ({ tool, options }) => {
      asked.push(tool);
      return { optionId: options.find(({ kind }) => kind === "reject")?.id ?? null };
    });
    await script([
      { text: 'Thought: I write.\nAction: Write[{"path": "a.txt", "content": "x"}]' },
      { text: "Thought: one\nAction: Finish[first]" },
      { text: `Thought: ${"slowly ".repeat(400)}`, delay: 0.05, chunk: 4 },
    ]);
    server.start();
    const first = await server.request("codelaw/chat/send", { text: "go" });
    expect(first.answer).toBe("first");
    expect(asked).toEqual(["Write"]);
    expect(events.some(({ event }) => event.kind === "turn_ended")).toBe(true);

    const second = server.request("codelaw/chat/send", { text: "again", chatId: first.chatId });
    const refused = expect(second).rejects.toMatchObject({ code: "disconnected" });
    const before = events.length;
    await until(() => events.length > before + 3);
    process.kill(pidOf(), "SIGKILL");
    await refused;
    expect(server.state.phase).toBe("crashed");
    const { chat } = await server.request("codelaw/chat/read", { chatId: first.chatId });
    expect(chat.id).toBe(first.chatId);
    expect(server.state).toMatchObject({ phase: "ready", session: 2 });

    asked.length = 0;
    const third = await server.request("codelaw/chat/send", { text: "once more" });
    expect(third.answer).toBe("first");
    expect(asked).toEqual(["Write"]);
    expect(fake.log.filter((line) => line.startsWith("popup"))).toEqual([]);
  });

  test("a restart gives a new session and a stop ends it, and no process is left of either", async () => {
    server.start();
    await server.request("codelaw/chat/list", {});
    const first = pidOf();
    await server.restart();
    await server.request("codelaw/chat/list", {});
    const second = pidOf();
    expect(server.state.session).toBe(2);
    expect(second).not.toBe(first);
    await server.stop();
    for (const pid of [first, second]) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    expect(server.state.phase).toBe("stopped");
    await expect(server.request("codelaw/chat/list", {})).rejects.toMatchObject({ code: "disconnected" });
    expect([...fake.commands.keys()].filter((name) => name.startsWith("codelaw."))).toEqual([]);
  });

  test("a command that does not run is told with a way to the settings", async () => {
    fake.set("codelaw.server.command", [path.join(fake.home, "nothing")]);
    server.start();
    await until(() => server.state.phase === "missing");
    expect(server.state.message).toContain("codelaw.server.command does not run");
    expect(server.state.actions[0]?.command).toBe("codelaw.openSettings");
    fake.set("codelaw.server.command", [CODELAW]);
    await until(() => server.state.phase === "ready");
  });

  test.skipIf(process.platform === "win32")("one that is missing is offered, installed and started", async () => {
    const bin = `${fake.home}-bin`; // the home is the workspace here, of which no Python would be taken
    await mkdir(bin, { recursive: true });
    await fakePython(bin);
    await fakeBundle(path.join(fake.context.extensionPath, "server"));
    vi.stubEnv("PATH", [bin, "/usr/bin", "/bin"].join(path.delimiter));
    vi.stubEnv("FAKE", fake.home);
    vi.stubEnv("CODELAW_SERVER", CODELAW);
    fake.set("codelaw.server.command", undefined);
    server.start();
    await until(() => server.state.phase === "missing");
    expect(server.state.message).toContain("not installed yet");
    expect(server.state.actions[0]?.command).toBe("codelaw.installServer");

    await writeFile(path.join(fake.home, "no-network"), "");
    await server.install();
    expect(server.state.phase).toBe("missing");
    expect(server.state.message).toContain("check the network");
    expect(server.state.message).toContain("No matching distribution found for numpy");
    expect(server.state.actions[0]).toEqual({ title: "Try Again", command: "codelaw.installServer" });

    await rm(path.join(fake.home, "no-network"));
    await server.install();
    await server.request("codelaw/chat/list", {});
    expect(server.state.phase).toBe("ready");
    expect(server.state.origin).toContain("its own environment");
    expect(states.map(({ phase }) => phase)).toContain("installing");
  });
});
