import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ToPanel } from "../../src/messages";
import type { Proposal } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Edits } = await import("../../src/editor/edits");

const uri = fake.Uri.file("/w/a.py");
const OLD = "import os\ndef add(a, b):\n    return a - b\n";
const NEW = "import os\ndef add(a, b):\n    return a + b\n";
const RIGHT: Proposal = { stopReason: "finished", lines: ["def add(a, b):", "    return a + b"], said: "" };

/** A document that can be typed into. */
class Pad {
  version = 1;
  readonly uri = uri;
  constructor(public text: string) {}
  getText = (): string => this.text;
  get lineCount(): number {
    return this.text.split("\n").length;
  }
  lineAt(line: number): { text: string } {
    return { text: this.text.split("\n")[line] ?? "" };
  }
  apply({ range, newText }: { range: fake.Range; newText: string }): void {
    const lines = this.text.split("\n");
    const at = ({ line, character }: fake.Position): number =>
      lines.slice(0, line).join("\n").length + (line > 0 ? 1 : 0) + character;
    this.text = this.text.slice(0, at(range.start)) + newText + this.text.slice(at(range.end));
    this.version += 1;
    fake.documentChanged.fire({ document: this, contentChanges: [{ range, text: newText }] } as never);
  }
}

let pad: Pad;
let told: ToPanel[];
let asked: [string, unknown][];
let failed: unknown[];
let answer: () => Promise<Proposal>;
let marked: unknown[][];
let edits: InstanceType<typeof Edits>;

const wire = {
  command: (name: string, params: unknown) => {
    asked.push([name, params]);
    return name === "codelaw.editor.edit" ? Promise.resolve({ chatId: "c", turnId: `t${asked.length}` }) : answer();
  },
  request: (name: string, params: unknown) => {
    asked.push([name, params]);
    return Promise.resolve({ cancelled: true });
  },
} as unknown as Wire;
const done = (what: string): unknown[][] => fake.editor.done.filter((one) => one.what === what).map((one) => one.with);
const context = (name: string): unknown => done("setContext").findLast(([key]) => key === name)?.[1];
const lenses = (): string[] => edits.lensesOf(uri as never).map((lens) => lens.command?.title ?? "");
const compared = (): fake.Uri => {
  const shown = done("vscode.diff").at(-1)?.[1] as fake.Uri;
  fake.window.tabGroups.all = [{ tabs: [{ input: new fake.TabInputTextDiff(uri, shown) }, { input: "another" }] }];
  return shown;
};
const ask = (text = "make it add", first = 1, last = 2): Promise<void> => {
  const selection = new fake.Range(first, 0, last, 3);
  const shown = { document: pad, selection, setDecorations: (...mark: unknown[]) => marked.push(mark) };
  fake.window.activeTextEditor = shown;
  fake.window.visibleTextEditors = [shown];
  fake.editor.answers = [text];
  return edits.begin();
};

beforeEach(() => {
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
  pad = new Pad(OLD);
  fake.editor.documents = [pad];
  [told, asked, failed, marked] = [[], [], [], []];
  answer = () => Promise.resolve(RIGHT);
  const view = { tell: (message: ToPanel) => Promise.resolve(told.push(message)) };
  edits = new Edits(wire, view as never, (error) => failed.push(error));
});
afterEach(() => {
  edits.dispose();
  fake.window.activeTextEditor = undefined;
  fake.window.visibleTextEditors = [];
});

describe("an edit of a selection", () => {
  it("is asked for with whole lines, compared, and changes the document when it is accepted", async () => {
    await ask();
    const range = { start: { line: 1, character: 0 }, end: { line: 2, character: 16 } };
    expect(asked).toEqual([
      ["codelaw.editor.edit", { uri: "file:///w/a.py", range, text: "make it add", version: 1 }],
      ["codelaw.editor.proposal", { chatId: "c", turnId: "t1" }],
    ]);
    expect(pad.text).toBe(OLD);
    expect(await edits.proposed(compared() as never)).toBe(NEW);
    expect(lenses()).toEqual([
      "$(check) Accept",
      "$(close) Reject",
      "$(refresh) Again…",
      "$(diff) Compare",
      "$(comment-discussion) Open as Chat",
    ]);
    expect(context("codelaw.proposed")).toBe(true);
    await edits.accept(compared());
    expect(pad.text).toBe(NEW);
    expect(done("applyEdit")).toHaveLength(1);
    expect(done("closeTabs")).toHaveLength(1);
    expect(fake.window.tabGroups.all).toEqual([{ tabs: [{ input: "another" }] }]);
    expect(lenses()).toEqual([]);
    expect(context("codelaw.proposed")).toBe(false);
    expect(asked).toHaveLength(2);
  });

  it("that is rejected leaves everything as it is", async () => {
    await ask();
    compared();
    await edits.reject();
    expect(pad.text).toBe(OLD);
    expect(lenses()).toEqual([]);
    expect(fake.window.tabGroups.all).toEqual([{ tabs: [{ input: "another" }] }]);
    expect(asked, "an ended turn is not stopped").toHaveLength(2);
    await edits.accept();
    expect(done("applyEdit")).toEqual([]);
  });

  it("finds its lines where they were moved to", async () => {
    await ask();
    pad.apply({ range: new fake.Range(0, 0, 0, 0), newText: "# mine\n# too\n" });
    expect(await edits.proposed(compared() as never)).toBe(`# mine\n# too\n${NEW}`);
    expect(edits.lensesOf(uri as never)[0]?.range.start.line).toBe(3);
    await edits.accept();
    expect(pad.text).toBe(`# mine\n# too\n${NEW}`);
  });

  it("overwrites nothing that was typed in its lines, and stays to be compared", async () => {
    await ask();
    pad.apply({ range: new fake.Range(2, 16, 2, 16), newText: "  # mine" });
    const mine = pad.text;
    await edits.accept();
    expect(pad.text).toBe(mine);
    expect(done("applyEdit")).toEqual([]);
    expect(done("warning")[0]?.[0]).toContain("have changed meanwhile");
    expect(lenses()).toHaveLength(5);
  });

  it("takes lines away with their breaks", async () => {
    answer = () => Promise.resolve({ ...RIGHT, lines: [] });
    await ask();
    await edits.accept();
    expect(pad.text).toBe("import os\n");
  });

  it("goes on in its chat, with the same lines", async () => {
    await ask();
    const older = compared();
    fake.editor.answers = ["no, times"];
    answer = () => Promise.resolve({ ...RIGHT, lines: ["pass"] });
    await edits.again();
    expect(asked.slice(2)).toMatchObject([
      ["codelaw.editor.edit", { chatId: "c", text: "no, times", range: { start: { line: 1 }, end: { line: 2 } } }],
      ["codelaw.editor.proposal", {}],
    ]);
    expect(done("input").at(-1)?.[0]).toMatchObject({ value: "make it add" });
    expect(await edits.proposed(older as never), "an older comparison is over").toBe("");
    await edits.accept();
    expect(pad.text).toBe("import os\npass\n");
  });

  it("can be opened as a chat", async () => {
    await ask();
    await edits.openChat();
    expect(told).toEqual([{ kind: "show", page: "chat", chatId: "c" }]);
  });
});

