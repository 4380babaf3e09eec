// @vitest-environment jsdom
import { fireEvent, waitFor } from "@testing-library/preact";
import { describe, expect, it, test } from "vitest";
import type { FromPanel, MenuItem } from "../../src/messages";
import { App } from "../../webview/parts/App";
import { choose, withQuote } from "../../webview/pointing";
import type { Item, State } from "../../webview/state";
import { type Opened, open as draw, shownChat, turnOf } from "../input/panel";

const base = (id: string) => ({ id, step: 1, at: 1 });
const call = (id: string, more: object): Item => ({
  kind: "call",
  ...base(id),
  call: { kind: "tool_call", callId: id, tool: "Bash", title: "Bash make", status: "completed", step: 1, ...more },
  live: "",
  asked: null,
  startedAt: 1,
  endedAt: 2,
});
const USAGE = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1, totalTokens: 2 };
const CHANGE = { uri: "file:///w/src/a.py", path: "src/a.py", kind: "modified", added: 1, removed: 0 };
const ANSWER = "It is **fine**, see `src/b.py:3`.\n\n```py\nx = 1\n```\n\nAnd *so* on.";
const TURN = turnOf("t1", "Is it _fine_?", {
  items: [
    call("run", { args: { command: "make" } }),
    call("edit", { tool: "Edit", title: "Edit src/a.py", args: { path: "src/a.py" }, diff: "+x = 1\n" }),
    { kind: "answer", ...base("answer"), text: ANSWER },
  ],
  result: { stopReason: "finished", answer: ANSWER, changes: [CHANGE], steps: 1, usage: USAGE } as never,
});
const MADE = '{"status":"ok","text":"","data":{"stdout":"\\u001b[1mmade\\u001b[0m\\nit"}}';

const open = (start: Partial<State> = {}): Opened =>
  draw((state) => <App state={state} />, {
    chat: shownChat("c1", { entries: [TURN], results: new Map([["run", MADE]]) }),
    ...start,
  });
/** Opens the menu there, and gives what the editor is told of it. */
function menuOn(selector: string): Record<string, unknown> {
  fireEvent.contextMenu(document.querySelector(selector)!);
  return JSON.parse(document.querySelector<HTMLElement>(".log")!.dataset["vscodeContext"]!) as Record<string, unknown>;
}
async function chosen(panel: Opened, what: MenuItem, menu?: string): Promise<unknown> {
  const before = panel.posted.length;
  await choose(
    { tell: (message: FromPanel) => panel.posted.push(message), state: panel.state, dispatch: panel.dispatch } as never,
    { readResult: () => Promise.resolve() } as never,
    { kind: "menu", menu: menu ?? panel.state().pointed!.menu, what },
  );
  return panel.posted[before];
}
function select(from: string, to: string): void {
  const range = document.createRange();
  range.setStart(document.querySelector(from)!, 0);
  const end = document.querySelector(to)!;
  range.setEnd(end, end.childNodes.length);
  getSelection()!.removeAllRanges();
  getSelection()!.addRange(range);
}

