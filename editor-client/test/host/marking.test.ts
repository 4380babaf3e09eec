import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CodeLensProvider, Memento, TextDocument } from "vscode";
import type { TurnChange } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import { linesOf } from "../../src/review/lines";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Accepted } = await import("../../src/chat/accepted");
const { Marks } = await import("../../src/review/marks");
const { Reviews } = await import("../../src/review/reviews");
const { Comparing } = await import("../../src/review/comparing");
const { Marking } = await import("../../src/review/marking");

const BEFORE = "one\ntwo\nthree\nfour\nfive\n";
const AFTER = "one\nTWO\nthree\nfour\nfive\nsix\n";
const uri = fake.Uri.file("/w/it's #1 %20.py");
const CHANGE: TurnChange = {
  turnId: "t1",
  // As the server spells it, which is not the editor's way.
  uri: uri.toString().replace("'", "%27"),
  path: "it's #1 %20.py",
  kind: "modified",
  number: 3,
  isText: true,
};

let text: string;
let version: number;
let dirty: boolean;
let before: string | null;
let redacted: boolean;
let changes: TurnChange[];
let failures: unknown[];
let reviews: InstanceType<typeof Reviews>;
let marking: InstanceType<typeof Marking>;
let provider: CodeLensProvider;
let coloured: unknown[][];
const document = {
  uri,
  languageId: "python",
  isUntitled: false,
  get isDirty() {
    return dirty;
  },
  get version() {
    return version;
  },
  get eol() {
    return text.includes("\r\n") ? fake.EndOfLine.CRLF : fake.EndOfLine.LF;
  },
  get lineCount() {
    return linesOf(text).length;
  },
  getText: () => text,
  save: () => {
    dirty = false;
    return Promise.resolve(true);
  },
};
const open = {
  document,
  selection: new fake.Selection(0, 0, 0, 0),
  revealRange: vi.fn(),
  setDecorations: (_type: unknown, ranges: unknown[]) => coloured.push(ranges),
};
const type = (now: string): void => {
  text = now;
  version += 1;
  dirty = true;
};
const lenses = async (): Promise<[number, string][]> =>
  ((await provider.provideCodeLenses(document as unknown as TextDocument, undefined as never)) ?? []).map(
    ({ range, command }) => [range.start.line, command?.title ?? ""],
  );
const run = (command: string, ...args: unknown[]): Promise<unknown> =>
  Promise.resolve(fake.editor.commands.get(command)?.(...args));
const said = (): unknown[] =>
  fake.editor.done.filter(({ what }) => what === "information" || what === "warning").map((one) => one.with[0]);
const idOf = async (after: string): Promise<string> => {
  const marked = await marking.marked(document as unknown as TextDocument);
  return marked!.hunks!.find((hunk) => hunk.after.includes(after))!.id;
};

beforeEach(async () => {
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
  fake.editor.files.set(uri.path, AFTER);
  fake.editor.documents = [document];
  fake.window.activeTextEditor = open;
  fake.window.visibleTextEditors = [open];
  fake.editor.applies = (edit) => {
    const [{ range, newText }] = edit.entries()[0]![1] as [{ range: fake.Range; newText: string }];
    const lines = linesOf(text);
    const head = [...lines.slice(0, range.start.line), lines[range.start.line]!.slice(0, range.start.character)];
    const tail = [lines[range.end.line]!.slice(range.end.character), ...lines.slice(range.end.line + 1)];
    const breaks = text.includes("\r\n") ? "\r\n" : "\n";
    type(head.join(breaks) + newText + tail.join(breaks));
    return true;
  };
  text = AFTER;
  version = 1;
  dirty = false;
  before = BEFORE;
  redacted = false;
  changes = [CHANGE];
  failures = [];
  coloured = [];
  const kept = new Map<string, unknown>();
  const memory = {
    get: (key: string) => kept.get(key),
    update: (key: string, value: unknown) => Promise.resolve(void kept.set(key, value)),
  } as unknown as Memento;
  const wire = {
    state: { phase: "ready", session: 1, methods: ["codelaw/chat/changes"] },
    request: (method: string) =>
      Promise.resolve(
        method === "codelaw/chat/changes"
          ? { changes, total: changes.length }
          : { path: CHANGE.path, before, after: AFTER, number: 3, isText: true, redacted },
      ),
  } as unknown as Wire;
  reviews = new Reviews(wire, new Marks(memory), new Accepted(memory), (error) => failures.push(error));
  marking = new Marking(reviews, new Comparing(reviews), (error) => failures.push(error));
  provider = fake.editor.done.find(({ what }) => what === "registerCodeLensProvider")!.with[1] as CodeLensProvider;
  await reviews.read("c");
});
afterEach(() => {
  expect(failures).toEqual([]);
  marking.dispose();
  reviews.dispose();
});

