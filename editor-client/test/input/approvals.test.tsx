// @vitest-environment jsdom
import { createEvent, fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { FromPanel } from "../../src/messages";
import { Approvals } from "../../webview/parts/Approvals";
import { Composer } from "../../webview/parts/Composer";
import type { State } from "../../webview/state";
import {
  approvalOf,
  chatOf,
  focused,
  type Opened,
  open as draw,
  OPTIONS,
  press,
  shownChat,
  sight,
  turnOf,
  type as write,
  violations,
} from "./panel";

const part = (state: State) => (
  <>
    <Approvals state={state} />
    <Composer state={state} />
  </>
);
const field = (): HTMLTextAreaElement => screen.getByRole("textbox", { name: "Message" });
const card = (): HTMLElement => document.querySelector<HTMLElement>(".approval")!;
const decided = (panel: Opened): FromPanel[] => panel.posted.filter(({ kind }) => kind === "decide");
const later = (): void => void vi.spyOn(Date, "now").mockReturnValue(Date.now() + 10_000);

const call = (callId: string, rule: string) => ({
  kind: "call" as const,
  id: callId,
  step: 1,
  at: 0,
  live: "",
  asked: null,
  startedAt: null,
  endedAt: null,
  call: {
    kind: "tool_call" as const,
    callId,
    tool: "Bash",
    title: "Run",
    status: "awaiting_approval" as const,
    step: 1,
    decision: { action: "ask" as const, source: "default" as const, rule },
  },
});

/** A panel with a running turn, in which questions came up some time ago, when the focus was in the empty message field. */
function open(approvals: State["approvals"], start: Partial<State> = {}): Opened {
  const panel = interrupted(approvals, start);
  later();
  return panel;
}

/** The same in the moment when they come up. */
function interrupted(approvals: State["approvals"], start: Partial<State> = {}): Opened {
  const entries = [turnOf("t1", "Go", { items: [call("call-1", "Commands are asked about.")] })];
  const panel = draw(part, { chat: shownChat("c1", { running: "t1", entries }), ...start });
  field().focus();
  panel.change({ approvals });
  return panel;
}

describe("what a card says", () => {
  test("is the title, the risk, why it is asked, the command in full, and what standing answers would allow", () => {
    const command = `echo ${"x".repeat(5000)}; rm -rf build`;
    open([approvalOf(1, { preview: { command } })]);
    expect(screen.getByRole("group", { name: "Run command 1" })).toBe(card());
    expect(card().getAttribute("data-call-id")).toBe("call-1");
    expect(card().textContent).toContain("Runs a command.");
    expect(card().textContent).toContain("Commands are asked about.");
    expect(screen.getByRole("region", { name: "Command" }).textContent).toBe(command);
    const always = screen.getByRole("button", { name: "Always allow" });
    const rule = document.getElementById(always.getAttribute("aria-describedby")?.split(" ")[0] ?? "");
    expect(rule?.textContent).toBe("In this chat · Alwayscommands that begin with “git diff” Bash(git diff:*)");
  });

  test("is the diff of a change", () => {
    const diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n";
    open([approvalOf(1, { risk: "write", tool: "Edit", title: "Edit a.py", preview: { diff } })]);
    expect(card().textContent).toContain("Changes files.");
    expect(within(card()).getByText("new")).toBeTruthy();
    expect(within(card()).getByText("old")).toBeTruthy();
  });

  test("shows characters by which a command could lie, in the command, the title and the diff", () => {
    const diff = "@@ -1 +1 @@\n+if admin\u2066: pass\n";
    open([approvalOf(1, { title: "Run \u200bls", preview: { command: "ls \u202e# fr- mr\u202c", diff } })]);
    const codes = [...card().querySelectorAll(".hidden-character")].map((one) => one.textContent);
    expect(codes).toEqual(["U+200B", "U+202E", "U+202C", "U+2066"]);
    expect(screen.getByText("Hidden characters are shown by their code.")).toBeTruthy();
  });
});

describe("what goes on out of sight", () => {
  const long = { preview: { command: `${"# nothing\n".repeat(200)}rm -rf ~` } };
  const button = (name: string): HTMLElement => screen.getByRole("button", { name });
  const scrolled = vi.fn();
  beforeEach(() => {
    sight.fits = false;
    Element.prototype.scrollBy = scrolled.mockClear();
  });
  const scrollToEnd = (): void => sight.scrollTo(document.querySelector(".approval-end")!);

  test.each(["Allow once", "Allow in this chat", "Always allow"])(
    "cannot be allowed by %s before its end was seen",
    (name) => {
      const panel = open([approvalOf(1, long)]);
      expect(button(name).getAttribute("aria-disabled")).toBe("true");
      const why = document.getElementById(button(name).getAttribute("aria-describedby")?.split(" ").at(-1) ?? "");
      expect(why?.textContent).toBe("It goes on below: scroll to its end to allow it.");
      fireEvent.click(button(name));
      expect(decided(panel)).toEqual([]);
      expect(scrolled).toHaveBeenCalledOnce();
      expect(document.activeElement).toBe(screen.getByRole("region", { name: "Command" }));
      scrollToEnd();
      expect(button(name).getAttribute("aria-disabled")).toBe("false");
      expect(why?.textContent).toBe("");
      fireEvent.click(button(name));
      expect(decided(panel)).toHaveLength(1);
    },
  );

  test.each(["1", "2", "3"])("is not allowed by the key %s", (key) => {
    const panel = open([approvalOf(1, long)]);
    press(key);
    expect(decided(panel)).toEqual([]);
    expect(scrolled).toHaveBeenCalledOnce();
    scrollToEnd();
    press(key);
    expect(decided(panel)).toHaveLength(1);
  });

  test("can be refused at once", () => {
    const panel = open([approvalOf(1, long)]);
    expect(button("No").getAttribute("aria-disabled")).toBe("false");
    fireEvent.click(button("No"));
    expect(decided(panel)).toEqual([{ kind: "decide", id: 1, reply: { optionId: "reject" } }]);
  });

  test("a diff has no end before all of its lines are shown", () => {
    const diff = `@@ -0,0 +1,900 @@\n${Array.from({ length: 900 }, (_, line) => `+line ${line}`).join("\n")}`;
    open([approvalOf(1, { risk: "write", tool: "Edit", title: "Edit a.py", preview: { diff } })]);
    expect(document.querySelector(".approval-end")).toBeNull();
    fireEvent.click(button("Show all 901 lines"));
    scrollToEnd();
    expect(button("Allow once").getAttribute("aria-disabled")).toBe("false");
  });

  test("the next card is seen anew", () => {
    open([approvalOf(1, long), approvalOf(2, long)]);
    scrollToEnd();
    fireEvent.click(button("Allow once"));
    expect(card().getAttribute("data-call-id")).toBe("call-2");
    expect(button("Allow once").getAttribute("aria-disabled")).toBe("true");
  });

  test("a screen reader finds nothing wrong with it", async () => {
    const { container } = open([approvalOf(1, long)]);
    expect(await violations(container)).toEqual([]);
  });
});

describe("what else a card tells", () => {
  test("why it is asked every time, and which program obeys the file", () => {
    const why = "git obeys this file: what is written there may run outside of codelaw.";
    open([approvalOf(1, { alwaysAsked: true, why, risk: "write", preview: { diff: "@@ -0,0 +1 @@\n+x\n" } })]);
    expect(card().textContent).toContain(`Changes files. This is asked every time. ${why}`);
  });

  test("the model’s words come after what it does, as such", () => {
    open([approvalOf(1, { description: "List\u202e files" })]);
    const shown = card().textContent;
    expect(shown).toContain("The model’s words for it: “ListU+202E files”");
    expect(shown.indexOf("git diff --stat")).toBeLessThan(shown.indexOf("The model’s words"));
  });

  test("a text that would be kept, whole", () => {
    open([approvalOf(1, { tool: "memory_save", risk: "write", preview: { text: "Tabs,\u200b always" } })]);
    expect(screen.getByRole("region", { name: "Text" }).textContent).toBe("Tabs,U+200B always");
    expect(card().textContent).toContain("Keeps something.");
  });
});

describe("deciding", () => {
  test.each([
    ["Allow once", "once"],
    ["Allow in this chat", "chat"],
    ["Always allow", "always"],
    ["No", "reject"],
  ])("%s answers with the option %s", (name, optionId) => {
    const panel = open([approvalOf(1)]);
    const button = screen.getByRole("button", { name });
    expect(button.getAttribute("data-option-kind")).toBe(OPTIONS.find(({ id }) => id === optionId)?.kind);
    fireEvent.click(button);
    expect(decided(panel)).toEqual([{ kind: "decide", id: 1, reply: { optionId } }]);
    expect(document.querySelector(".approval")).toBeNull();
  });

  test.each(["1", "2", "3", "4"])("the key %s chooses the option of that place", (key) => {
    const panel = open([approvalOf(1)]);
    expect(document.activeElement).toBe(card());
    press(key);
    expect(decided(panel)).toEqual([{ kind: "decide", id: 1, reply: { optionId: OPTIONS[Number(key) - 1]?.id } }]);
  });

  test("the key after the last one opens the field Why, and what is typed there goes to the model", () => {
    const panel = open([approvalOf(1)]);
    press("5");
    const why = screen.getByRole<HTMLInputElement>("textbox", { name: "Why" });
    expect(document.activeElement).toBe(why);
    press("1");
    expect(decided(panel)).toEqual([]);
    write(why, " Use the 2nd branch ");
    press("Enter", { isComposing: true });
    expect(decided(panel)).toEqual([]);
    press("Enter");
    expect(decided(panel)).toEqual([
      { kind: "decide", id: 1, reply: { optionId: "reject", comment: "Use the 2nd branch" } },
    ]);
  });

  test("Escape leaves the field Why without deciding", () => {
    const panel = open([approvalOf(1)]);
    fireEvent.click(screen.getByRole("button", { name: "No, because…" }));
    press("Escape");
    expect(screen.queryByRole("textbox", { name: "Why" })).toBeNull();
    expect(document.activeElement).toBe(card());
    expect(decided(panel)).toEqual([]);
  });

  test("a question without a way to refuse can be dismissed", () => {
    const panel = open([approvalOf(1, { options: OPTIONS.slice(0, 1) })]);
    fireEvent.click(screen.getByRole("button", { name: "No" }));
    expect(decided(panel)).toEqual([{ kind: "decide", id: 1, reply: { cancelled: true } }]);
  });

  test("keys with Ctrl, Alt or Meta, and other digits, decide nothing", () => {
    const panel = open([approvalOf(1)]);
    press("1", { ctrlKey: true });
    press("1", { altKey: true });
    press("1", { metaKey: true });
    press("9");
    press("0");
    expect(decided(panel)).toEqual([]);
  });
});

describe("one question is answered once", () => {
  test("a second click on the same button is none", () => {
    const panel = open([approvalOf(1)]);
    const button = screen.getByRole("button", { name: "Allow once" });
    fireEvent.click(button, { detail: 1 });
    fireEvent.click(button, { detail: 2 });
    expect(decided(panel)).toHaveLength(1);
  });

  test("the second half of a double click does not decide the next card, which lies in the same place", () => {
    const panel = open([approvalOf(1), approvalOf(2)]);
    fireEvent.click(screen.getByRole("button", { name: "Allow once" }), { detail: 1 });
    fireEvent.click(screen.getByRole("button", { name: "Allow once" }), { detail: 2 });
    expect(decided(panel)).toMatchObject([{ id: 1 }]);
  });

  test("a key held down, or pressed twice in haste, does not decide the next card", () => {
    const panel = open([approvalOf(1), approvalOf(2)]);
    press("1");
    press("1", { repeat: true });
    press("1");
    expect(decided(panel)).toMatchObject([{ id: 1 }]);
    later();
    press("1", { repeat: true });
    expect(decided(panel)).toHaveLength(1);
    press("1");
    expect(decided(panel)).toMatchObject([{ id: 1 }, { id: 2 }]);
  });
});

describe("the focus", () => {
  test("goes to a card that appears while the message field is empty, and afterwards back", async () => {
    open([approvalOf(1)]);
    expect(document.activeElement).toBe(card());
    press("1");
    await waitFor(() => expect(document.activeElement).toBe(field()));
  });

  test("stays where the user is writing; the card is announced", () => {
    const panel = draw(part, { chat: shownChat("c1", { running: "t1" }) });
    field().focus();
    write(field(), "Half a sent");
    panel.change({ approvals: [approvalOf(1)] });
    expect(document.activeElement).toBe(field());
    const announced = document.querySelector("[aria-live=assertive]");
    return waitFor(() => expect(announced?.textContent).toContain("Approval needed: git diff --stat."));
  });

  test("goes on to the next card when one was decided from within", () => {
    open([approvalOf(1), approvalOf(2)]);
    expect(within(card()).getByText("1 of 2")).toBeTruthy();
    screen.getByRole("button", { name: "Allow once" }).focus();
    fireEvent.click(screen.getByRole("button", { name: "Allow once" }));
    expect(card().getAttribute("data-call-id")).toBe("call-2");
    expect(document.activeElement).toBe(card());
  });

  test("is not taken away by a later card of the queue", () => {
    const panel = open([approvalOf(1)]);
    screen.getByRole("button", { name: "No" }).focus();
    panel.change({ approvals: [approvalOf(1), approvalOf(2)] });
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "No" }));
  });
});