describe("a turn that runs", () => {
  let ends: ((proposal: Proposal) => void)[];
  const end = (proposal: Proposal): void => ends.shift()?.(proposal);
  let asking: Promise<void>;
  beforeEach(async () => {
    ends = [];
    answer = () => new Promise((resolve) => ends.push(resolve));
    asking = ask();
    await vi.waitFor(() => expect(asked).toHaveLength(2), 150_000);
  });

  it("is shown at its lines, and stopped by one step", async () => {
    expect(lenses()).toEqual(["$(loading~spin) codelaw is writing…", "Stop", "Open as Chat"]);
    expect(context("codelaw.editing")).toBe(true);
    expect(marked.some(([, ranges]) => (ranges as unknown[]).length === 1)).toBe(true);
    await edits.reject();
    expect(asked.at(-1)).toEqual(["codelaw/chat/cancel", { chatId: "c" }]);
    expect(context("codelaw.editing")).toBe(false);
    end({ stopReason: "cancelled", said: "" });
    await asking;
    expect([done("vscode.diff"), done("information"), failed]).toEqual([[], [], []]);
    expect(marked.at(-1)?.[1]).toEqual([]);
  });

  it("gives way to another edit of the document", async () => {
    const other = ask("quite different", 0, 0);
    await vi.waitFor(() => expect(asked).toHaveLength(5), 150_000);
    expect(asked[2]).toEqual(["codelaw/chat/cancel", { chatId: "c" }]);
    end({ stopReason: "cancelled", said: "" });
    await asking;
    end({ ...RIGHT, lines: ["import sys"] });
    await other;
    await edits.accept();
    expect(pad.text).toBe(OLD.replace("os", "sys"));
  });

  it("is forgotten when its server is gone", async () => {
    edits.disconnected();
    expect(lenses()).toEqual([]);
    end(RIGHT);
    await asking;
    expect(done("vscode.diff")).toEqual([]);
  });
});

describe("what is said", () => {
  it.each([
    ["I [cannot](command:x) do that.", undefined, "information", "codelaw: I [cannot] (command:x) do that."],
    ["", undefined, "information", "codelaw would change nothing in these lines of a.py."],
    ["Needs `import sys`.", ["x"], "information", "codelaw: Needs `import sys`."],
    ["", OLD.split("\n").slice(1, 3), "information", "codelaw would change nothing in these lines of a.py."],
  ])("%j, with the lines %j", async (said, lines, kind, message) => {
    answer = () => Promise.resolve({ stopReason: "finished", said, ...(lines === undefined ? {} : { lines }) });
    await ask();
    expect(done(kind).map(([one]) => one)).toEqual([message]);
    expect(lenses()).toHaveLength(lines?.[0] === "x" ? 5 : 0);
  });

  it("of a failure is a warning", async () => {
    const error = { code: "auth_failed" as const, message: "The key is wrong.", hint: "" };
    answer = () => Promise.resolve({ stopReason: "failed", said: "", error });
    fake.editor.answers = ["make it add", "Open as Chat"];
    await ask();
    expect(done("warning")).toMatchObject([["codelaw: The key is wrong.", "Open as Chat"]]);
    expect(lenses()).toEqual([]);
  });

  it("of a request that is refused is told once, and nothing stays", async () => {
    answer = () => Promise.reject(new Error("gone"));
    await ask();
    expect(failed).toHaveLength(1);
    expect(lenses()).toEqual([]);
  });

  it("without a document is what to do first", async () => {
    await edits.begin();
    expect(done("information")).toEqual([["Open a file first."]]);
    await ask("  ");
    expect(asked).toEqual([]);
  });
});
