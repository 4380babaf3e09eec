import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ChatView as ChatViewType } from "../../src/chat/view";
import type { ToPanel } from "../../src/messages";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { askSelection, explain, fix, inPanel } = await import("../../src/editor/asking");
const { Shown } = await import("../../src/chat/shown");
const { insert, saveAll } = await import("../../src/chat/files");
const { Accepted } = await import("../../src/chat/accepted");

const uri = fake.Uri.file("/w/a.py");
class Span extends fake.Range {
  intersection(other: fake.Range): unknown {
    const apart = other.end.line < this.start.line || other.start.line > this.end.line;
    const aside = other.start.character > this.end.character || other.end.character < this.start.character;
    return apart || aside ? undefined : this;
  }
}
const span = (line: number, from: number, to: number): Span =>
  new Span(new fake.Position(line, from), new fake.Position(line, to));
const open = (selection: fake.Range): void => {
  fake.window.activeTextEditor = { document: { uri, version: 5 }, selection };
};

let told: ToPanel[];
let asked: unknown[];
const view = { tell: (message: ToPanel) => Promise.resolve(told.push(message)) } as unknown as ChatViewType;
const wire = {
  command: (...args: unknown[]) => {
    asked.push(args);
    return Promise.resolve({ chatId: "c", turnId: "t" });
  },
} as unknown as Wire;

beforeEach(() => {
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
  fake.window.activeTextEditor = undefined;
  told = [];
  asked = [];
});

describe("a question about the selection", () => {
  it("is sent with it", async () => {
    open(span(2, 0, 4));
    fake.editor.answers = ["why?"];
    await askSelection(view, new Shown());
    const range = { start: { line: 2, character: 0 }, end: { line: 2, character: 4 } };
    const attachments = [{ uri: "file:///w/a.py", label: "a.py:3", range }];
    expect(told).toEqual([{ kind: "ask", text: "why?", attachments, newChat: false }]);
  });

  it("begins a chat of its own while the shown one runs", async () => {
    const shown = new Shown();
    shown.show("c");
    const event = { kind: "turn_started" as const, text: "", mentions: [], mentionsLeftOut: 0 };
    shown.event({ chatId: "c", turnId: "t", seq: 1, at: 1, event });
    open(span(2, 0, 4));
    fake.editor.answers = ["why?"];
    await askSelection(view, shown);
    expect(told).toMatchObject([{ newChat: true }]);
  });

  it.each([[undefined], [""], ["  "]])("that is not asked (%j) sends nothing", async (answer) => {
    open(span(2, 0, 4));
    fake.editor.answers = [answer];
    await askSelection(view, new Shown());
    expect(told).toEqual([]);
  });
});

describe("explain and fix", () => {
  it("go to the server, and their chat is shown", async () => {
    open(span(2, 0, 4));
    await explain(wire, view);
    expect(asked).toMatchObject([["codelaw.editor.explain", { uri: "file:///w/a.py", version: 5 }]]);
    expect(told).toEqual([{ kind: "show", page: "chat", chatId: "c" }]);
  });

  it("say what to do where there is nothing to explain or fix", async () => {
    await explain(wire, view);
    open(span(2, 1, 1));
    await explain(wire, view);
    await fix(wire, view);
    expect(asked).toEqual([]);
    expect(fake.editor.done.map(({ what }) => what)).toEqual(["information", "information", "information"]);
  });

  it("take the problem at the cursor before others of its line", async () => {
    const here = { range: span(2, 0, 4), message: "here", severity: 1, code: 7, source: "s" };
    const beside = { range: span(2, 8, 9), message: "beside", severity: 0 };
    fake.editor.diagnostics.set(uri.toString(), [beside, here]);
    open(span(2, 2, 2));
    await fix(wire, view);
    expect(asked).toMatchObject([["codelaw.editor.fix", { diagnostic: { message: "here", code: "7", source: "s" } }]]);
  });

  it("let the user pick among several, the gravest first", async () => {
    const found = [
      { range: span(2, 0, 4), message: "hint", severity: 3 },
      { range: span(2, 0, 4), message: "error", severity: 0 },
    ];
    fake.editor.diagnostics.set(uri.toString(), found);
    open(span(2, 2, 2));
    await fix(wire, view);
    const items = fake.editor.done[0]?.with[0] as { label: string }[];
    expect(items.map(({ label }) => label)).toEqual(["error", "hint"]);
    expect(asked).toEqual([]);
  });
});

