import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { server as words } from "../../src/languages/en/server";
import type { ServerState } from "../../src/messages";
import type { Launch, Located } from "../../src/server/find";
import { type Connected, CRASH_WINDOW, Lifecycle, MAX_RESTARTS } from "../../src/server/lifecycle";
import { disconnected, Refusal } from "../../src/server/refusal";

const launch: Launch = { command: "codelaw", args: ["serve"], version: "0.1.0", origin: "PATH", outdated: false };
const found: Located = { kind: "found", launch, tried: [] };
const nothing: Located = { kind: "missing", message: "There is none.", actions: [], tried: [] };

class Fake implements Connected {
  readonly version = "0.1.0";
  readonly methods = ["codelaw/chat/read"];
  readonly message = "";
  stopped = 0;
  constructor(readonly die: (reason: string) => void) {}
  stop(): Promise<void> {
    this.stopped++;
    return Promise.resolve();
  }
}

const stage = () => {
  const states: ServerState[] = [];
  const servers: Fake[] = [];
  const world = {
    located: found as Located | Promise<Located>,
    searches: 0,
    connecting: null as ((lost: (reason: string) => void, signal: AbortSignal) => Promise<Fake>) | null,
  };
  const lifecycle = new Lifecycle<Fake>({
    locate: () => {
      world.searches++;
      return Promise.resolve(world.located);
    },
    connect: async (_launch, lost, signal) => {
      const server = world.connecting === null ? new Fake(lost) : await world.connecting(lost, signal);
      servers.push(server);
      return server;
    },
    changed: (state) => states.push(state),
    log: () => undefined,
    now: () => Date.now(),
    words,
  });
  const phases = () => states.map(({ phase }) => phase);
  return { lifecycle, states, servers, world, phases };
};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("the life of the server", () => {
  test("it is searched, started and ready, and its session is one more than before", async () => {
    const { lifecycle, phases } = stage();
    lifecycle.start();
    await lifecycle.ready();
    expect(phases()).toEqual(["searching", "starting", "ready"]);
    expect(lifecycle.state).toMatchObject({ session: 1, version: "0.1.0", origin: "PATH" });
  });

  test("a request waits for a server that is starting", async () => {
    const { lifecycle, servers } = stage();
    lifecycle.start();
    const waiting = lifecycle.ready();
    expect(await waiting).toBe(servers[0]);
  });

  test("a server that crashes is started again, and what was known of it is not searched again", async () => {
    const { lifecycle, servers, world } = stage();
    lifecycle.start();
    await lifecycle.ready();
    servers[0]!.die("killed");
    expect(lifecycle.state.phase).toBe("crashed");
    const waiting = lifecycle.ready();
    await vi.advanceTimersByTimeAsync(300);
    expect(await waiting).toBe(servers[1]);
    expect(lifecycle.state).toMatchObject({ phase: "ready", session: 2, message: "" });
    expect(world.searches).toBe(1);
  });

  test(`after ${MAX_RESTARTS} restarts in a row it is given up, with a way to restart and the logs`, async () => {
    const { lifecycle, servers } = stage();
    lifecycle.start();
    await lifecycle.ready();
    for (let crash = 0; crash < MAX_RESTARTS; crash++) {
      servers.at(-1)!.die("killed");
      await vi.advanceTimersByTimeAsync(10_000);
      expect(lifecycle.state.phase).toBe("ready");
    }
    servers.at(-1)!.die("Its process was ended by SIGSEGV.");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(servers).toHaveLength(MAX_RESTARTS + 1);
    expect(lifecycle.state.phase).toBe("crashed");
    expect(lifecycle.state.message).toContain("SIGSEGV");
    expect(lifecycle.state.actions.map(({ command }) => command)).toEqual(["codelaw.restart", "codelaw.showLogs"]);
    await expect(lifecycle.ready()).rejects.toMatchObject({ code: "disconnected" });
    await lifecycle.restart();
    expect(lifecycle.state.phase).toBe("ready");
  });

  test("crashes that lie far apart do not count together", async () => {
    const { lifecycle, servers } = stage();
    lifecycle.start();
    await lifecycle.ready();
    for (let crash = 0; crash < 3 * MAX_RESTARTS; crash++) {
      servers.at(-1)!.die("killed");
      await vi.advanceTimersByTimeAsync(CRASH_WINDOW / 2);
      expect(lifecycle.state.phase).toBe("ready");
    }
  });

  test("one that does not get up is searched again and given up in the end", async () => {
    const { lifecycle, world } = stage();
    world.connecting = () => Promise.reject(disconnected("Its process ended with status 1."));
    lifecycle.start();
    const waiting = lifecycle.ready();
    const refused = expect(waiting).rejects.toMatchObject({ code: "disconnected" });
    await vi.advanceTimersByTimeAsync(60_000);
    await refused;
    expect(world.searches).toBe(MAX_RESTARTS + 1);
    expect(lifecycle.state.message).toContain("status 1");
  });

  test("where there is none, that is said and requests are refused", async () => {
    const { lifecycle, world } = stage();
    world.located = nothing;
    lifecycle.start();
    await expect(lifecycle.ready()).rejects.toThrow("There is none.");
    expect(lifecycle.state.phase).toBe("missing");
    await expect(lifecycle.ready()).rejects.toBeInstanceOf(Refusal);
  });

  test("a failing search is told and tried again", async () => {
    const { lifecycle, world } = stage();
    world.located = Promise.reject(new Error("the storage cannot be read"));
    lifecycle.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(lifecycle.state.phase).toBe("crashed");
    world.located = found;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lifecycle.state.phase).toBe("ready");
  });

  test("a restart ends the running server, searches again and keeps those who wait", async () => {
    const { lifecycle, servers, world } = stage();
    lifecycle.start();
    await lifecycle.ready();
    const restarted = lifecycle.restart();
    const waiting = lifecycle.ready();
    await restarted;
    expect(servers[0]!.stopped).toBe(1);
    expect(await waiting).toBe(servers[1]);
    expect(world.searches).toBe(2);
  });

  test("two restarts at once leave one server", async () => {
    const { lifecycle, servers } = stage();
    lifecycle.start();
    await lifecycle.ready();
    await Promise.all([lifecycle.restart(), lifecycle.restart()]);
    const alive = servers.filter(({ stopped }) => stopped === 0);
    expect(alive).toEqual([lifecycle.current]);
  });

  test("a stop while it starts ends what was started, and nothing starts afterwards", async () => {
    const { lifecycle, world, servers } = stage();
    let aborted = false;
    world.connecting = (_lost, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          aborted = true;
          reject(disconnected("aborted"));
        }),
      );
    lifecycle.start();
    const refused = expect(lifecycle.ready()).rejects.toMatchObject({ code: "disconnected" });
    await vi.advanceTimersByTimeAsync(0);
    await lifecycle.stop();
    await refused;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(aborted).toBe(true);
    expect(servers).toEqual([]);
    expect(lifecycle.state.phase).toBe("stopped");
  });

  test("the death of a server that was left is no crash", async () => {
    const { lifecycle, servers } = stage();
    lifecycle.start();
    await lifecycle.ready();
    await lifecycle.restart();
    servers[0]!.die("late");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lifecycle.state).toMatchObject({ phase: "ready", session: 2 });
  });

  test("what is learnt of a server that is gone is not laid over the state of the next", async () => {
    const { lifecycle, servers } = stage();
    lifecycle.start();
    await lifecycle.ready();
    lifecycle.learn(servers[0]!, { offline: true });
    expect(lifecycle.state.offline).toBe(true);
    await lifecycle.restart();
    lifecycle.learn(servers[1]!, { offline: false });
    lifecycle.learn(servers[0]!, { offline: true });
    expect(lifecycle.state.offline).toBe(false);
  });

  test("an outdated server is used, and its update offered", async () => {
    const { lifecycle, world } = stage();
    world.located = { kind: "found", launch: { ...launch, outdated: true }, tried: [] };
    lifecycle.start();
    await lifecycle.ready();
    expect(lifecycle.state.phase).toBe("ready");
    expect(lifecycle.state.actions).toEqual([{ title: "Update Server", command: "codelaw.installServer" }]);
  });

  test("while it is installed nothing starts, and a failure is said", async () => {
    const { lifecycle, servers } = stage();
    lifecycle.start();
    await lifecycle.ready();
    lifecycle.installing("Downloading");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(servers).toHaveLength(1);
    expect(servers[0]!.stopped).toBe(1);
    lifecycle.fail("No network.", []);
    expect(lifecycle.state).toMatchObject({ phase: "missing", message: "No network." });
  });
});
