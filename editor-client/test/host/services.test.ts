import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CancellationToken } from "vscode";
import type { Services } from "../../src/editor/services";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Reported, services } = await import("../../src/editor/services");
const { Terminals } = await import("../../src/editor/terminals");

const A = "file:///w/a.py";
const uri = fake.Uri.parse(A);
const range = (line: number, from: number, to: number): fake.Range =>
  new fake.Range(new fake.Position(line, from), new fake.Position(line, to));
const span = (line: number, from: number, to: number): unknown => ({
  start: { line, character: from },
  end: { line, character: to },
});
const token = (): { token: CancellationToken; cancel(): void } => {
  const source = new fake.CancellationTokenSource();
  return { token: source.token, cancel: () => source.cancel() };
};
const never = token().token;
const document = (version: number, dirty = false) => ({
  uri,
  version,
  isDirty: dirty,
  isUntitled: false,
  languageId: "python",
});
/** Somebody reports on another document of the language, as a language server does once it runs. */
const reporting = (): void => {
  const other = { ...document(1), uri: fake.Uri.parse("file:///w/other.py") };
  fake.editor.documents = [...fake.editor.documents, other];
  fake.diagnosticsChanged.fire({ uris: [other.uri] });
};

let reported: InstanceType<typeof Reported>;
let terminals: InstanceType<typeof Terminals>;
let answers: Services;
beforeEach(() => {
  fake.reset();
  vi.useFakeTimers();
  reported = new Reported();
  terminals = new Terminals();
  answers = services(reported, terminals);
});
afterEach(() => {
  reported.dispose();
  terminals.dispose();
  vi.useRealTimers();
});

