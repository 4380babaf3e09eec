import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ToPanel } from "../../src/messages";
import type { Proposal } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { writeCommitMessage } = await import("../../src/editor/commitMessage");

const repository = (name: string, value = "", selected = false) => ({
  rootUri: fake.Uri.file(name),
  inputBox: { value },
  ui: { selected },
});
type Repository = ReturnType<typeof repository>;
const open = (...repositories: Repository[]): void => {
  fake.editor.extensions.set("vscode.git", { enabled: true, getAPI: () => ({ repositories }) });
};

let told: ToPanel[];
let asked: [string, unknown][];
let answer: () => Promise<Proposal>;
const wire = {
  command: (name: string, params: unknown) => {
    asked.push([name, params]);
    return name === "codelaw.editor.proposal" ? answer() : Promise.resolve({ chatId: "c", turnId: "t" });
  },
  request: (name: string, params: unknown) => {
    asked.push([name, params]);
    return Promise.resolve({ cancelled: true });
  },
} as unknown as Wire;
const view = { tell: (message: ToPanel) => Promise.resolve(told.push(message)) };
const write = (where?: unknown): Promise<void> => writeCommitMessage(wire, view as never, where);
const did = (what: string): unknown[] => fake.editor.done.filter((one) => one.what === what).map((one) => one.with[0]);

beforeEach(() => {
  fake.reset();
  [told, asked] = [[], []];
  answer = () => Promise.resolve({ stopReason: "finished", lines: ["Add it", "", "Because."], said: "" });
});

describe("the message of a commit", () => {
  it("is written into the box of the repository whose view was used", async () => {
    const [one, other] = [repository("/w/a", "", true), repository("/w/b")];
    open(one, other);
    await write({ rootUri: fake.Uri.file("/w/b") });
    expect(asked[0]).toEqual(["codelaw.editor.commitMessage", { uri: "file:///w/b" }]);
    expect([one.inputBox.value, other.inputBox.value]).toEqual(["", "Add it\n\nBecause."]);
    await write();
    expect(asked[2]).toEqual(["codelaw.editor.commitMessage", { uri: "file:///w/a" }]);
  });

  it("is asked for the repository that is picked where none is meant", async () => {
    open(repository("/w/a"), repository("/w/b"));
    await write();
    expect(asked).toEqual([]);
    expect(did("pick")).toMatchObject([[{ label: "/w/a" }, { label: "/w/b" }]]);
  });

  it.each([
    [undefined, "Merge branch", 0],
    ["Replace", "Add it\n\nBecause.", 2],
  ])("replaces one that is there only when the user says so (%j)", async (said, text, requests) => {
    const one = repository("/w", "Merge branch");
    open(one);
    fake.editor.answers = [said];
    await write();
    expect(one.inputBox.value).toBe(text);
    expect(asked).toHaveLength(requests);
  });

  it("does not overwrite what was written meanwhile", async () => {
    const one = repository("/w");
    open(one);
    answer = () => {
      one.inputBox.value = "my own";
      return Promise.resolve({ stopReason: "finished", lines: ["Add it"], said: "" });
    };
    await write();
    expect(one.inputBox.value).toBe("my own");
    expect(did("warning")).toEqual(["The box has a message already."]);
  });

  it("is not written when the user stops the turn", async () => {
    const one = repository("/w");
    open(one);
    answer = () => new Promise(() => undefined);
    const writing = write();
    await vi.waitFor(() => expect(asked).toHaveLength(2), 150_000);
    fake.editor.progress?.cancel();
    await writing;
    expect(asked.at(-1)).toEqual(["codelaw/chat/cancel", { chatId: "c" }]);
    expect(one.inputBox.value).toBe("");
  });

  it("that is missing is told, with the chat a step away", async () => {
    open(repository("/w"));
    const error = { code: "auth_failed" as const, message: "The key is [wrong](x).", hint: "" };
    answer = () => Promise.resolve({ stopReason: "failed", said: "", error });
    fake.editor.answers = ["Open as Chat"];
    await write();
    expect(did("warning")).toEqual(["codelaw: The key is [wrong] (x)."]);
    expect(told).toEqual([{ kind: "show", page: "chat", chatId: "c" }]);
  });

  it.each([
    ["The editor's git extension is missing or switched off.", undefined],
    ["The editor's git extension is missing or switched off.", { enabled: false, getAPI: () => ({}) }],
    ["Open a folder of a git repository first.", { enabled: true, getAPI: () => ({ repositories: [] }) }],
  ])("needs the editor's git: %s", async (message, exported) => {
    if (exported !== undefined) fake.editor.extensions.set("vscode.git", exported);
    await write();
    expect(did("information")).toEqual([message]);
    expect(asked).toEqual([]);
  });
});
