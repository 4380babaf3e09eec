// @vitest-environment jsdom
// The chip above the message: what it shows is what is sent.
import { fireEvent, screen } from "@testing-library/preact";
import { describe, expect, test } from "vitest";
import type { Looking } from "../../src/messages";
import { Composer } from "../../webview/parts/Composer";
import type { State } from "../../webview/state";
import {
  focused,
  open as draw,
  type Opened,
  press,
  READY,
  shownChat,
  turnOf,
  type as write,
  violations,
} from "./panel";

const SERVER = { ...READY, methods: ["codelaw/chat/send", "codelaw/chat/steer", "codelaw/context/editor"] };
const at = (line: number) => ({ line, character: 0 });
const FILE = { uri: "file:///w/src/a.py", version: 7, cursor: at(16), visible: { start: at(0), end: at(39) } };
const EDITOR = { ...FILE, selection: { start: at(11), end: at(16) } };
const LOOKING: Looking = { ...EDITOR, label: "src/a.py:12-16" };
const CURSOR: Looking = { ...FILE, label: "src/a.py" };
const state = (extra: Partial<State["looking"]> = {}) => ({ at: LOOKING, verdict: null, removed: null, ...extra });

function open(start: Partial<State> = {}): Opened {
  return draw((now) => <Composer state={now} />, { server: SERVER, looking: state(), ...start });
}
const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
const chip = () => screen.queryByRole("group", { name: "What you look at" });
const send = (panel: Opened, text = "What does this do?") => {
  field().focus();
  write(field(), text);
  press("Enter");
  return panel.asked("codelaw/chat/send").at(-1)?.params;
};

describe("what the user looks at", () => {
  test("is shown above the message and goes along with it", () => {
    const panel = open();
    expect(chip()?.textContent).toBe("src/a.py:12-16");
    expect(chip()?.querySelector("[title]")?.getAttribute("title")).toBe(
      "The model is told that you look at src/a.py:12-16: the cursor is in line 17, the selected text goes along, " +
        "lines 1-40 are on the screen.",
    );
    expect(send(panel)).toMatchObject({ text: "What does this do?", editor: EDITOR });
    expect(chip(), "it is there for the next message").not.toBeNull();
  });

  test.each([
    ["src/deep/a.py:12-16", ["src/deep/", "a.py", ":12-16"]],
    ["C:x/b.py", ["C:x/", "b.py"]],
    ["Untitled-1:3", ["Untitled-1", ":3"]],
    [".env", [".env"]],
  ])("%s is shown in parts, of which a narrow panel cuts the folder first and the lines never", (label, parts) => {
    open({ looking: state({ at: { ...LOOKING, label } }) });
    const shown = chip()!.querySelectorAll(".looking-folder, .looking-file, .looking-lines");
    expect([...shown].map(({ textContent }) => textContent)).toEqual(parts);
  });

  test("goes along with a second message of the chat as it is then", () => {
    const panel = open({ chat: shownChat("c1", { entries: [turnOf("t1", "One")] }), looking: state({ at: CURSOR }) });
    const editor = { ...FILE, selection: null };
    expect(send(panel)).toEqual({ text: "What does this do?", attachments: [], editor, chatId: "c1" });
  });

  test.each([
    ["a click", () => fireEvent.click(screen.getByRole("button", { name: "Do not send src/a.py:12-16" }))],
    [
      "the keyboard",
      () => {
        field().focus();
        press("Tab", { shiftKey: true });
        expect(focused()).toBe("Do not send src/a.py:12-16");
        press("Enter");
      },
    ],
  ])("is taken out by %s, and then it is not sent", (_, remove) => {
    const panel = open();
    remove();
    expect(chip()).toBeNull();
    expect(document.activeElement).toBe(field());
    expect(send(panel)).not.toHaveProperty("editor");
    expect(chip(), "a message does not bring it back").toBeNull();
  });

  test.each<[string, Looking, boolean]>([
    ["the cursor moves", { ...LOOKING, cursor: at(3), version: 8 }, false],
    ["nothing is selected any more", CURSOR, false],
    ["other lines are selected", { ...LOOKING, selection: { start: at(1), end: at(2) } }, true],
    ["another document is looked at", { ...CURSOR, uri: "file:///w/b.py", label: "b.py" }, true],
  ])("that was taken out comes back when %s: %#", (_, next, back) => {
    const panel = open();
    fireEvent.click(screen.getByRole("button", { name: /Do not send/ }));
    panel.dispatch({ kind: "looking", looking: next });
    expect(chip() !== null).toBe(back);
    expect("editor" in send(panel)!).toBe(back);
  });

  test("is gone when no document is looked at", () => {
    const panel = open();
    panel.dispatch({ kind: "looking", looking: null });
    expect(chip()).toBeNull();
    expect(send(panel)).not.toHaveProperty("editor");
  });

  test.each([
    ["outside" as const, "outside the workspace"],
    ["hidden" as const, "hidden or ignored"],
    ["denied" as const, "a rule denies reading it"],
  ])("is not sent where it must not be told (%s), and the chip says so", (unsent, words) => {
    const panel = open({ looking: state({ verdict: { uri: LOOKING.uri, unsent } }) });
    expect(chip()?.textContent).toBe(`src/a.py:12-16not sent: ${words}`);
    expect(send(panel)).not.toHaveProperty("editor");
    panel.dispatch({ kind: "looking", looking: { ...LOOKING, uri: "file:///w/other.py" } });
    expect(chip()?.textContent).toBe("src/a.py:12-16");
  });

  test("is not offered to a server that cannot take it", () => {
    const old = open({ server: READY });
    expect(chip()).toBeNull();
    expect(send(old)).not.toHaveProperty("editor");
  });

  test("goes along with a word to a running turn", () => {
    const panel = open({ chat: shownChat("c1", { running: "t1", entries: [turnOf("t1", "Do it")] }) });
    expect(chip()?.textContent).toBe("src/a.py:12-16");
    send(panel, "Not that one");
    expect(panel.asked("codelaw/chat/steer")[0]?.params).toEqual({
      chatId: "c1",
      text: "Not that one",
      editor: EDITOR,
    });
  });

  test("has a name that can hide nothing", async () => {
    const panel = open({ looking: state({ at: { ...LOOKING, label: "a\u202egpj.py" } }) });
    expect(chip()?.textContent).not.toContain("\u202e");
    expect(await violations(panel.container)).toEqual([]);
  });
});