describe("diagnostics", () => {
  const problem = {
    range: range(0, 1, 3),
    message: "no",
    severity: 1,
    code: { value: "E1", target: uri },
    source: "x",
  };

  it("are told in the shapes of LSP, of every document that has some", async () => {
    fake.editor.diagnostics.set(A, [problem, { range: range(1, 0, 0), message: "hm", severity: 3 }]);
    fake.editor.diagnostics.set("file:///w/b.py", []);
    expect(await answers["codelaw/editor/diagnostics"]({}, never)).toEqual([
      {
        uri: A,
        diagnostics: [
          { range: span(0, 1, 3), message: "no", severity: 2, code: "E1", source: "x" },
          { range: span(1, 0, 0), message: "hm", severity: 4 },
        ],
      },
    ]);
  });

  it("are waited for until the language server has seen that version", async () => {
    fake.editor.documents = [document(7)];
    reporting();
    const asked = answers["codelaw/editor/diagnostics"]({ uri: A, version: 7 }, never);
    await vi.advanceTimersByTimeAsync(500);
    fake.editor.diagnostics.set(A, [problem]);
    fake.diagnosticsChanged.fire({ uris: [uri] });
    await vi.advanceTimersByTimeAsync(120);
    expect(await asked).toMatchObject([{ uri: A, version: 7, diagnostics: [{ message: "no" }] }]);
  });

  it("of an older text are given as such after less than two seconds", async () => {
    const text = document(6);
    fake.editor.documents = [text];
    fake.editor.diagnostics.set(A, [problem]);
    fake.diagnosticsChanged.fire({ uris: [uri] });
    text.version = 7;
    const started = Date.now();
    const asked = answers["codelaw/editor/diagnostics"]({ uri: A, version: 7 }, never);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await asked).toMatchObject([{ uri: A, version: 6 }]);
    expect(Date.now() - started).toBeLessThanOrEqual(2_000);
  });

  it("are not waited for where nobody reports on that language", async () => {
    fake.editor.documents = [document(1)];
    expect(await answers["codelaw/editor/diagnostics"]({ uri: A, version: 1 }, never)).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("have no version where none was ever reported", async () => {
    fake.editor.documents = [document(1)];
    reporting();
    const asked = answers["codelaw/editor/diagnostics"]({ uri: A, version: 1 }, never);
    await vi.advanceTimersByTimeAsync(1_900);
    expect(await asked).toEqual([{ uri: A, diagnostics: [] }]);
  });

  it("are not waited for any longer when the question is withdrawn", async () => {
    fake.editor.documents = [document(1)];
    reporting();
    const source = token();
    const asked = answers["codelaw/editor/diagnostics"]({ uri: A, version: 1 }, source.token);
    source.cancel();
    expect(await asked).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("places", () => {
  it("come as locations, whichever way a provider says them", async () => {
    fake.editor.commands.set("vscode.executeDefinitionProvider", () => [
      { uri, range: range(4, 0, 2) },
      { targetUri: uri, targetRange: range(5, 0, 9), targetSelectionRange: range(5, 4, 5) },
      { targetUri: uri, targetRange: range(6, 0, 9) },
      "nonsense",
    ]);
    const found = await answers["codelaw/editor/definition"]({ uri: A, position: { line: 1, character: 2 } }, never);
    expect(found).toEqual([
      { uri: A, range: span(4, 0, 2) },
      { uri: A, range: span(5, 4, 5) },
      { uri: A, range: span(6, 0, 9) },
    ]);
    expect(fake.editor.done[0]?.with[1]).toEqual(new fake.Position(1, 2));
  });

  it("are null where nobody knows", async () => {
    expect(
      await answers["codelaw/editor/references"]({ uri: A, position: { line: 0, character: 0 } }, never),
    ).toBeNull();
  });

  it("are not waited for when the question is withdrawn", async () => {
    fake.editor.commands.set("vscode.executeReferenceProvider", () => new Promise(() => undefined));
    const source = token();
    const asked = answers["codelaw/editor/references"]({ uri: A, position: { line: 0, character: 0 } }, source.token);
    const outcome = expect(asked).rejects.toThrow(fake.CancellationError);
    await vi.advanceTimersByTimeAsync(1);
    source.cancel();
    await outcome;
  });
});

describe("edits", () => {
  const rename = (): Promise<unknown> =>
    Promise.resolve(
      answers["codelaw/editor/rename"]({ uri: A, position: { line: 0, character: 0 }, newName: "y" }, never),
    );

  it("are pinned to the versions of open documents", async () => {
    const edit = new fake.WorkspaceEdit();
    edit.set(uri, [{ range: range(0, 0, 1), newText: "y" }]);
    edit.set(fake.Uri.parse("file:///w/b.py"), [{ range: range(2, 0, 1), newText: "y" }]);
    fake.editor.documents = [document(9)];
    fake.editor.commands.set("vscode.executeDocumentRenameProvider", () => edit);
    expect(await rename()).toEqual({
      documentChanges: [
        { textDocument: { uri: A, version: 9 }, edits: [{ range: span(0, 0, 1), newText: "y" }] },
        { textDocument: { uri: "file:///w/b.py", version: null }, edits: [{ range: span(2, 0, 1), newText: "y" }] },
      ],
    });
  });

  it("say which files they would move, so that the server can refuse them", async () => {
    const edit = new fake.WorkspaceEdit();
    edit.renameFile(uri, fake.Uri.parse("file:///w/c.py"));
    fake.editor.commands.set("vscode.executeDocumentRenameProvider", () => edit);
    expect(await rename()).toEqual({
      documentChanges: [{ kind: "rename", oldUri: A, newUri: "file:///w/c.py" }],
    });
  });

  it("are null where nothing can be renamed", async () => {
    expect(await rename()).toBeNull();
  });

  it("of quick fixes are given, and fixes without one are left out", async () => {
    const fix = new fake.CodeAction("Fix it");
    fix.edit = new fake.WorkspaceEdit();
    fix.edit.set(uri, [{ range: range(0, 0, 0), newText: "import x\n" }]);
    const other = new fake.CodeAction("Ask codelaw");
    const dead = new fake.CodeAction("Not here");
    dead.edit = new fake.WorkspaceEdit();
    dead.disabled = { reason: "no" };
    fake.editor.commands.set("vscode.executeCodeActionProvider", () => [fix, other, dead, { title: "Command" }]);
    const asked = { uri: A, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } } };
    expect(await answers["codelaw/editor/quickFix"](asked, never)).toMatchObject([{ title: "Fix it" }]);
  });
});

describe("saving", () => {
  it("saves what is unsaved of what was named, and tells what was saved", async () => {
    const save = vi.fn(() => Promise.resolve(true));
    const other = vi.fn(() => Promise.resolve(true));
    fake.editor.documents = [
      { ...document(1, true), save },
      { ...document(1, true), uri: fake.Uri.parse("file:///w/b.py"), save: other },
      { ...document(1, false), uri: fake.Uri.parse("file:///w/c.py"), save: other },
      { ...document(1, true), uri: fake.Uri.parse("file:///w/d.py"), isUntitled: true, save: other },
    ];
    const uris = [A, "file:///w/c.py", "file:///w/d.py", "file:///w/none.py"];
    expect(await answers["codelaw/editor/save"]({ uris }, never)).toEqual({ saved: [A] });
    expect(save).toHaveBeenCalledTimes(1);
    expect(other).not.toHaveBeenCalled();
  });
});

describe("symbols", () => {
  it("of the project come in the shapes of LSP", async () => {
    fake.editor.commands.set("vscode.executeWorkspaceSymbolProvider", (query) => [
      { name: query, kind: 11, containerName: "Shape", location: { uri, range: range(1, 0, 4) } },
      { name: "bare", kind: 4, containerName: "", location: { uri, range: range(2, 0, 4) } },
      { name: "nowhere", kind: 4, location: undefined },
    ]);
    expect(await answers["codelaw/editor/symbols"]({ query: "area" }, never)).toEqual([
      { name: "area", kind: 12, containerName: "Shape", location: { uri: A, range: span(1, 0, 4) } },
      { name: "bare", kind: 5, location: { uri: A, range: span(2, 0, 4) } },
    ]);
  });

  it("of a document come with what is inside them", async () => {
    const inner = { name: "area", kind: 5, range: range(1, 0, 4), selectionRange: range(1, 0, 2), children: [] };
    const outer = { name: "Shape", kind: 4, range: range(0, 0, 9), selectionRange: range(0, 0, 5), children: [inner] };
    fake.editor.commands.set("vscode.executeDocumentSymbolProvider", () => [outer]);
    expect(await answers["codelaw/editor/outline"]({ uri: A }, never)).toEqual([
      {
        name: "Shape",
        kind: 5,
        range: span(0, 0, 9),
        selectionRange: span(0, 0, 5),
        children: [{ name: "area", kind: 6, range: span(1, 0, 4), selectionRange: span(1, 0, 2) }],
      },
    ]);
    fake.editor.commands.set("vscode.executeDocumentSymbolProvider", () => undefined);
    expect(await answers["codelaw/editor/outline"]({ uri: A }, never)).toBeNull();
  });
});

describe("the last output of a terminal", () => {
  const shell = { name: "zsh" };
  const other = { name: "bash" };
  const running = (command: string, ...pieces: string[]) => ({
    commandLine: { value: command },
    // eslint-disable-next-line @typescript-eslint/require-await
    async *read() {
      yield* pieces;
    },
  });
  const last = () => answers["codelaw/editor/terminal"]({}, never);
  beforeEach(() => {
    fake.window.activeTerminal = undefined;
  });

  it("is that of the newest command, or of the active terminal's", async () => {
    expect(await last()).toBeNull();
    const first = running("make", "one\n", "two\n");
    fake.commandStarted.fire({ terminal: shell, execution: first });
    await vi.advanceTimersByTimeAsync(0);
    fake.commandEnded.fire({ terminal: shell, execution: first, exitCode: 2 });
    expect(await last()).toEqual({ name: "zsh", command: "make", output: "one\ntwo\n", exitCode: 2 });
    fake.commandStarted.fire({ terminal: other, execution: running("ls", "a\n") });
    await vi.advanceTimersByTimeAsync(0);
    expect(await last()).toEqual({ name: "bash", command: "ls", output: "a\n" });
    fake.window.activeTerminal = shell;
    expect(await last()).toMatchObject({ name: "zsh" });
    fake.terminalClosed.fire(shell);
    expect(await last()).toMatchObject({ name: "bash" });
  });

  it("keeps the end of what is long", async () => {
    fake.commandStarted.fire({ terminal: shell, execution: running("yes", "a".repeat(200_000), "END") });
    await vi.advanceTimersByTimeAsync(0);
    const kept = (await last())?.output ?? "";
    expect(kept).toHaveLength(200_000);
    expect(kept.endsWith("END")).toBe(true);
  });

  it("is unknown in an editor that does not tell of commands", () => {
    const silent = new Terminals({ onDidCloseTerminal: vi.fn() });
    expect(silent.last()).toBeNull();
    silent.dispose();
  });
});
