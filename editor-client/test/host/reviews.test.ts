import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Memento, Uri } from "vscode";
import type { ToPanel } from "../../src/messages";
import type { ChatEvent, TurnChange } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Accepted } = await import("../../src/chat/accepted");
const { Shown } = await import("../../src/chat/shown");
const { Refusal } = await import("../../src/server/refusal");
const { Reviewing } = await import("../../src/review/reviewing");
const { MOST_COMPARED } = await import("../../src/review/comparing");

const change = (number: number, path: string, more: Partial<TurnChange> = {}): TurnChange => ({
  turnId: "t1",
  uri: fake.Uri.file(`/w/${path}`).toString(),
  path,
  kind: "modified",
  number,
  isText: true,
  ...more,
});
const uriOf = (path: string): string => fake.Uri.file(`/w/${path}`).toString();
const HOSTILE = "a #1%20 \"b'\n\u202egpj.py";

let memory: Map<string, unknown>;
let methods: string[];
let changes: TurnChange[];
let asked: [string, { chatId?: string }][];
let reverts: (params: { turnId: string; uris: string[] }) => { uri: string; reason: string }[];
let events: fake.EventEmitter<ChatEvent>;
let states: fake.EventEmitter<{ phase: string; session: number }>;
let posted: ToPanel[];
let failures: unknown[];
let shown: InstanceType<typeof Shown>;
let reviewing: InstanceType<typeof Reviewing>;

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const show = (): void => {
  shown.show("c");
  reviewing.look("c");
};
const pending = (): string[] => {
  const told = posted.filter((message) => message.kind === "pending").at(-1);
  return told?.kind === "pending" ? told.files.map(({ path }) => path) : [];
};
const compared = (): (string | undefined)[][] => {
  const [, rows] = fake.editor.done.filter(({ what }) => what === "vscode.changes").at(-1)?.with ?? [];
  return (rows as (Uri | undefined)[][]).map((row) => row.map((uri) => uri?.toString()));
};
const said = (what: string): unknown[] => fake.editor.done.filter((one) => one.what === what).map((one) => one.with[0]);

function make(): InstanceType<typeof Reviewing> {
  const memento = {
    get: (key: string) => memory.get(key),
    update: (key: string, value: unknown) => {
      memory.set(key, JSON.parse(JSON.stringify(value)));
      return Promise.resolve();
    },
  } as unknown as Memento;
  const wire = {
    state: { phase: "ready", session: 1, methods },
    onState: states.event,
    onEvent: events.event,
    request: (method: string, params: { chatId?: string }): Promise<unknown> => {
      asked.push([method, params]);
      if (method === "codelaw/chat/changes") return Promise.resolve({ changes, total: changes.length });
      if (method === "codelaw/chat/reviewed") return Promise.resolve({ before: "old\n", after: "new\n" });
      const conflicts = reverts(params as never);
      const left = new Set(conflicts.map(({ uri }) => uri));
      const { turnId, uris } = params as { turnId: string; uris: string[] };
      changes = changes.filter((one) => one.turnId !== turnId || !uris.includes(one.uri) || left.has(one.uri));
      return Promise.resolve({ reverted: [], conflicts });
    },
  };
  return new Reviewing({
    wire: wire as unknown as Wire,
    shown,
    memory: memento,
    accepted: new Accepted(memento),
    post: (message) => posted.push(message),
    tell: () => Promise.resolve(),
    failed: (error) => failures.push(error),
  });
}

async function again(): Promise<void> {
  reviewing.dispose();
  posted = [];
  shown.dispose();
  shown = new Shown();
  reviewing = make();
  show();
  await settle();
}

beforeEach(() => {
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
  for (const name of ["a.py", "b.py", "new.py", HOSTILE]) fake.editor.files.set(`/w/${name}`, "new\n");
  memory = new Map();
  methods = ["codelaw/chat/changes"];
  changes = [change(1, "a.py"), change(2, "b.py"), change(3, "new.py", { kind: "created" })];
  asked = [];
  reverts = () => [];
  events = new fake.EventEmitter();
  states = new fake.EventEmitter();
  posted = [];
  failures = [];
  shown = new Shown();
  reviewing = make();
});
afterEach(() => reviewing.dispose());

