import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TextDocumentContentProvider, Uri } from "vscode";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Diffs } = await import("../../src/editor/diffs");
const { closeProposals } = await import("../../src/editor/proposals");

let phase: string;
let diffs: InstanceType<typeof Diffs>;
let provider: TextDocumentContentProvider;
const text = (uri: unknown): unknown => provider.provideTextDocumentContent(uri as Uri, undefined as never);
const shown = (): { what: string; with: unknown[] } => fake.editor.done.at(-1) ?? { what: "", with: [] };
const turn = { chatId: "c", turnId: "t", uri: "file:///w/a%20b.py", path: "a b.py" };
const proposal = (diff: string): Parameters<InstanceType<typeof Diffs>["proposal"]>[0] => ({
  id: 4,
  request: {
    chatId: "c",
    turnId: "t",
    callId: "x",
    tool: "Edit",
    title: "Rename y",
    risk: "write",
    preview: { diff },
    options: [],
  },
});

beforeEach(() => {
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
  fake.editor.files.set("/w/a b.py", "x\ny\n");
  phase = "ready";
  const wire = {
    get state() {
      return { phase };
    },
  };
  diffs = new Diffs(wire as unknown as Wire);
  provider = fake.editor.done[0]?.with[1] as TextDocumentContentProvider;
});
afterEach(() => diffs.dispose());

describe("what a turn changed", () => {
  it("is the file as the turn found it beside the file", async () => {
    await diffs.turn(turn);
    const [before, after, title] = shown().with;
    expect(shown().what).toBe("vscode.diff");
    expect(String(before)).toBe("codelaw-chat:/c/before/t/a%20b.py");
    expect(String(after)).toBe("file:///w/a%20b.py");
    expect(title).toBe("a b.py (before codelaw ↔ now)");
  });

  it("is beside nothing where the file is gone", async () => {
    fake.editor.files.clear();
    await diffs.turn(turn);
    const [, after, title] = shown().with;
    expect(text(after)).toBe("");
    expect(title).toBe("a b.py (removed by codelaw)");
  });

  it("needs the server, and that is said", async () => {
    phase = "crashed";
    await diffs.turn(turn);
    expect(shown().what).toBe("warning");
  });
});

describe("what a question would change", () => {
  const change = "--- a/a b.py\n+++ b/a b.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z";

  it("is the text of the editor beside what would become of it", async () => {
    fake.editor.documents = [{ uri: fake.Uri.file("/w/a b.py"), getText: () => "x\ny\nunsaved\n" }];
    await diffs.proposal(proposal(change));
    const [before, after] = shown().with;
    expect(shown().what).toBe("vscode.diff");
    expect(String(before)).toBe("file:///w/a%20b.py");
    expect(text(after)).toBe("x\nz\nunsaved\n");
  });

  it("is compared with nothing where the file is new", async () => {
    await diffs.proposal(proposal("--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+hello"));
    const [before, after] = shown().with;
    expect([text(before), text(after)]).toEqual(["", "hello\n"]);
  });

  it("is shown for all files at once", async () => {
    fake.editor.files.set("/w/b.py", "y\n");
    await diffs.proposal(proposal(`${change}\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-y\n+z`));
    expect(shown().what).toBe("vscode.changes");
    expect(shown().with[0]).toBe("Rename y");
    expect(shown().with[1]).toHaveLength(2);
  });

  it.each([
    ["does not fit the text any more", () => fake.editor.files.set("/w/a b.py", "other\n"), change],
    ["is of a file that is gone", () => fake.editor.files.clear(), change],
    ["is cut short", () => undefined, change.slice(0, -2)],
    ["is none", () => undefined, ""],
  ])("is not shown when its diff %s, and that is said", async (_what, happens, diff) => {
    happens();
    await diffs.proposal(proposal(diff));
    expect(shown().what).toBe("warning");
  });
});

describe("the tabs of a question that is answered", () => {
  const uri = (scheme: string, path: string): fake.Uri => fake.Uri.from({ scheme, path });
  const file = uri("file", "/w/a.py");
  const diff = (modified: fake.Uri): unknown => ({ input: new fake.TabInputTextDiff(file, modified) });
  const own = diff(uri("codelaw-proposal", "/proposed/4/a.py"));
  const other = diff(uri("codelaw-proposal", "/proposed/41/a.py"));
  const many = {
    input: {
      textDiffs: [
        { original: file, modified: file },
        { original: uri("codelaw-proposal", "/none/4/b.py"), modified: null },
      ],
    },
  };
  const foreign = [diff(uri("git", "/proposed/4/a.py")), { input: undefined }, { input: { uri: file } }, { input: 7 }];
  const closed = (): unknown[] =>
    fake.editor.done.filter(({ what }) => what === "closeTabs").flatMap((one) => one.with);

  beforeEach(() => {
    fake.window.tabGroups.all = [{ tabs: [own, ...foreign] }, { tabs: [other, many] }];
  });
  afterEach(() => {
    fake.window.tabGroups.all = [];
  });

  it("are closed, and no other", async () => {
    await diffs.answered(proposal(""));
    expect(closed()).toEqual([own, many]);
  });

  it("are closed when another window had them, whose texts are gone", async () => {
    await closeProposals();
    expect(closed()).toEqual([own, other, many]);
  });

  it("are left alone where there are none", async () => {
    fake.window.tabGroups.all = [{ tabs: foreign }];
    await diffs.answered(proposal(""));
    expect(closed()).toEqual([]);
  });
});
