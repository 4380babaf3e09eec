import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommentController, CommentReply, CommentThread, Memento, TextDocument } from "vscode";
import { hostWords } from "../../src/languages/tables";
import type { ToPanel } from "../../src/messages";
import { Keeping } from "../../src/review/keeping";
import { anchor, messageOf, near, type Remark } from "../../src/review/remarks";
import type { Reviews } from "../../src/review/reviews";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Commenting } = await import("../../src/review/commenting");
const BEFORE = "codelaw-review";

const TEXT = "one\ntwo\nthree\nfour\nfive\n";
const words = hostWords("en").review;
const at = (now: string, start = 1, end = 3): unknown[] => {
  const { start: from, end: to, changed, gone } = anchor(TEXT, now, start, end);
  return [from, to, changed, gone];
};

describe("lines with a remark", () => {
  it.each([
    ["stay", TEXT, [1, 3, false, false]],
    ["move down", `new\n${TEXT}`, [2, 4, false, false]],
    ["move up", TEXT.replace("one\n", ""), [0, 2, false, false]],
    ["do not mind what comes behind them", TEXT.replace("four", "4\n4b"), [1, 3, false, false]],
    ["grow by what is put between them", TEXT.replace("two\n", "two\nmore\n"), [1, 4, true, false]],
    ["are changed in part", TEXT.replace("three", "3"), [1, 3, true, false]],
    ["are changed and moved", `new\n${TEXT.replace("two\nthree", "2\n3")}`, [2, 4, true, false]],
    ["are taken away in part", TEXT.replace("two\n", ""), [1, 2, true, false]],
    ["are gone", TEXT.replace("two\nthree\n", ""), [1, 1, true, true]],
    ["are gone where everything was written anew", "other\ntext\n", [0, 0, true, true]],
    ["are gone from an empty file", "", [0, 0, true, true]],
  ])("%s", (_what, now, place) => {
    expect(at(now)).toEqual(place);
  });
});

describe("what is near some lines", () => {
  const numbered = (count: number): string => Array.from({ length: count }, (_, line) => `line ${line}`).join("\n");

  it("is a short text as it is, and of a long one as much as finds them again, each line where it stands", () => {
    expect(near(TEXT, 1, 3)).toBe(TEXT);
    const lines = near(numbered(5000), 3000, 3002).split("\n");
    expect([lines[2799], lines[2800], lines[3000], lines.at(-1)]).toEqual(["", "line 2800", "line 3000", "line 3201"]);
    const wide = Array.from({ length: 500 }, (_, line) => `${line} ${"x".repeat(5000)}`).join("\n");
    expect(near(wide, 250, 251).length).toBeLessThan(60_000);
  });

  it("is the same of itself, and finds the lines wherever they went", () => {
    const text = numbered(5000);
    const kept = near(text, 3000, 3002);
    expect(near(kept, 3000, 3002)).toBe(kept);
    expect(anchor(kept, text, 3000, 3002)).toEqual({ start: 3000, end: 3002, changed: false, gone: false });
    const far = text.replace("line 7\n", "line 7, changed\n").replace("line 4800\n", "");
    expect(anchor(kept, far, 3000, 3002)).toEqual({ start: 3000, end: 3002, changed: false, gone: false });
    const moved = `more\n${text}`;
    expect(anchor(kept, moved, 3000, 3002)).toEqual({ start: 3001, end: 3003, changed: false, gone: false });
    const changed = moved.replace("line 3001\n", "another\n");
    expect(anchor(kept, changed, 3000, 3002)).toEqual({ start: 3001, end: 3003, changed: true, gone: false });
    expect(anchor(kept, "", 3000, 3002).gone).toBe(true);
  });
});

describe("remarks as a message", () => {
  const remark = (more: Partial<Remark> = {}): Remark => ({
    path: "src/a.py",
    old: false,
    text: TEXT,
    start: 1,
    end: 3,
    said: ["Why two?"],
    ...more,
  });

  it("name file, lines and code as they are by then", () => {
    expect(messageOf([remark(), remark({ said: ["This?", "And that."] })], [TEXT, `new\n${TEXT}`], words)).toBe(
      "I have 2 remarks on your changes.\n\n" +
        "1. `src/a.py`, lines 2-3:\n\n```\ntwo\nthree\n```\n\nWhy two?\n\n" +
        "2. `src/a.py`, lines 3-4:\n\n```\ntwo\nthree\n```\n\nThis?\n\nAnd that.",
    );
  });

  it.each([
    ["changed after I had written this", TEXT.replace("two", "2"), {}, "2\nthree"],
    ["are not there any more", "other\n", {}, "two\nthree"],
    ["deleted after", null, {}, "two\nthree"],
    ["as it was before your changes", "", { old: true }, "two\nthree"],
  ])("say when the lines %s", (told, now, more, code) => {
    const message = messageOf([remark(more)], [now], words);
    expect(message).toContain(told);
    expect(message).toContain(`\`\`\`\n${code}\n\`\`\``);
  });

  it("do not let a name or code end what encloses it", () => {
    const hostile = remark({ path: "a`b\u202e\n# c.py", text: "```\n# heading\n````\n", start: 0, end: 3 });
    const message = messageOf([hostile], [hostile.text], words);
    expect(message).toContain("`` a`b⟨U+202E⟩ # c.py ``, lines 1-3:");
    expect(message).toContain("`````\n```\n# heading\n````\n`````");
  });

  it("leave out code without measure", () => {
    const text = Array.from({ length: 1000 }, () => "x".repeat(1000)).join("\n");
    expect(messageOf([remark({ text, start: 0, end: 1000 })], [text], words).length).toBeLessThan(25_000);
  });
});