describe("what waits in a chat", () => {
  it("is told when the chat is shown, and when a turn that changed files has ended", async () => {
    show();
    await settle();
    expect(pending()).toEqual(["a.py", "b.py", "new.py"]);
    changes = [...changes, change(7, "c.py", { turnId: "t2" })];
    const usage = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, totalTokens: 0 };
    const result = { chatId: "c", turnId: "t2", stopReason: "finished", answer: "", steps: 1, usage, notices: [] };
    const row = { uri: uriOf("c.py"), path: "c.py", kind: "modified", added: 1, removed: 0 };
    const event = { kind: "turn_ended", result: { ...result, changes: [row] } };
    events.fire({ chatId: "c", turnId: "t2", seq: 1, at: 1, event } as unknown as ChatEvent);
    await settle();
    expect(pending()).toEqual(["a.py", "b.py", "new.py", "c.py"]);
    expect(reviewing.welcome).toEqual([posted.at(-1)]);
  });

  it("is read once more of every chat when another server is there", async () => {
    for (const chatId of ["c", "d"]) reviewing.look(chatId);
    await settle();
    asked = [];
    for (const phase of ["starting", "ready", "ready"]) states.fire({ phase, session: 2 });
    await settle();
    expect(asked.map(([method, { chatId }]) => [method, chatId])).toEqual([
      ["codelaw/chat/changes", "c"],
      ["codelaw/chat/changes", "d"],
    ]);
  });

  it("is nothing with a server that cannot tell", async () => {
    methods = [];
    reviewing.dispose();
    reviewing = make();
    show();
    await settle();
    expect(asked).toEqual([]);
    expect(failures).toEqual([]);
  });

  it("is kept file by file or as a whole, and that survives the window", async () => {
    show();
    await settle();
    await reviewing.take({ kind: "review", chatId: "c", what: "keep", uris: [uriOf("b.py")] });
    expect(pending()).toEqual(["a.py", "new.py"]);
    await again();
    expect(pending()).toEqual(["a.py", "new.py"]);
    await reviewing.take({ kind: "review", chatId: "c", what: "keep" });
    expect(pending()).toEqual([]);
    expect(memory.get("codelaw.accepted")).toEqual(["c/t1"]);
    changes = [...changes, change(9, "b.py", { turnId: "t2" })];
    await again();
    expect(pending()).toEqual(["b.py"]);
  });

  it("is saved when it is kept, and still waits where it could not be saved", async () => {
    const save = vi.fn(() => Promise.resolve(false));
    fake.editor.documents = [{ uri: fake.Uri.file("/w/a.py"), isDirty: true, isUntitled: false, save }];
    show();
    await settle();
    await reviewing.take({ kind: "review", chatId: "c", what: "keep" });
    expect(save).toHaveBeenCalledOnce();
    expect(pending()).toEqual(["a.py", "b.py", "new.py"]);
    expect(said("error")).toEqual(["Not saved: a.py. Save them, then accept again."]);
  });

  it.each([
    ["accepted", false, true],
    ["turn", true, true],
    ["never", false, false],
    ["nonsense", false, true],
  ])("is saved by one rule: %s", async (rule, atEnd, whenKept) => {
    fake.editor.settings.set("panel.save", { globalValue: rule });
    const save = vi.fn(() => Promise.resolve(true));
    fake.editor.documents = [{ uri: fake.Uri.file("/w/a.py"), isDirty: true, isUntitled: false, save }];
    const event = { kind: "turn_ended", result: { changes: [{ uri: uriOf("a.py") }] } };
    events.fire({ chatId: "c", turnId: "t1", seq: 1, at: 1, event } as unknown as ChatEvent);
    await settle();
    expect(save.mock.calls.length > 0).toBe(atEnd);
    save.mockClear();
    await reviewing.take({ kind: "review", chatId: "c", what: "keep" });
    expect(save.mock.calls.length > 0).toBe(whenKept);
    expect(pending()).toEqual([]);
  });

  it("is undone from the newest turn on, without what is kept or was left alone", async () => {
    changes = [
      change(1, "a.py"),
      change(2, "b.py"),
      change(4, "a.py", { turnId: "t2" }),
      change(5, "b.py", { turnId: "t2" }),
      change(6, "new.py", { turnId: "t2", kind: "created" }),
    ];
    show();
    await settle();
    await reviewing.take({ kind: "review", chatId: "c", what: "keep", uris: [uriOf("new.py")] });
    reverts = ({ turnId }) =>
      turnId === "t2" ? [{ uri: uriOf("b.py"), reason: "b.py\u202e was [x](command:y)." }] : [];
    await reviewing.take({ kind: "review", chatId: "c", what: "undo" });
    const sent = asked.filter(([method]) => method === "codelaw/chat/revert").map(([, params]) => params);
    expect(sent).toEqual([
      { chatId: "c", turnId: "t2", uris: [uriOf("b.py"), uriOf("a.py")] },
      { chatId: "c", turnId: "t1", uris: [uriOf("a.py")] },
    ]);
    expect(pending()).toEqual(["b.py"]);
    expect(said("warning")).toEqual(["Left as it is: b.py⟨U+202E⟩ was [x] (command:y)."]);
  });

  it("is read again where somebody else had undone it", async () => {
    show();
    await settle();
    reverts = () => {
      changes = [];
      throw new Refusal("nothing_to_undo", "There is nothing to undo.");
    };
    await reviewing.take({ kind: "review", chatId: "c", what: "undo" });
    expect(pending()).toEqual([]);
    expect(failures).toEqual([]);
  });

  it("is forgotten with its chat", async () => {
    show();
    await settle();
    await reviewing.take({ kind: "review", chatId: "c", what: "keep", uris: [uriOf("b.py")] });
    shown.gone("c");
    await settle();
    expect(pending()).toEqual([]);
    expect(memory.get("codelaw.kept")).toEqual({});
  });
});

