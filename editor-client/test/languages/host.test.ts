import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { host as german } from "../../src/languages/de/host";
import { host as english } from "../../src/languages/en/host";
import { hostWords as tableOf, LANGUAGES } from "../../src/languages/tables";
import type { ApprovalRequest } from "../../src/protocol/types";
import type { ServerState } from "../../src/messages";
import { hostWords } from "./words";

vi.mock("vscode", () => import("../host/vscode"));

const ROOT = join(import.meta.dirname, "../..");
const SRC = join(ROOT, "src");
/** Words that no user reads: a program, markup, words of pip, of classes and of tools, the log's under another name. */
const NOT_SHOWN: Record<string, RegExp> = {
  "chat/html.ts": /<!doctype html>/,
  "chat/page.ts": /The panel said something that makes no sense/,
  "editor/lending.ts": /^\d+: (?:NotFound|Unknown)$/,
  "server/extras.ts": /^\d+: Outline$/,
  "server/find.ts": /import sys; |Scripts/,
  "server/install.ts": /Installing collected packages|import anthropic/,
  "server/refusal.ts": /Refusal|Canceled/,
  "server/secrets.ts": /sk-ant-…/,
};

const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts") && !/^(?:languages|protocol)\//.test(name));

/** The fake editor, in that language; what is imported afterwards is new and finds it so. */
async function editorIn(language: string): Promise<typeof import("../host/vscode")> {
  const fake: unknown = await import("vscode");
  const editor = fake as typeof import("../host/vscode");
  editor.env.language = language;
  editor.reset();
  vi.resetModules();
  return editor;
}

afterEach(() => editorIn("en"));

describe("a visible word of the extension", () => {
  it.each(sources)("stands in the tables of the languages, not in %s", (name) => {
    const words = hostWords(name, readFileSync(join(SRC, name), "utf8"));
    expect(words.filter((word) => NOT_SHOWN[name]?.test(word) !== true)).toEqual([]);
  });

  it.each([
    `void window.showInformationMessage("Open a file first.");`,
    "void window.showWarningMessage(`${name} cannot be changed.`);",
    `await window.showErrorMessage(x ? "failed" : y, t.open);`,
    `await window.showQuickPick(items, { title: "Fix" });`,
    `await window.showInputBox({ prompt: t.x, placeHolder: "key" });`,
    `const options = { openLabel: (given ?? "add") };`,
    `item.tooltip = "ready";`,
    `words = "running";`,
    `const remedy = "try it again";`,
    `progress.report("Installing");`,
    `window.showInformationMessage(t.x, ...["Show"]);`,
  ])("would be seen in %s", (source) => {
    expect(hostWords("a.ts", source)).toHaveLength(1);
  });

  it.each([
    `import { A } from "Some Where";`,
    "this.log.warn(`The models could not be listed: ${reason}`);",
    `progress.log("It could not be removed");`,
    "const title = `${name}: ${words}`;",
    "window.showErrorMessage(`codelaw: ${message}`);",
    `await commands.executeCommand("vscode.open", uri);`,
    `if (event.kind === "turn_started" || name === "/dev/null") stop();`,
    `type Phase = { message: "not a word that is shown" };`,
  ])("is none in %s", (source) => {
    expect(hostWords("a.ts", source)).toEqual([]);
  });
});

/** Every text of a table by its path; what is made of values is called with letters and numbers in their places. */
function texts(table: object, path = ""): [path: string, text: string][] {
  return Object.entries(table).flatMap(([key, value]: [string, unknown]): [string, string][] => {
    const at = `${path}/${key}`;
    if (typeof value === "string") return [[at, value]];
    if (typeof value === "function") return [[at, String(Reflect.apply(value, undefined, ["A1", "B2", "C3"]))]];
    return texts(value as object, at);
  });
}

describe("the tables of the extension", () => {
  it("say something under every key, and the same keys", () => {
    for (const language of LANGUAGES) {
      const all = texts(tableOf(language));
      expect(all.filter(([, text]) => text.trim() === "")).toEqual([]);
      expect(all.map(([path]) => path)).toEqual(texts(english).map(([path]) => path));
    }
  });

  it("put every value in that the English words put in", () => {
    const values = (text: string): string[] => [...new Set(text.match(/A1|B2|C3/g))].sort();
    for (const language of LANGUAGES) {
      const others = new Map(texts(tableOf(language)));
      for (const [path, text] of texts(english))
        expect([path, values(others.get(path) ?? "")]).toEqual([path, values(text)]);
    }
  });

  it("differ where the languages do", () => {
    const others = new Map(texts(german));
    const same = texts(english).filter(([path, text]) => others.get(path) === text);
    expect(same.map(([path]) => path)).toEqual(["/offline"]);
  });

  it("name commands as the palette does", () => {
    for (const language of LANGUAGES) {
      const file = language === "en" ? "package.nls.json" : `package.nls.${language}.json`;
      const titles = Object.entries(JSON.parse(readFileSync(join(ROOT, file), "utf8")) as Record<string, string>)
        .filter(([key]) => key.startsWith("command."))
        .map(([, title]) => title.replace(/ ?…$/, ""));
      const naming = texts(tableOf(language)).filter(
        ([path, text]) => path !== "/codelawAsks" && text.includes("codelaw: "),
      );
      expect(naming.length).toBeGreaterThan(5);
      const named = ([, text]: [string, string]): boolean => titles.some((title) => text.includes(`codelaw: ${title}`));
      expect(naming.filter((entry) => !named(entry))).toEqual([]);
    }
  });
});

describe("the extension speaks the editor's language", () => {
  const ready: ServerState = { phase: "ready", session: 1, message: "", actions: [], methods: [], offline: true };

  it.each([
    ["en", "codelaw: offline", "Offline model: set an API key to use a real one."],
    ["de-AT", "codelaw: offline", "Offline-Modell: Setzen Sie einen API-Schlüssel, um ein echtes zu nutzen."],
    ["qq", "codelaw: offline", "Offline model: set an API key to use a real one."],
  ])("in the status bar: %s", async (language, label, line) => {
    await editorIn(language);
    const { tellStatus } = await import("../../src/status");
    const told = tellStatus(ready, 0, null);
    expect(told.label).toBe(label);
    expect(told.lines).toContain(line);
  });

  const MAKE: ApprovalRequest = {
    chatId: "c",
    turnId: "t",
    callId: "1",
    tool: "Bash",
    title: "make",
    risk: "execute",
    preview: { command: "make" },
    options: [
      { id: "yes", title: "Allow once", kind: "allow_once" },
      { id: "no", title: "Reject", kind: "reject" },
    ],
  };

  it.each([
    ["en", "codelaw asks: Run make", ["Show", "Allow once", "Reject"]],
    ["de", "codelaw fragt: Ausführen: make", ["Zeigen", "Einmal erlauben", "Ablehnen"]],
  ])("in an approval, whose buttons do what they say: %s", async (language, question, buttons) => {
    const { CancellationTokenSource, editor } = await editorIn(language);
    const { Approvals, notify } = await import("../../src/editor/approvals");
    const approvals = new Approvals();
    const answer = approvals.ask(MAKE, new CancellationTokenSource().token);
    editor.answers = [buttons[1]];
    await notify(approvals, approvals.open[0]!, () => undefined);
    expect(editor.done).toContainEqual({ what: "information", with: [question, ...buttons] });
    expect(await answer).toEqual({ optionId: "yes" });
  });
});
