// What one window adds to its server, and when the server begins anew for it; the server is a fake at its edge.
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ChatEvent, Setting } from "../../src/protocol/types";
import type { Extra } from "../../src/server/extras";
import { Refusal } from "../../src/server/refusal";
import type { Server } from "../../src/server/server";
import * as fake from "../host/vscode";

vi.mock("vscode", () => import("../host/vscode"));
const { Extras } = await import("../../src/server/adding");

const set = (value: unknown): Setting => ({ value, origin: "user" });

/** A server whose environment has `has`; `broken` cannot be added, and a `slow` one is when it is told so. */
class FakeServer {
  readonly states = new fake.EventEmitter<unknown>();
  readonly models = new fake.EventEmitter<unknown>();
  readonly events = new fake.EventEmitter<unknown>();
  readonly onState = this.states.event;
  readonly onModelChanged = this.models.event;
  readonly onEvent = this.events.event;
  readonly has = new Set<Extra>();
  readonly broken = new Map<Extra, Refusal>();
  readonly asked: Extra[] = [];
  readonly said: string[] = [];
  settings: Record<string, Setting> | Refusal = {};
  slow: Promise<void> | null = null;
  restarts = 0;
  session = 0;
  readonly log = {
    warn: (line: string) => void this.said.push(line),
    error: (line: string) => void this.said.push(line),
  };

  request(method: string): Promise<unknown> {
    if (method === "codelaw/mcp/list") return Promise.resolve({ servers: [] });
    return this.settings instanceof Refusal
      ? Promise.reject(this.settings)
      : Promise.resolve({ settings: this.settings });
  }

  async add(extra: Extra): Promise<boolean> {
    this.asked.push(extra);
    await this.slow;
    const refusal = this.broken.get(extra);
    if (refusal !== undefined) throw refusal;
    if (this.has.has(extra)) return false;
    this.has.add(extra);
    return true;
  }

  restart(): Promise<void> {
    this.restarts += 1;
    this.start();
    return Promise.resolve();
  }

  start(): void {
    this.session += 1;
    this.tellReady();
  }

  tellReady(): void {
    this.states.fire({ phase: "ready", session: this.session });
  }

  tell(event: Partial<ChatEvent["event"]>, turnId = "t"): void {
    this.events.fire({ chatId: "c", turnId, seq: 1, at: 1, event });
  }
}

/** All that was begun has come to its end: nothing here waits for more than promises. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const warnings = (): unknown[] =>
  fake.editor.done.filter(({ what }) => what === "warning").map(({ with: [said] }) => said);
const SERVED = { kind: "mcp", server: "s", state: "ready" } as const;

describe("what the server needs", () => {
  let server: FakeServer;
  let extras: InstanceType<typeof Extras>;

  beforeEach(() => {
    fake.reset();
    server = new FakeServer();
    extras = new Extras(server as unknown as Server);
  });

  it("by its settings is added when it is ready, and it begins anew once", async () => {
    server.settings = { "model.name": set("gpt-5"), "embedding.provider": set("local") };
    server.start();
    await settled();
    expect(server.asked.sort()).toEqual(["local", "tokenizer"]);
    expect(server.restarts).toBe(1);
    server.tellReady();
    server.models.fire(undefined);
    await settled();
    expect([server.asked.length, server.restarts]).toEqual([2, 1]);
  });

  it("and has already is no reason to begin anew", async () => {
    server.has.add("tokenizer");
    server.settings = { "model.name": set("gpt-5") };
    server.start();
    await settled();
    expect([server.asked, server.restarts]).toEqual([["tokenizer"], 0]);
  });

  it("comes with the model that is chosen later", async () => {
    server.start();
    await settled();
    expect(server.asked).toEqual([]);
    server.settings = { "model.name": set("gpt-5") };
    server.models.fire(undefined);
    await settled();
    expect([server.asked, server.restarts]).toEqual([["tokenizer"], 1]);
  });

  it("in a turn is added at once and used when no turn of any chat runs", async () => {
    server.start();
    await settled();
    server.tell({ kind: "turn_started" }, "one");
    server.tell({ kind: "turn_started" }, "two");
    server.tell(SERVED, "one");
    server.tell(SERVED, "two");
    await settled();
    expect([server.asked, server.restarts]).toEqual([["mcp"], 0]);
    server.tell({ kind: "turn_ended" }, "one");
    await settled();
    expect(server.restarts).toBe(0);
    server.tell({ kind: "turn_ended" }, "two");
    await settled();
    expect(server.restarts).toBe(1);
  });

  it("is used when it has come, where the turn ended before", async () => {
    let come = (): void => undefined;
    server.start();
    await settled();
    server.slow = new Promise((resolve) => (come = resolve));
    server.tell({ kind: "turn_started" });
    server.tell(SERVED);
    server.tell({ kind: "turn_ended" });
    await settled();
    expect(server.restarts).toBe(0);
    come();
    await settled();
    expect(server.restarts).toBe(1);
  });

  it("is in a server that began anew for another reason, whose dead turns hold nothing up", async () => {
    server.start();
    await settled();
    server.tell({ kind: "turn_started" });
    server.tell(SERVED);
    await settled();
    server.start();
    await settled();
    server.tell({ kind: "turn_started" }, "next");
    server.tell({ kind: "turn_ended" }, "next");
    await settled();
    expect(server.restarts).toBe(0);
  });

  it("and cannot be had is told once with what helps, and the rest is added", async () => {
    const reason = "No matching distribution found for [x](command:evil)";
    server.broken.set("local", new Refusal("install_failed", reason, "Check the network."));
    server.settings = { "embedding.provider": set("local"), "model.name": set("gpt-5") };
    server.start();
    await settled();
    expect(server.has).toEqual(new Set(["tokenizer"]));
    expect(server.restarts).toBe(1);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain("Check the network.");
    expect(warnings()[0], "nothing in it can be clicked").not.toContain("](command:");
    expect(server.said).toEqual([`local could not be added: ${reason}`]);
    server.models.fire(undefined);
    await settled();
    expect(server.asked.filter((extra) => extra === "local")).toHaveLength(1);
  });

  it("and is not known is looked for again with the next server", async () => {
    server.settings = new Refusal("disconnected", "The server ended.");
    server.start();
    await settled();
    expect(server.said).toEqual(["What the server needs is not known: The server ended."]);
    server.settings = { "model.name": set("gpt-5") };
    server.start();
    await settled();
    expect(server.asked).toEqual(["tokenizer"]);
  });

  it("concerns a window no more that is closed", async () => {
    extras.dispose();
    server.settings = { "model.name": set("gpt-5") };
    server.start();
    server.tell(SERVED);
    await settled();
    expect([server.asked, warnings()]).toEqual([[], []]);
  });
});