describe("remarks in the editor", () => {
  const uri = fake.Uri.file("/w/it's.py");
  let text: string;
  let told: ToPanel[];
  let running: boolean;
  let failures: unknown[];
  let commenting: InstanceType<typeof Commenting>;
  let memory: Map<string, unknown>;
  let controller: CommentController;
  const changed = new fake.EventEmitter<unknown>();
  const document = {
    uri,
    get lineCount() {
      return text.split("\n").length;
    },
    getText: () => text,
  };
  const thread = (where = uri, first = 1, last = 2) => ({
    uri: where,
    range: new fake.Range(first, 0, last, 0),
    comments: [] as unknown[],
    label: "",
    dispose: vi.fn(),
  });
  const reply = (to: object, said: string): CommentReply => ({ thread: to, text: said }) as unknown as CommentReply;
  const run = (command: string, ...args: unknown[]): Promise<unknown> =>
    Promise.resolve(fake.editor.commands.get(command)?.(...args));
  const offered = (where: fake.Uri): unknown => {
    const provider = controller.commentingRangeProvider!;
    const asked = { uri: where, lineCount: 3 } as unknown as TextDocument;
    return provider.provideCommentingRanges(asked, undefined as never);
  };

  beforeEach(() => {
    fake.reset();
    fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
    fake.editor.files.set(uri.path, TEXT);
    fake.editor.documents = [document];
    text = TEXT;
    told = [];
    running = false;
    failures = [];
    memory = new Map();
    begin();
  });
  afterEach(() => {
    expect(failures).toEqual([]);
    commenting.dispose();
  });

  /** The window begins. */
  function begin(): void {
    const kept = {
      get: (key: string) => memory.get(key),
      update: (key: string, value: unknown) => Promise.resolve(void memory.set(key, structuredClone(value))),
    } as unknown as Memento;
    const reviews = {
      onChange: changed.event,
      find: (name: string) => (name === uri.toString() ? { chatId: "c", file: {} } : null),
    } as unknown as Reviews;
    commenting = new Commenting(
      reviews,
      new Keeping(kept),
      (message) => Promise.resolve(void told.push(message)),
      () => ({ chatId: "other", running }),
      (error) => failures.push(error),
    );
    controller = fake.editor.done.find(({ what }) => what === "createCommentController")!.with[0] as CommentController;
  }

  /** The window closes, and another one opens; gives the threads that are there then. */
  function reopen(): CommentThread[] {
    commenting.dispose();
    fake.editor.done.length = 0;
    begin();
    return fake.editor.done
      .filter(({ what }) => what === "createCommentThread")
      .map(({ with: [made] }) => made as CommentThread);
  }

  it("are offered where something waits, and in what a review shows of before", () => {
    expect(offered(uri)).toHaveLength(1);
    expect(offered(fake.Uri.from({ scheme: BEFORE, path: "/w/it's.py" }))).toHaveLength(1);
    expect(offered(fake.Uri.file("/w/other.py"))).toEqual([]);
  });

  it("go off together as one question to the chat that has changed the file, and are gone then", async () => {
    const one = thread();
    const two = thread(fake.Uri.from({ scheme: BEFORE, path: uri.path }), 0, 0);
    await run("codelaw.addRemark", reply(one, "Why?"));
    await run("codelaw.addRemark", reply(one, "Tell me."));
    await run("codelaw.addRemark", reply(two, " "));
    await run("codelaw.addRemark", reply(two, "It was good."));
    expect(one.comments).toHaveLength(2);
    await run("codelaw.sendRemarks");
    expect(told[0]).toEqual({ kind: "show", page: "chat", chatId: "c" });
    const asked = told[1]!;
    expect(asked).toMatchObject({ kind: "ask", attachments: [], newChat: false });
    expect("text" in asked && asked.text).toContain("`it's.py`, lines 2-3:");
    expect("text" in asked && asked.text).toContain("`it's.py` as it was before your changes, line 1:");
    expect(one.dispose).toHaveBeenCalledOnce();
    await run("codelaw.sendRemarks");
    expect(told).toHaveLength(2);
    expect(fake.editor.done.at(-1)).toMatchObject({ what: "information" });
  });

  it("move with their lines, and say when those were changed", async () => {
    const one = thread();
    await run("codelaw.addRemark", reply(one, "Why?"));
    text = `new\n${TEXT}`;
    commenting.follow();
    expect([one.range.start.line, one.range.end.line, one.label]).toEqual([2, 3, "Not sent yet"]);
    text = `new\n${TEXT.replace("two", "2")}`;
    commenting.follow();
    expect(one.label).toBe("Not sent yet; these lines were changed since");
    text = "";
    commenting.follow();
    expect([one.range.start.line, one.range.end.line]).toEqual([0, 0]);
    fake.editor.files.clear();
    await run("codelaw.sendRemarks");
    const asked = told[1]!;
    expect("text" in asked && asked.text).toContain("which was deleted after I had written this");
  });

  it("that were not sent are there again in the next window, where their lines stand by then", async () => {
    const old = fake.Uri.from({ scheme: BEFORE, path: uri.path, query: '{"chatId":"c 1"}' });
    const one = thread();
    await run("codelaw.addRemark", reply(one, "Why?"));
    await run("codelaw.addRemark", reply(one, "Tell me."));
    await run("codelaw.addRemark", reply(thread(old, 0, 0), "It was good."));
    text = `new\n${TEXT}`;
    const [again, before] = reopen();
    expect(again!.uri.toString()).toBe(uri.toString());
    expect([again!.range.start.line, again!.range.end.line, again!.label]).toEqual([2, 3, "Not sent yet"]);
    expect(again!.comments.map(({ body }) => body)).toEqual(["Why?", "Tell me."]);
    expect([before!.uri.query, before!.range.start.line]).toEqual([old.query, 0]);
    expect(fake.editor.done.at(-1)).toEqual({ what: "setContext", with: ["codelaw.remarks", 2] });
    await run("codelaw.deleteRemarks", before);
    text = TEXT.replace("two", "2");
    const left = reopen();
    expect(left).toHaveLength(1);
    expect(left[0]!.label).toBe("Not sent yet; these lines were changed since");
    await run("codelaw.sendRemarks");
    const asked = told[1]!;
    expect("text" in asked && asked.text).toContain("lines 2-3, which were changed after I had written this:");
    expect(reopen(), "they were sent").toEqual([]);
  });

  it("are put where their lines stand when their file is opened", async () => {
    await run("codelaw.addRemark", reply(thread(), "Why?"));
    fake.editor.documents = [];
    text = "";
    const [again] = reopen();
    expect(again!.range.start.line).toBe(1);
    vi.useFakeTimers();
    try {
      fake.editor.documents = [document];
      fake.documentOpened.fire(document);
      vi.runAllTimers();
    } finally {
      vi.useRealTimers();
    }
    expect([again!.range.start.line, again!.label]).toEqual([0, "Not sent yet; these lines are gone"]);
  });

  it("are not made of what another version kept, nor of lines without measure", async () => {
    const good = { uri: uri.toString(), text: TEXT, start: 1, end: 3, said: ["Why?", 7] };
    const bad = [null, 7, { ...good, uri: 1 }, { ...good, said: [7] }, { ...good, end: 1 }, { ...good, start: -1 }];
    memory.set("codelaw.remarks", [...bad, good]);
    expect(reopen().map(({ comments }) => comments.length)).toEqual([1]);
    memory.set("codelaw.remarks", "other");
    expect(reopen()).toEqual([]);
    text = `one\n${"x".repeat(300_000)}\nthree`;
    fake.editor.files.set(uri.path, text);
    await run("codelaw.addRemark", reply(thread(), "Why?"));
    expect(reopen()).toEqual([]);
  });

  it("are taken back one by one, and no others", async () => {
    const [one, two] = [thread(), thread()];
    await run("codelaw.addRemark", reply(one, "Why?"));
    await run("codelaw.addRemark", reply(two, "How?"));
    await run("codelaw.deleteRemarks", one);
    await run("codelaw.deleteRemarks", { dispose: () => expect.fail("it is not ours") });
    expect([one.dispose.mock.calls.length, two.dispose.mock.calls.length]).toEqual([1, 0]);
    expect(fake.editor.done.at(-1)).toEqual({ what: "setContext", with: ["codelaw.remarks", 1] });
  });

  it("of which there are too many are refused, and that is said", async () => {
    for (let count = 0; count < 101; count += 1) await run("codelaw.addRemark", reply(thread(), "Why?"));
    expect(fake.editor.done.filter(({ what }) => what === "warning")).toHaveLength(1);
  });
});
