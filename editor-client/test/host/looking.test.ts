import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LookingAt as LookingAtType } from "../../src/editor/looking";
import type { Looking } from "../../src/messages";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { LookingAt } = await import("../../src/editor/looking");

const place = (line: number, character: number) => new fake.Position(line, character);
class Selection extends fake.Range {
  get active(): fake.Position {
    return this.end;
  }
}
interface Editor {
  document: { uri: fake.Uri; version: number };
  selection: Selection;
  visibleRanges: fake.Range[];
}
const editorOf = (uri: fake.Uri, selection = new Selection(place(0, 0), place(0, 0))): Editor => ({
  document: { uri, version: 3 },
  selection,
  visibleRanges: [new fake.Range(place(0, 0), place(9, 0)), new fake.Range(place(20, 0), place(39, 4))],
});
const file = (name: string): fake.Uri => fake.Uri.file(`/w/${name}`);

let looking: LookingAtType;
let told: (Looking | null)[];

/** Show editors side by side; the first one is active. */
function show(...editors: Editor[]): void {
  fake.window.activeTextEditor = editors[0];
  fake.window.visibleTextEditors = editors;
  fake.activeEditorChanged.fire(editors[0]);
  fake.visibleEditorsChanged.fire(editors);
  vi.advanceTimersByTime(50);
}

beforeEach(() => {
  vi.useFakeTimers();
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
  fake.window.activeTextEditor = undefined;
  fake.window.visibleTextEditors = [];
  looking = new LookingAt();
  told = [];
  looking.onChange((now) => told.push(now));
});
afterEach(() => {
  looking.dispose();
  vi.useRealTimers();
});

describe("what the user looks at", () => {
  it("is the document, its version, the cursor, what is selected, and the lines on the screen", () => {
    expect(looking.current).toBeNull();
    show(editorOf(file("src/a.py"), new Selection(place(11, 0), place(16, 0))));
    expect(told).toEqual([
      {
        uri: "file:///w/src/a.py",
        version: 3,
        cursor: { line: 16, character: 0 },
        selection: { start: { line: 11, character: 0 }, end: { line: 16, character: 0 } },
        visible: { start: { line: 0, character: 0 }, end: { line: 39, character: 4 } },
        label: "src/a.py:12-16",
      },
    ]);
    expect(looking.current).toBe(told[0]);
  });

  it("is there at the start, and has no selection where nothing is selected", () => {
    fake.window.activeTextEditor = editorOf(file("a.py"), new Selection(place(4, 2), place(4, 2)));
    const other = new LookingAt();
    expect(other.current).toMatchObject({ label: "a.py", cursor: { line: 4, character: 2 } });
    expect(other.current).not.toHaveProperty("selection");
    other.dispose();
  });

  it("is told once for what comes close together, and not again where nothing has changed", () => {
    const editor = editorOf(file("a.py"));
    show(editor);
    for (let line = 1; line < 5; line += 1) {
      editor.selection = new Selection(place(line, 0), place(line, 0));
      fake.selectionChanged.fire({ textEditor: editor });
    }
    vi.advanceTimersByTime(50);
    fake.visibleRangesChanged.fire({ textEditor: editor });
    vi.advanceTimersByTime(50);
    expect(told.map((one) => one?.cursor?.line)).toEqual([0, 4]);
  });

  it("follows the version of its document, and no other editor", () => {
    const [editor, other] = [editorOf(file("a.py")), editorOf(file("b.py"))];
    show(editor, other);
    other.selection = new Selection(place(1, 0), place(2, 0));
    fake.selectionChanged.fire({ textEditor: other });
    fake.documentChanged.fire({ document: other.document });
    vi.advanceTimersByTime(50);
    editor.document.version = 4;
    fake.documentChanged.fire({ document: editor.document });
    vi.advanceTimersByTime(50);
    expect(told.map((one) => [one?.label, one?.version])).toEqual([
      ["a.py", 3],
      ["a.py", 4],
    ]);
  });

  it("stays while the output, a diff's old side or a page without text is looked into, as long as it is on the screen", () => {
    const editor = editorOf(file("a.py"));
    show(editor);
    for (const uri of ["output:tasks", "git:/w/a.py?HEAD", "vscode-scm:git/input", "codelaw-chat:/c.md"]) {
      show(editorOf(fake.Uri.parse(uri)), editor);
    }
    fake.window.activeTextEditor = undefined;
    fake.activeEditorChanged.fire(undefined);
    vi.advanceTimersByTime(50);
    expect(looking.current?.label).toBe("a.py");
    expect(told).toHaveLength(1);
    show(editorOf(fake.Uri.parse("output:tasks")));
    expect(looking.current).toBeNull();
  });

  it("may be a document that has no file yet", () => {
    show(editorOf(fake.Uri.parse("untitled:Untitled-1")));
    expect(looking.current?.uri).toBe("untitled:Untitled-1");
  });
});

describe("the setting", () => {
  const set = (values: object): void => {
    fake.editor.settings.set("panel.sendEditor", values);
    fake.configurationChanged.fire({ affectsConfiguration: (section) => section === "codelaw.panel.sendEditor" });
    vi.advanceTimersByTime(50);
  };

  it.each([
    [{ globalValue: false }, false],
    [{ workspaceValue: false }, false],
    [{ globalValue: true, workspaceFolderValue: false }, false],
    [{ globalValue: false, workspaceValue: true }, false],
    [{ globalValue: true }, true],
    [{}, true],
  ])("%j sends it: %s", (values, sends) => {
    show(editorOf(file("a.py")));
    set(values);
    expect(looking.current !== null).toBe(sends);
  });

  it("tells the panel when it is switched", () => {
    show(editorOf(file("a.py")));
    set({ globalValue: false });
    set({ globalValue: true });
    expect(told.map((one) => one?.label ?? null)).toEqual(["a.py", null, "a.py"]);
  });
});