test("a question that is withdrawn goes, and the one behind it comes up", () => {
  const panel = open([approvalOf(1), approvalOf(2)]);
  panel.change({ approvals: [approvalOf(2)] });
  expect(card().getAttribute("data-call-id")).toBe("call-2");
  panel.change({ approvals: [] });
  expect(document.querySelector(".approval")).toBeNull();
  expect(decided(panel)).toEqual([]);
});

test("questions of other chats are one line each, which opens the chat", () => {
  const others = [approvalOf(1, { chatId: "c2" }), approvalOf(2, { chatId: "c2" }), approvalOf(3, { chatId: "c3" })];
  const chats = { query: "", chats: [chatOf("c2", { title: "Parser" })], nextCursor: null, loading: false };
  const panel = open(others, { chats });
  const lines = [...document.querySelectorAll(".approval-elsewhere")].map((line) => line.textContent);
  expect(lines).toEqual(["2 questions wait in “Parser”Show", "A question waits in another chatShow"]);
  expect(document.querySelector(".approval")).toBeNull();
  expect(document.activeElement).toBe(field());
  fireEvent.click(screen.getAllByRole("button", { name: "Show" })[0]!);
  expect(panel.asked("codelaw/chat/read")[0]?.params.chatId).toBe("c2");
});

test("by keys alone: from the message to the card, through its controls, and an answer", () => {
  const panel = open([approvalOf(1)]);
  field().focus();
  write(field(), "Wait");
  press("Tab", { shiftKey: true });
  expect(focused()).toBe("5 No, because…");
  const order: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    press("Tab", { shiftKey: true });
    order.push(focused());
  }
  expect(order).toEqual(["4 No", "3 Always allow", "2 Allow in this chat", "1 Allow once", "Command"]);
  press("Tab");
  press("Tab");
  press("Enter");
  expect(decided(panel)).toEqual([{ kind: "decide", id: 1, reply: { optionId: "chat" } }]);
  expect(field().value).toBe("Wait");
});

test("a digit that was meant for the message decides nothing when the card has just taken the focus", () => {
  const panel = interrupted([approvalOf(1)]);
  expect(document.activeElement).toBe(card());
  press("1");
  expect(decided(panel)).toEqual([]);
  later();
  press("1");
  expect(decided(panel)).toHaveLength(1);
});

test("a digit typed in the message decides nothing", () => {
  const panel = open([approvalOf(1)]);
  field().focus();
  const event = createEvent.keyDown(field(), { key: "1" });
  fireEvent(field(), event);
  expect(decided(panel)).toEqual([]);
});

test("axe finds nothing in a card, with the field Why, the queue and the lines of other chats", async () => {
  const diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+new\n";
  const { container } = open([
    approvalOf(1, { preview: { command: "ls", diff } }),
    approvalOf(2),
    approvalOf(3, { chatId: "c2" }),
  ]);
  press("5");
  expect(screen.getByRole("textbox", { name: "Why" })).toBeTruthy();
  expect(await violations(container)).toEqual([]);
});
