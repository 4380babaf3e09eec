import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Diagnostic } from "vscode";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { reported } = await import("../../src/server/diagnostics");

const law = fake.Uri.file("/w/CODE_LAW.md");
const other = fake.Uri.file("/w/AGENTS.md");
const at = (line: number, message = "There is no such file."): Diagnostic[] =>
  [{ range: { start: { line, character: 0 }, end: { line, character: 4 } }, message, severity: 1 }] as never;
const open = (version: number): void => {
  fake.editor.documents = [{ uri: law, version }];
};

let shown: [string, Diagnostic[]][];
let report: (uri: fake.Uri, diagnostics: Diagnostic[]) => void;

beforeEach(() => {
  fake.reset();
  shown = [];
  const { handleDiagnostics } = reported();
  report = (uri, diagnostics) =>
    handleDiagnostics?.(uri as never, diagnostics, (to, what) => void shown.push([to.path, what]));
});

describe("what is reported of a file", () => {
  it("is not shown anew when the file is opened, so that the list on the screen still works", () => {
    report(law, at(2));
    open(1);
    report(law, at(2));
    expect(shown).toEqual([["/w/CODE_LAW.md", at(2)]]);
  });

  it("is shown when it is another, elsewhere, or gone", () => {
    report(law, at(2));
    report(law, at(3));
    report(law, at(3, "It is too long."));
    report(other, at(3, "It is too long."));
    report(law, []);
    report(law, at(3, "It is too long."));
    expect(shown.map(([file, found]) => [file, found.length])).toEqual([
      ["/w/CODE_LAW.md", 1],
      ["/w/CODE_LAW.md", 1],
      ["/w/CODE_LAW.md", 1],
      ["/w/AGENTS.md", 1],
      ["/w/CODE_LAW.md", 0],
      ["/w/CODE_LAW.md", 1],
    ]);
  });

  it("is shown when only the place beside it is another, which the editor's own form of it does not have", () => {
    const beside = (line: number): Diagnostic[] =>
      at(5).map(({ range, message, severity }) => ({
        ...{ range, message, severity },
        relatedInformation: [
          { location: { uri: law, range: { start: { line }, end: { line } } }, message: "The first." },
        ],
        toJSON: () => ({ range, message, severity }),
      })) as never;
    report(law, beside(1));
    report(law, beside(1));
    report(law, beside(2));
    expect(shown).toHaveLength(2);
  });

  it("is shown again after a change, which may have moved the marks", () => {
    open(1);
    report(law, at(2));
    open(3);
    report(law, at(2));
    fake.editor.documents = [];
    report(law, at(2));
    expect(shown).toHaveLength(3);
  });

  it("is shown by each new connection", () => {
    report(law, at(2));
    reported().handleDiagnostics?.(law as never, at(2), (to, what) => void shown.push([to.path, what]));
    expect(shown).toHaveLength(2);
  });
});