describe("a review", () => {
  it("compares each file of a turn with what the turn found", async () => {
    changes = [
      change(1, HOSTILE),
      change(2, "new.py", { kind: "created" }),
      change(3, "gone.py", { kind: "deleted" }),
      change(4, "old.py", { kind: "deleted" }),
      change(5, "b.py", { kind: "created", renamedFrom: "old.py" }),
      change(6, "a.py", { turnId: "t2" }),
    ];
    await reviewing.take({ kind: "review", chatId: "c", what: "show", turnId: "t1" });
    const before = (path: string): string =>
      fake.Uri.from({
        scheme: "codelaw-review",
        path: `/w/${path}`,
        query: JSON.stringify({ chatId: "c", turnId: "t1", path }),
      }).toString();
    expect(compared()).toEqual([
      [uriOf(HOSTILE), before(HOSTILE), uriOf(HOSTILE)],
      [uriOf("new.py"), undefined, uriOf("new.py")],
      [uriOf("gone.py"), before("gone.py"), undefined],
      [uriOf("b.py"), before("old.py"), uriOf("b.py")],
    ]);
  });

  it("of what waits compares with the text before all that waits", async () => {
    show();
    await settle();
    await reviewing.take({ kind: "review", chatId: "c", what: "show" });
    const provider = fake.editor.done.find(
      ({ what, with: [scheme] }) => what.startsWith("registerText") && scheme === "codelaw-review",
    )!.with[1] as { provideTextDocumentContent(uri: fake.Uri): Promise<string> };
    const [, before] = compared()[0]!;
    expect(await provider.provideTextDocumentContent(fake.Uri.parse(before!))).toBe("old\n");
    expect(asked.at(-1)).toEqual(["codelaw/chat/reviewed", { chatId: "c", uri: uriOf("a.py"), above: 0 }]);
    const old = fake.Uri.from({ scheme: "codelaw-chat", path: "/c/before/t1/a.py" });
    fake.editor.documents = [{ uri: old, getText: () => "found\n" }];
    const found = fake.Uri.from({
      scheme: "codelaw-review",
      path: "/w/a.py",
      query: JSON.stringify({ chatId: "c", turnId: "t1", path: "a.py" }),
    });
    expect(await provider.provideTextDocumentContent(found)).toBe("found\n");
    expect(await provider.provideTextDocumentContent(fake.Uri.parse("codelaw-review:/a.py?nonsense"))).toBe("");
  });

  it("of very many files shows the first ones and says so; what is not text is named", async () => {
    changes = [change(1, "x\u202e.png", { isText: false })];
    for (let number = 2; number <= 5000; number += 1) {
      changes.push(change(number, `${number}.py`));
      fake.editor.files.set(`/w/${number}.py`, "");
    }
    await reviewing.take({ kind: "review", chatId: "c", what: "show", turnId: "t1" });
    expect(compared()).toHaveLength(MOST_COMPARED);
    expect(said("information")).toEqual([
      "Not compared, because they are not text: 1 file (x⟨U+202E⟩.png).",
      "200 of 4,999 files are compared here; the panel lists them all.",
    ]);
    const told = posted.filter((message) => message.kind === "pending").at(-1)!;
    expect([told.files.length, told.total]).toEqual([500, 5000]);
  });

  it("of a file that is gone shows what it was, and of a turn that is undone nothing", async () => {
    fake.editor.files.clear();
    await reviewing.take({ kind: "review", chatId: "c", what: "show", turnId: "t1" });
    expect(compared().map(([, , after]) => after)).toEqual([undefined, undefined]);
    changes = [];
    await reviewing.take({ kind: "review", chatId: "c", what: "show", turnId: "t1" });
    expect(said("information")).toEqual(["Nothing is left to review: what this turn did to files is undone."]);
  });
});