describe("a code action of the server's", () => {
  const range = { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } };
  const run = async (command: string, argument: unknown, next: () => unknown): Promise<unknown> => {
    const { executeCommand } = inPanel(view, (error) => asked.push(error));
    return await executeCommand?.(command, [argument], next as never);
  };

  it("that asks brings the selection into the panel instead of a chat file", async () => {
    const next = vi.fn();
    await run("codelaw.editor.ask", { uri: uri.toString(), range }, next);
    expect(next).not.toHaveBeenCalled();
    expect(told).toMatchObject([{ kind: "attach", attachments: [{ label: "a.py:1", range }] }]);
  });

  it("that begins a turn shows its chat", async () => {
    await run("codelaw.editor.test", { uri: uri.toString(), range }, () => ({ chatId: "d", turnId: "t" }));
    await run("codelaw.editor.ask", { uri: uri.toString(), range, text: "why" }, () => ({ chatId: "e" }));
    expect(told).toEqual([
      { kind: "show", page: "chat", chatId: "d" },
      { kind: "show", page: "chat", chatId: "e" },
    ]);
  });

  it("of another kind is left as it is, and a failure is told", async () => {
    expect(await run("codelaw.chat.list", {}, () => 7)).toBe(7);
    const error = new Error("no");
    await run("codelaw.editor.explain", {}, () => Promise.reject(error));
    expect(told).toEqual([]);
    expect(asked).toEqual([error]);
  });
});

describe("what a turn changed", () => {
  const document = (path: string, saved: boolean): object => ({
    uri: fake.Uri.file(path),
    isDirty: true,
    isUntitled: false,
    save: () => Promise.resolve(saved),
  });

  it("is saved when it is accepted, and what could not be saved is named", async () => {
    fake.editor.documents = [document("/w/a b.py", true), document("/w/c.py", false), document("/w/d.py", false)];
    expect(await saveAll(["file:///w/a b.py", "nonsense"])).toBe(true);
    expect(await saveAll(["file:///w/a%20b.py", "file:///w/c.py"])).toBe(false);
    expect(fake.editor.done.at(-1)?.with[0]).toMatch(/c\.py/);
  });

  it("is remembered as accepted, the newest five hundred turns once each", async () => {
    const memory = new Map<string, unknown>([["codelaw.accepted", ["c/0", 7]]]);
    const accepted = new Accepted({
      keys: () => [],
      get: (key: string) => memory.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void memory.set(key, value)),
    } as never);
    for (let turn = 0; turn < 510; turn++) await accepted.add("c", String(turn % 505));
    expect(accepted.turns).toHaveLength(500);
    expect(accepted.turns.at(-1)).toBe("c/4");
    expect(new Set(accepted.turns).size).toBe(500);
  });
});

describe("text for the editor", () => {
  it("goes to every cursor, or into a new document where there is no editor", async () => {
    const replaced: unknown[] = [];
    const edit = (change: (edit: unknown) => void): Promise<boolean> => {
      change({ replace: (...args: unknown[]) => replaced.push(args) });
      return Promise.resolve(true);
    };
    fake.window.activeTextEditor = { document: { uri }, selections: [1, 2], edit };
    await insert("x");
    expect(replaced).toEqual([
      [1, "x"],
      [2, "x"],
    ]);
    fake.window.activeTextEditor = undefined;
    await insert("y");
    const made = fake.editor.done.at(-1)?.with[0] as { getText(): string };
    expect(made.getText()).toBe("y");
  });

  it("that cannot be put in is not lost silently", async () => {
    fake.window.activeTextEditor = { document: { uri }, selections: [], edit: () => Promise.resolve(false) };
    await insert("x");
    expect(fake.editor.done.at(-1)?.what).toBe("warning");
  });
});
