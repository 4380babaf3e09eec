import { beforeEach, describe, expect, it, vi } from "vitest";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { showLaw } = await import("../../src/editor/law");

const shown = (): string[] =>
  fake.editor.done.flatMap(({ what, with: [uri] }) => (what === "showTextDocument" ? [(uri as fake.Uri).path] : []));
const picks = (): string[][] =>
  fake.editor.done.flatMap(({ what, with: [items] }) =>
    what === "pick" ? [(items as { label: string }[]).map(({ label }) => label)] : [],
  );

beforeEach(() => {
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
});

describe("the command for the law", () => {
  it.each([
    ["CODE_LAW.md", ["/w/CODE_LAW.md"]],
    ["code_law.MD", ["/w/code_law.MD"]],
    ["AGENTS.md", ["/w/AGENTS.md"]],
  ])("shows %s where it is the only one", async (name, expected) => {
    fake.editor.files.set(`/w/${name}`, "").set("/w/README.md", "").set("/w/CLAUDE.md", null);
    await showLaw();
    expect([shown(), picks()]).toEqual([expected, []]);
  });

  it("lets pick where there are several, and shows nothing where nothing is picked", async () => {
    for (const name of ["CLAUDE.md", "AGENTS.md", "CODE_LAW.md"]) fake.editor.files.set(`/w/${name}`, "");
    fake.editor.answers = [{ label: "AGENTS.md", name: "AGENTS.md" }];
    await showLaw();
    await showLaw();
    expect(picks()).toEqual([
      ["CODE_LAW.md", "AGENTS.md", "CLAUDE.md"],
      ["CODE_LAW.md", "AGENTS.md", "CLAUDE.md"],
    ]);
    expect(shown()).toEqual(["/w/AGENTS.md"]);
  });

  it("offers a law beside other files, and writes none over one that came meanwhile", async () => {
    for (const name of ["AGENTS.md", "CLAUDE.md"]) fake.editor.files.set(`/w/${name}`, "");
    fake.editor.answers = [{ label: "Create CODE_LAW.md", name: "" }];
    await showLaw();
    expect(picks()).toEqual([["AGENTS.md", "CLAUDE.md", "Create CODE_LAW.md"]]);
    expect(shown()).toEqual(["/w/CODE_LAW.md"]);
    expect(fake.editor.files.get("/w/CODE_LAW.md")).toContain("# Law");
    fake.editor.files.set("/w/CODE_LAW.md", "mine");
    fake.editor.answers = [{ label: "Create CODE_LAW.md", name: "" }];
    await showLaw();
    expect(fake.editor.files.get("/w/CODE_LAW.md")).toBe("mine");
  });

  it("looks for the files that the settings name", async () => {
    fake.editor.settings.set("law.files", { globalValue: ["RULES.md"] });
    for (const name of ["AGENTS.md", "RULES.md"]) fake.editor.files.set(`/w/${name}`, "");
    await showLaw();
    expect([shown(), picks()]).toEqual([["/w/RULES.md"], []]);
  });

  it("offers to begin one where there is none", async () => {
    fake.editor.answers = ["Create"];
    await showLaw();
    expect(shown()).toEqual(["/w/CODE_LAW.md"]);
  });
});
