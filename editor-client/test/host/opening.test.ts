import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Uri } from "vscode";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { find, open, openExternal } = await import("../../src/editor/opening");
const { attachmentOf, linesOf } = await import("../../src/editor/selection");
const { attach, dropped, fileName } = await import("../../src/chat/files");

const folder = (path: string, name: string): (typeof fake.editor.folders)[number] => ({
  uri: fake.Uri.file(path),
  name,
  index: 0,
});
const span = (a: number, b: number, c: number, d: number): never =>
  new fake.Range(new fake.Position(a, b), new fake.Position(c, d)) as never;

beforeEach(() => {
  fake.reset();
  fake.editor.folders = [folder("/w/one", "one"), folder("/w/two", "two")];
  for (const path of ["/w/one/a.py", "/w/two/src/b.py", '/w/one/it\'s "a" b.py', "/w/one/c:12", "/etc/x"]) {
    fake.editor.files.set(path, "");
  }
  fake.editor.files.set("/w/two/src", null);
});

describe("a name in an answer", () => {
  it.each([
    ["a.py", "/w/one/a.py", undefined, undefined],
    ["./a.py", "/w/one/a.py", undefined, undefined],
    ["a.py:10", "/w/one/a.py", 10, undefined],
    ["a.py:10:4", "/w/one/a.py", 10, undefined],
    ["a.py:10-24", "/w/one/a.py", 10, 24],
    ["a.py#L10-L24", "/w/one/a.py", 10, 24],
    ["a.py#L3", "/w/one/a.py", 3, undefined],
    ["src/b.py", "/w/two/src/b.py", undefined, undefined],
    ["two/src/b.py:2", "/w/two/src/b.py", 2, undefined],
    ["src\\b.py", "/w/two/src/b.py", undefined, undefined],
    ['it\'s "a" b.py:3', '/w/one/it\'s "a" b.py', 3, undefined],
    ["c:12", "/w/one/c:12", undefined, undefined],
    ["/etc/x", "/etc/x", undefined, undefined],
  ])("%s leads to %s, line %s to %s", async (path, found, line, endLine) => {
    const place = await find({ path });
    expect([place?.uri.path, place?.line, place?.endLine]).toEqual([found, line, endLine]);
  });

  it.each(["../../etc/x", "two/../../../etc/x", "nothing.py", "file:///etc/x", ""])(
    "%s leads nowhere",
    async (path) => {
      expect(await find({ path })).toBeNull();
    },
  );

  it.each(["vscode://settings", "command:workbench.action.quit", "https://x.org/a", "file://server/etc/x", "no uri"])(
    "the address %s is not opened",
    async (uri) => {
      expect(await find({ uri })).toBeNull();
    },
  );

  it("is opened at its lines", async () => {
    await open({ path: "a.py", line: 3, endLine: 5 });
    const done = fake.editor.done.find(({ what }) => what === "vscode.open");
    expect((done?.with[0] as Uri).path).toBe("/w/one/a.py");
    expect(done?.with[1]).toMatchObject({ selection: { start: { line: 2, character: 0 }, end: { line: 4 } } });
  });

  it("outside of the workspace is opened only when the user says so", async () => {
    fake.editor.answers = [undefined, "Open"];
    await open({ path: "/etc/x" });
    expect(fake.editor.done.map(({ what }) => what)).toEqual(["warning"]);
    await open({ path: "/etc/x" });
    expect(fake.editor.done.map(({ what }) => what)).toEqual(["warning", "warning", "vscode.open"]);
  });

  it("that is missing is told", async () => {
    await open({ path: "nothing.py" });
    expect(fake.editor.done).toMatchObject([
      { what: "warning", with: ["There is no file “nothing.py” in the workspace."] },
    ]);
  });

  it("of a folder is shown in the explorer", async () => {
    await open({ path: "src" });
    expect(fake.editor.done.map(({ what }) => what)).toEqual(["revealInExplorer"]);
  });
});