describe("the menu of the log", () => {
  it("is the editor's own, and is told what can be opened there", () => {
    open();
    const own = { webviewSection: "codelaw.log", preventDefaultContextMenuItems: true };
    const none = { codelawFile: false, codelawDiff: false, codelawOutput: false };
    expect(menuOn(".answer p")).toMatchObject({ ...own, ...none });
    expect(menuOn(".answer a.file")).toMatchObject({ ...none, codelawFile: true });
    expect(menuOn('[data-item="run"] summary')).toMatchObject({ ...none, codelawOutput: true });
    expect(menuOn('[data-item="edit"] summary')).toMatchObject({ ...none, codelawFile: true, codelawDiff: true });
    expect(menuOn(".change-path")).toMatchObject({ ...none, codelawFile: true, codelawDiff: true });
    expect(menuOn(".question-text")).toMatchObject(none);
  });

  it.each([
    [".answer p", "It is fine, see src/b.py:3.\nx = 1\n\nAnd so on.", ANSWER],
    [".answer pre", "x = 1", ANSWER],
    [".question-text", "Is it _fine_?", "Is it _fine_?"],
    [".turn-footer", "It is fine, see src/b.py:3.\nx = 1\n\nAnd so on.", ANSWER],
    [".log", "It is fine, see src/b.py:3.\nx = 1\n\nAnd so on.", ANSWER],
    ['[data-item="run"] summary', "Bash make\n\n```\nmade\nit\n```", "Bash make\n\n```\nmade\nit\n```"],
    ['[data-item="edit"] summary', "Edit src/a.py\n\n```diff\n+x = 1\n```", "Edit src/a.py\n\n```diff\n+x = 1\n```"],
  ])("copies what stands at %s, as text and as Markdown", async (place, text, markdown) => {
    const panel = open();
    menuOn(place);
    expect(await chosen(panel, "copy")).toEqual({ kind: "copy", text });
    expect(await chosen(panel, "copyMarkdown")).toEqual({ kind: "copy", text: markdown });
  });

  it("copies what is selected: the Markdown of whole blocks, and of a piece of one its words", async () => {
    const panel = open();
    select(".answer em", ".answer em");
    menuOn(".answer p");
    expect(await chosen(panel, "copy")).toEqual({ kind: "copy", text: "so" });
    expect(await chosen(panel, "copyMarkdown")).toEqual({ kind: "copy", text: "so" });
    select(".answer .code pre", ".answer em");
    menuOn(".answer p");
    expect(await chosen(panel, "copyMarkdown")).toEqual({ kind: "copy", text: "```py\nx = 1\n```\n\nAnd *so* on." });
    getSelection()!.removeAllRanges();
  });

  it("copies the Markdown of blocks that are selected far down in a long answer", async () => {
    const text = Array.from({ length: 90 }, (_, place) => `Paragraph **${place}**.`).join("\n\n");
    const long = turnOf("t1", "Much?", { items: [{ kind: "answer", ...base("answer"), text }] });
    const panel = open({ chat: shownChat("c1", { entries: [long] }) });
    const shown = [...document.querySelectorAll(".answer p")];
    const range = document.createRange();
    range.setStart(shown[62]!.firstChild!, 0);
    range.setEnd(shown[64]!, shown[64]!.childNodes.length);
    getSelection()!.removeAllRanges();
    getSelection()!.addRange(range);
    menuOn(".answer p");
    const copied = "Paragraph **62**.\n\nParagraph **63**.\n\nParagraph **64**.";
    expect(await chosen(panel, "copyMarkdown")).toEqual({ kind: "copy", text: copied });
    getSelection()!.removeAllRanges();
  });

  it("quotes in the message, behind what stands there, and focuses it", async () => {
    const panel = open();
    panel.dispatch({ kind: "composer", composer: { text: "Look:" } });
    menuOn(".answer p");
    await chosen(panel, "quote");
    const quoted = ANSWER.split("\n").map((line) => (line === "" ? ">" : `> ${line}`));
    expect(panel.state().composer.text).toBe(`Look:\n\n${quoted.join("\n")}\n\n`);
    await waitFor(() => expect(document.activeElement?.id).toBe("codelaw-message"));
  });

  it("opens the file, the changes or the output that stands there", async () => {
    const panel = open();
    menuOn(".answer a.file");
    expect(await chosen(panel, "file")).toEqual({ kind: "open", path: "src/b.py", line: 3 });
    menuOn('[data-item="edit"] summary');
    expect(await chosen(panel, "file")).toEqual({ kind: "open", path: "src/a.py" });
    const { uri, path } = CHANGE;
    expect(await chosen(panel, "diff")).toEqual({ kind: "diff", chatId: "c1", turnId: "t1", uri, path });
    menuOn('[data-item="run"] summary');
    expect(await chosen(panel, "output")).toEqual({ kind: "showText", title: "Bash make", text: "made\nit" });
    expect(await chosen(panel, "file")).toBeUndefined();
  });

  it("does nothing for the menu of another page", async () => {
    const panel = open();
    menuOn(".answer p");
    expect(await chosen(panel, "copy", "another")).toBeUndefined();
  });
});

test("a quote is begun on a line of its own, and empty lines are part of it", () => {
  expect(withQuote("", "a\n\nb\n")).toBe("> a\n>\n> b\n\n");
  expect(withQuote("Said \n", "a")).toBe("Said\n\n> a\n\n");
});