describe("an open file in which something waits", () => {
  it("has a lens for the file and two for each part, and colours", async () => {
    expect(await lenses()).toEqual([
      [0, "2 changes by codelaw"],
      [0, "Accept file"],
      [0, "Reject file"],
      [1, "Accept"],
      [1, "Reject"],
      [5, "Accept"],
      [5, "Reject"],
    ]);
    await marking.draw();
    expect(coloured[0]).toMatchObject([{ range: { start: { line: 1 } } }, { range: { start: { line: 5 } } }]);
    expect(fake.editor.done.at(-1)).toEqual({ what: "setContext", with: ["codelaw.reviewing", true] });
  });

  it("has none any more when it is accepted, and is saved", async () => {
    dirty = true;
    await run("codelaw.acceptFile", uri.toString());
    expect(dirty).toBe(false);
    expect(await lenses()).toEqual([]);
  });

  it.each([
    ["was made by the turn", () => (before = null)],
    ["held a key that is not shown", () => (redacted = true)],
  ])("is accepted or rejected as a whole where it %s", async (_what, happens) => {
    happens();
    expect((await lenses()).map(([, title]) => title)).toEqual(["1 change by codelaw", "Accept file", "Reject file"]);
  });
});

describe("a part", () => {
  it("is rejected where it stands by then, and leaves what was typed", async () => {
    const id = await idOf("TWO");
    type(`typed\n${AFTER}`);
    await run("codelaw.rejectChange", uri.toString(), id);
    expect(text).toBe(`typed\n${AFTER.replace("TWO", "two")}`);
    expect((await lenses()).filter(([, title]) => title === "Reject")).toEqual([[6, "Reject"]]);
  });

  it("is not rejected where somebody has typed in it, and the lens says so", async () => {
    const id = await idOf("TWO");
    type(AFTER.replace("TWO", "TWO mine"));
    expect((await lenses()).map(([, title]) => title)).toContain("Changed by you since: accept or undo it by hand");
    await run("codelaw.rejectChange", uri.toString(), id);
    expect(text).toBe(AFTER.replace("TWO", "TWO mine"));
    expect(said()).toEqual(["This place was changed meanwhile, so nothing was done. Look at it again."]);
  });

  it("is not rejected when the editor refuses, or when it is gone", async () => {
    const id = await idOf("TWO");
    fake.editor.applies = () => false;
    await run("codelaw.rejectChange", uri.toString(), id);
    type("");
    await run("codelaw.rejectChange", uri.toString(), "unknown");
    fake.editor.documents = [];
    await run("codelaw.rejectChange", uri.toString(), id);
    expect(said()).toHaveLength(3);
    expect(text).toBe("");
  });

  it("keeps the file's own line breaks when it is rejected", async () => {
    type(AFTER.replaceAll("\n", "\r\n"));
    await run("codelaw.rejectChange", uri.toString(), await idOf("TWO"));
    expect(text).toBe(AFTER.replace("TWO", "two").replaceAll("\n", "\r\n"));
  });

  it("is accepted at the cursor; with the last one the file waits no more", async () => {
    open.selection = new fake.Selection(1, 0, 1, 0);
    await run("codelaw.acceptChange");
    expect((await lenses()).filter(([, title]) => title === "Accept")).toEqual([[5, "Accept"]]);
    open.selection = new fake.Selection(3, 0, 3, 0);
    await run("codelaw.acceptChange");
    expect(said()).toEqual(["No change of codelaw's waits at the cursor."]);
    await run("codelaw.acceptChange", uri.toString(), await idOf("six"));
    expect(reviews.of("c")).toEqual([]);
  });

  it("that is the last one to be rejected ends the review of the file", async () => {
    await run("codelaw.rejectChange", uri.toString(), await idOf("TWO"));
    await run("codelaw.rejectChange", uri.toString(), await idOf("six"));
    expect(text).toBe(BEFORE);
    expect(reviews.of("c")).toEqual([]);
  });

  it("is found from the cursor on, and back", async () => {
    open.selection = new fake.Selection(0, 0, 0, 0);
    for (const [command, line] of [
      ["next", 1],
      ["next", 5],
      ["next", 5],
      ["previous", 1],
    ] as const) {
      await run(`codelaw.${command}Change`);
      expect(open.selection.active.line).toBe(line);
    }
    expect(said()).toEqual(["No other change of codelaw's waits in this file."]);
  });
});