describe("an address", () => {
  it("of the web is opened in the browser", async () => {
    await openExternal("https://example.org/a?b=c#d");
    expect(fake.editor.done).toEqual([{ what: "openExternal", with: ["https://example.org/a?b=c#d"] }]);
  });

  it.each(["javascript:alert(1)", "file:///etc/passwd", "vscode://x", "data:text/html,x", "//x.org", "x"])(
    "like %s is not",
    async (url) => {
      await openExternal(url);
      expect(fake.editor.done.map(({ what }) => what)).toEqual(["warning"]);
    },
  );
});

describe("a selection", () => {
  it.each([
    [span(9, 2, 23, 4), "10-24"],
    [span(9, 2, 9, 4), "10"],
    [span(9, 0, 24, 0), "10-24"],
    [span(9, 0, 10, 0), "10"],
    [span(9, 0, 9, 0), "10"],
  ])("is named by its lines", (range, lines) => {
    expect(linesOf(range)).toBe(lines);
  });

  it("is named with its folder where there are several", () => {
    const uri = fake.Uri.file("/w/two/src/b.py") as unknown as Uri;
    expect(attachmentOf(uri, span(0, 0, 1, 3))).toEqual({
      uri: "file:///w/two/src/b.py",
      label: "two/src/b.py:1-2",
      range: { start: { line: 0, character: 0 }, end: { line: 1, character: 3 } },
    });
    fake.editor.folders = [folder("/w/two", "two")];
    expect(attachmentOf(uri)).toEqual({ uri: "file:///w/two/src/b.py", label: "src/b.py" });
  });

  it("of files in the explorer has documents as attachments and folders in the text", async () => {
    fake.editor.files.set("/w/one/my docs", null);
    fake.editor.files.set("/w/one/文档", null);
    const uris = ["/w/one/a.py", "/w/two/src", "/w/one/my docs", "/w/one/文档"].map(
      (path) => fake.Uri.file(path) as unknown as Uri,
    );
    expect(await attach(uris)).toEqual({
      kind: "attach",
      attachments: [{ uri: "file:///w/one/a.py", label: "one/a.py" }],
      text: '@two/src/ @"one/my docs/" @"one/文档/" ',
    });
  });
});

describe("the name of an exported chat", () => {
  it.each([
    ["Fix the bug", "Fix the bug"],
    ["../../etc/passwd", "etc passwd"],
    ['a/b\\c:d*e?"f<g>|h', "a b c d e f g h"],
    ["", "chat"],
    ["...", "chat"],
    ["Größe 日本", "Größe 日本"],
  ])("of %s is %s", (title, name) => {
    expect(fileName(title)).toBe(name);
  });
});

describe("files that are dropped in a remote window", () => {
  const DROPPED = ["vscode-remote://wsl+ubuntu/w/one/a.py", "vscode-remote://wsl+ubuntu/w/two/src"];

  it("are the remote's own, where the extension runs", async () => {
    fake.env.remoteName = "wsl";
    const attached = await dropped(DROPPED);
    expect(attached).toMatchObject({
      attachments: [{ uri: "file:///w/one/a.py", label: "one/a.py" }],
      text: "@two/src/ ",
    });
  });

  it("are the window's where its folders are known by the same addresses", async () => {
    fake.env.remoteName = "wsl";
    fake.editor.folders = [{ ...folder("/w/one", "one"), uri: fake.Uri.parse("vscode-remote://wsl+ubuntu/w/one") }];
    expect(await dropped(DROPPED.slice(0, 1))).toMatchObject({ attachments: [{ uri: DROPPED[0] }] });
  });

  it("are not found from a window that is not a remote's", async () => {
    expect(await dropped(DROPPED)).toBeNull();
    expect(fake.editor.done.map(({ what }) => what)).toContain("warning");
  });
});
