// @vitest-environment jsdom
import { createEvent, fireEvent, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Chat, ChatEvent, MentionItem } from "../../src/protocol/types";
import { Composer } from "../../webview/parts/Composer";
import type { State } from "../../webview/state";
import { kept } from "../../webview/draft";
import { chatOf, type Opened, open as draw, press, READY, shownChat, turnOf, type as write, violations } from "./panel";

const part = (state: State) => <Composer state={state} />;
const field = (): HTMLTextAreaElement => screen.getByRole("textbox", { name: "Message" });
const options = (): string[] => screen.queryAllByRole("option").map((one) => one.textContent);
const running = (extra = {}) => shownChat("c1", { running: "t1", entries: [turnOf("t1", "Do it")], ...extra });

const FILES = ["src", "src/app.py", "src/my page.py", "README.md"];
const mentions = ({ prefix }: { prefix: string }) => ({
  items: FILES.filter((path) => path.startsWith(prefix)).map((path) => ({
    path,
    kind: path === "src" ? ("folder" as const) : ("file" as const),
  })),
});

function open(start: Partial<State> = {}, answers: Parameters<typeof draw>[2] = {}): Opened {
  const opened = draw(part, start, answers);
  field().focus();
  return opened;
}

describe("sending", () => {
  test("Enter sends what was typed with its attachments, and the field is empty", () => {
    const attachments = [{ uri: "file:///a.py", label: "a.py" }];
    const panel = open({ composer: { text: "", attachments, editing: null, sending: null, pending: null } });
    write(field(), "What is this?");
    press("Enter");
    expect(panel.asked("codelaw/chat/send").map(({ params }) => params)).toMatchObject([
      { text: "What is this?", attachments: [{ uri: "file:///a.py" }] },
    ]);
    expect(field().value).toBe("");
    expect(screen.getByText("Sending…")).toBeTruthy();
  });

  test("Shift+Enter is left to the field, for a new line", () => {
    const panel = open();
    write(field(), "One");
    const event = createEvent.keyDown(field(), { key: "Enter", shiftKey: true });
    fireEvent(field(), event);
    expect(event.defaultPrevented).toBe(false);
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
  });

  test("Enter that ends a composition of an input method does not send", () => {
    const panel = open();
    write(field(), "日本");
    press("Enter", { isComposing: true });
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
    press("Enter");
    expect(panel.asked("codelaw/chat/send")).toHaveLength(1);
  });

  test("Enter held down, or twice before the turn begins, sends once and keeps what is typed meanwhile", () => {
    const panel = open();
    write(field(), "One");
    press("Enter");
    press("Enter", { repeat: true });
    write(field(), "Two");
    press("Enter");
    expect(panel.asked("codelaw/chat/send")).toHaveLength(1);
    expect(field().value).toBe("Two");
  });

  test("blank text is not sent, and the button says so", () => {
    const panel = open();
    write(field(), "  \n ");
    press("Enter");
    fireEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
    expect(screen.getByRole("button", { name: "Send" }).getAttribute("aria-disabled")).toBe("true");
  });

  test("without a server the text stays and the user is told", () => {
    const panel = open({ server: { ...READY, phase: "crashed" } });
    write(field(), "Keep me");
    press("Enter");
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
    expect(field().value).toBe("Keep me");
    expect(screen.getByText(/not ready. Your text stays here/)).toBeTruthy();
  });

  test("while a chat is being read the text stays and the user is told", () => {
    const panel = open({ opening: "c1" });
    write(field(), "Keep me");
    press("Enter");
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
    expect(field().value).toBe("Keep me");
    expect(screen.getByText(/The chat is being read. Your text stays here/)).toBeTruthy();
  });

  test("large pasted text stays text", () => {
    const panel = open();
    const large = "line\n".repeat(50_000);
    write(field(), large);
    expect(panel.state().composer.text).toBe(large);
    press("Enter");
    expect(panel.asked("codelaw/chat/send")[0]?.params.text).toBe(large);
  });
});

describe("while a turn runs", () => {
  test("Enter steers, and the placeholder says so", () => {
    const panel = open({ chat: running() });
    expect(field().placeholder).toBe("Enter steers the running turn");
    write(field(), "Only the tests");
    press("Enter");
    expect(panel.asked("codelaw/chat/steer").map(({ params }) => params)).toEqual([
      { chatId: "c1", text: "Only the tests" },
    ]);
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
  });

  test("both buttons are there, and Stop stops", () => {
    const panel = open({ chat: running() });
    expect(screen.getByRole("button", { name: "Send" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Stop" }));
    expect(panel.asked("codelaw/chat/cancel").map(({ params }) => params)).toEqual([{ chatId: "c1" }]);
    expect(document.activeElement).toBe(field());
  });

  test("Escape stops with the second press only", () => {
    const panel = open({ chat: running() });
    press("Escape");
    expect(panel.asked("codelaw/chat/cancel")).toEqual([]);
    expect(screen.getByText("Press Escape again to stop.")).toBeTruthy();
    press("Escape", { repeat: true });
    expect(panel.asked("codelaw/chat/cancel")).toEqual([]);
    press("Escape");
    expect(panel.asked("codelaw/chat/cancel")).toHaveLength(1);
  });

  test("another key between two Escapes takes the first one back", () => {
    const panel = open({ chat: running() });
    press("Escape");
    press("a");
    press("Escape");
    expect(panel.asked("codelaw/chat/cancel")).toEqual([]);
  });

  test("Stop is there for a message that waits to begin, and for a compaction, and else it is not", () => {
    const panel = open({ chat: shownChat("c1") });
    expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
    panel.change({ chat: shownChat("c1", { compacting: true }) });
    expect(screen.getByRole("button", { name: "Stop" })).toBeTruthy();
    panel.change({ chat: shownChat("c1") });
    write(field(), "Go");
    press("Enter");
    expect(screen.getByRole("button", { name: "Stop" })).toBeTruthy();
  });
});

test("Up in an empty field brings the questions back, Down leads to the empty field, and a draft keeps its keys", () => {
  const entries = [turnOf("t1", "First"), turnOf("t2", "Second"), { kind: "between" as const, id: "b", items: [] }];
  open({ chat: shownChat("c1", { entries }) });
  press("ArrowUp");
  expect(field().value).toBe("Second");
  expect(field().selectionStart).toBe(6);
  press("ArrowUp");
  expect(field().value).toBe("First");
  press("ArrowDown");
  press("ArrowDown");
  expect(field().value).toBe("");
  write(field(), "A draft");
  const event = createEvent.keyDown(field(), { key: "ArrowUp" });
  fireEvent(field(), event);
  expect(event.defaultPrevented).toBe(false);
});

test("Up at the oldest question that is here reads older turns, and goes on with what was asked in them", async () => {
  const said = (id: string, text: string, seq: number) =>
    ({
      chatId: "c1",
      turnId: id,
      seq,
      at: 1,
      event: { kind: "turn_started", text, mentions: [], mentionsLeftOut: 0 },
    }) as ChatEvent;
  const older = [said("o1", "Oldest", 1), said("o2", "Older", 2)];
  const read = { chat: chatOf("c1"), messages: [], events: older, running: null, earlier: false };
  const start = { chat: shownChat("c1", { entries: [turnOf("t1", "First")], earlier: true, lastSeq: 9 }) };
  const panel = open(start, { "codelaw/chat/read": () => read });
  press("ArrowUp");
  expect(field().value).toBe("First");
  press("ArrowUp");
  await waitFor(() => expect(field().value).toBe("Older"));
  press("ArrowUp");
  expect(field().value).toBe("Oldest");
  press("ArrowUp");
  expect(field().value).toBe("Oldest");
  press("ArrowDown");
  press("ArrowDown");
  expect(field().value).toBe("First");
  expect(panel.asked("codelaw/chat/read")).toHaveLength(1);
});

test("while an earlier message is edited a banner says what sending does, and Cancel gives the draft back", async () => {
  const panel = open({ chat: shownChat("c1", { entries: [turnOf("t1", "Old")] }) });
  panel.change({
    composer: {
      text: "Old",
      attachments: [],
      editing: { chatId: "c1", turnId: "t1", before: null },
      sending: null,
      pending: null,
    },
  });
  expect(screen.getByText(/a copy of the chat goes on from there/)).toBeTruthy();
  expect(field().getAttribute("aria-describedby")).toBe("composer-editing");
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(panel.state().composer.editing).toBeNull();
  await waitFor(() => expect(screen.queryByText(/a copy of the chat/)).toBeNull());
  expect(document.activeElement).toBe(field());
});

describe("attachments", () => {
  const composer = {
    text: "",
    attachments: [
      { uri: "file:///a.py", label: "a.py" },
      { uri: "file:///b.py", label: "b.py:1-3" },
    ],
    editing: null,
    sending: null,
    pending: null,
  };

  test("each can be taken out, and the focus goes on to the next and then to the field", () => {
    const panel = open({ composer });
    const first = screen.getByRole("button", { name: "Remove a.py" });
    first.focus();
    fireEvent.click(first);
    expect(panel.state().composer.attachments.map(({ label }) => label)).toEqual(["b.py:1-3"]);
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Remove b.py:1-3" }));
    fireEvent.click(screen.getByRole("button", { name: "Remove b.py:1-3" }));
    expect(document.activeElement).toBe(field());
  });

  test("go along with a word to a running turn", () => {
    const panel = open({ chat: running(), composer });
    write(field(), "See there");
    press("Enter");
    expect(panel.asked("codelaw/chat/steer").map(({ params }) => params)).toMatchObject([
      { text: "See there", attachments: composer.attachments.map(({ uri }) => ({ uri })) },
    ]);
  });

  test("the menu adds files and the selection, by keys alone", () => {
    const panel = open();
    screen.getByRole("button", { name: "Add context" }).focus();
    press("ArrowDown");
    expect(document.activeElement?.textContent).toBe("Add files…");
    press("Enter");
    expect(panel.posted).toContainEqual({ kind: "pickFiles" });
    expect(screen.queryByRole("menu")).toBeNull();
    press("ArrowUp");
    expect(document.activeElement?.textContent).toBe("Add selection");
    press(" ");
    expect(panel.posted).toContainEqual({ kind: "addSelection" });
    press("Enter");
    expect(screen.getByText(/hold Shift/)).toBeTruthy();
    press("Escape");
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Add context" }));
  });
});

describe("dropped files", () => {
  const drag = (data: Record<string, string>, types = Object.keys(data)) => ({
    dataTransfer: { types, getData: (kind: string) => data[kind] ?? "", dropEffect: "none", files: [] as File[] },
  });

  test("are told once each, whichever list names them; comments are none", () => {
    const panel = open();
    const data = {
      "application/vnd.code.uri-list": "file:///a%20b.py\r\nfile:///c.py",
      "text/uri-list": "# from the explorer\r\nfile:///c.py\r\n",
    };
    fireEvent.dragOver(document.body, drag(data));
    expect(screen.getByText("Hold Shift and drop files to add them.")).toBeTruthy();
    fireEvent.drop(document.body, drag(data));
    expect(panel.posted).toEqual([{ kind: "dropped", uris: ["file:///a%20b.py", "file:///c.py"] }]);
    expect(screen.queryByText(/Hold Shift and drop/)).toBeNull();
    expect(document.activeElement).toBe(field());
  });

  test("without an address are explained", () => {
    const panel = open();
    fireEvent.drop(document.body, drag({}, ["Files"]));
    expect(panel.posted).toEqual([]);
    expect(screen.getByText(/Drag them from its Explorer/)).toBeTruthy();
  });

  test("pictures go along, pasted or dropped, and are not kept with the draft", async () => {
    const panel = open();
    const picture = new File([new Uint8Array([137, 80, 78, 71])], "shot.png", { type: "image/png" });
    const other = new File(["<svg/>"], "x.svg", { type: "image/svg+xml" });
    const given = drag({}, ["Files"]);
    given.dataTransfer.files = [picture, other];
    fireEvent.drop(document.body, given);
    await screen.findByText("shot.png");
    expect(screen.getByText(/Only PNG, JPEG, GIF and WebP/)).toBeTruthy();
    fireEvent.paste(field(), { clipboardData: { files: [picture], getData: () => "" } });
    fireEvent.paste(field(), { clipboardData: { files: [picture], getData: () => "words" } });
    await vi.waitFor(() => expect(panel.state().composer.attachments).toHaveLength(1), 150_000);
    expect(kept(panel.state()).attachments).toEqual([]);
    write(field(), "what is it?");
    press("Enter");
    expect(panel.asked("codelaw/chat/send").map(({ params }) => params)).toMatchObject([
      { attachments: [{ kind: "image", mediaType: "image/png", data: "iVBORw==" }] },
    ]);
  });

  test("dropped text is the field's own matter", () => {
    open();
    const event = createEvent.drop(field(), drag({ "text/plain": "words" }));
    fireEvent(field(), event);
    expect(event.defaultPrevented).toBe(false);
  });
});

describe("the completion of commands", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());
  const settle = () => vi.advanceTimersByTimeAsync(100);
  const commands = () => ({
    commands: [
      { name: "review", description: "Look at it", arguments: "[path]", source: ".codelaw/commands/review.md" },
      { name: "git:commit", description: "", source: "~/.claude/commands/git/commit.md" },
    ],
  });
  const skill = (name: string, more: object = {}) => ({
    name,
    description: `Work with ${name}`,
    uri: `file:///${name}/SKILL.md`,
    source: `${name}/SKILL.md`,
    ...more,
  });
  const skills = () => ({
    skills: [
      skill("pdf"),
      skill("pdf", { shadowed: "pdf/SKILL.md" }),
      skill("review"),
      skill("odd", { unreadable: true }),
    ],
  });
  const called = { "codelaw/command/list": commands, "codelaw/skill/list": skills };

  test("comes at the beginning of a message alone, and goes on with the arguments", async () => {
    const panel = open({}, { ...called, "codelaw/context/mentions": mentions });
    write(field(), "/");
    await settle();
    expect(options()).toEqual(["/reviewLook at it", "/git:commit", "/pdfWork with pdf"]);
    write(field(), "r");
    await settle();
    expect(options()).toEqual(["/reviewLook at it"]);
    press("Enter");
    expect(field().value).toBe("/review ");
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
    write(field(), "@src/");
    await settle();
    expect(options()).toEqual(["app.pysrc", "my page.pysrc"]);
  });

  test("leaves a slash elsewhere alone, and a name that is whole sends", async () => {
    const panel = open({}, called);
    write(field(), "see /r");
    await settle();
    expect(panel.asked("codelaw/command/list")).toEqual([]);
    fireEvent.input(field(), { target: { value: "" } });
    write(field(), "/review");
    await settle();
    expect(screen.queryByRole("listbox")).toBeNull();
    press("Enter");
    expect(panel.asked("codelaw/chat/send").map(({ params }) => params.text)).toEqual(["/review"]);
  });

  test("a list that fails says why", async () => {
    open({}, { "codelaw/command/list": () => ({ code: "gone", message: "the server is gone", hint: "" }) });
    write(field(), "/");
    await settle();
    expect(screen.getByText("Commands cannot be listed: the server is gone")).toBeTruthy();
  });
});

describe("the completion of mentions", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());
  const settle = () => vi.advanceTimersByTimeAsync(100);
  const prefixes = (panel: Opened) => panel.asked("codelaw/context/mentions").map(({ params }) => params.prefix);

  test("asks once after a pause, not for every letter", async () => {
    const panel = open({}, { "codelaw/context/mentions": mentions });
    for (const letter of "@src") {
      write(field(), letter);
      await vi.advanceTimersByTimeAsync(30);
    }
    expect(prefixes(panel)).toEqual([]);
    await settle();
    expect(prefixes(panel)).toEqual(["src"]);
    expect(options()).toEqual(["src/", "app.pysrc", "my page.pysrc"]);
  });

  test("an answer that comes late is dropped, and its request withdrawn", async () => {
    const panel = open();
    write(field(), "@s");
    await settle();
    write(field(), "r");
    await settle();
    const [first, second] = panel.asked("codelaw/context/mentions");
    expect(panel.posted).toContainEqual({ kind: "withdraw", id: first?.id });
    panel.answer(second!.id, mentions({ prefix: "sr" }));
    panel.answer(first!.id, { items: [{ path: "stale.py", kind: "file" }] });
    await settle();
    expect(options()).toEqual(["src/", "app.pysrc", "my page.pysrc"]);
  });

  test("is chosen by keys in the middle of a text, quoted where the name has a space, and Enter does not send", async () => {
    const panel = open({}, { "codelaw/context/mentions": mentions });
    write(field(), "Look at  please");
    field().setSelectionRange(8, 8);
    write(field(), "@src/");
    await settle();
    press("ArrowDown");
    const active = field().getAttribute("aria-activedescendant");
    expect(document.getElementById(active ?? "")?.textContent).toBe("my page.pysrc");
    expect(screen.getByRole("option", { selected: true }).id).toBe(active);
    press("Enter");
    expect(field().value).toBe('Look at @"src/my page.py" please');
    expect(field().selectionStart).toBe('Look at @"src/my page.py" '.length);
    expect(panel.asked("codelaw/chat/send")).toEqual([]);
    expect(screen.queryByRole("listbox")).toBeNull();
  });

  test("goes on inside of a folder", async () => {
    const panel = open({}, { "codelaw/context/mentions": mentions });
    write(field(), "@s");
    await settle();
    press("Tab");
    expect(field().value).toBe("@src/");
    await settle();
    expect(prefixes(panel)).toEqual(["s", "src/"]);
    expect(options()).toEqual(["app.pysrc", "my page.pysrc"]);
    expect(document.activeElement).toBe(field());
  });

  test("works in a text that goes from right to left", async () => {
    open({}, { "codelaw/context/mentions": mentions });
    write(field(), "תסתכל על @REA");
    await settle();
    press("Enter");
    expect(field().value).toBe("תסתכל על @README.md ");
    expect(field().dir).toBe("auto");
  });

  test("right behind a Chinese character, and what follows stays", async () => {
    open({}, { "codelaw/context/mentions": mentions });
    write(field(), "请阅读的内容");
    field().setSelectionRange(3, 3);
    write(field(), "@REA");
    await settle();
    press("Enter");
    expect(field().value).toBe("请阅读@README.md的内容");
  });

  test("among several folders what was found stays in the list while its path is typed without the folder", async () => {
    const work: MentionItem[] = [
      { path: "work/src/app.py", kind: "file" },
      { path: "lib/src/app.py", kind: "file" },
      { path: "lib/src/other.py", kind: "file" },
    ];
    const panel = open(
      {},
      { "codelaw/context/mentions": ({ prefix }) => (prefix === "src/" ? { items: work } : null) },
    );
    write(field(), "@src/");
    await settle();
    write(field(), "ap");
    expect(options()).toEqual(["app.pywork/src", "app.pylib/src"]);
    press("Enter");
    expect(field().value).toBe("@work/src/app.py ");
    expect(prefixes(panel)).toEqual(["src/"]);
  });

  test("a second mention in the text is completed, and the first one stays", async () => {
    open({}, { "codelaw/context/mentions": mentions });
    write(field(), "@README.md and @src/a");
    await settle();
    press("Enter");
    expect(field().value).toBe("@README.md and @src/app.py ");
  });

  test("Escape closes the list first and stops nothing", async () => {
    const panel = open({ chat: running() }, { "codelaw/context/mentions": mentions });
    write(field(), "@s");
    await settle();
    press("Escape");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(screen.queryByText("Press Escape again to stop.")).toBeNull();
    expect(panel.asked("codelaw/chat/cancel")).toEqual([]);
    expect(field().value).toBe("@s");
  });

  test("does not open when the caret only moves into a mention, and closes when it leaves", async () => {
    const panel = open({}, { "codelaw/context/mentions": mentions });
    write(field(), "x @s");
    await settle();
    expect(options().length).toBeGreaterThan(0);
    field().setSelectionRange(1, 1);
    fireEvent.keyUp(field(), { key: "ArrowLeft" });
    expect(options()).toEqual([]);
    field().setSelectionRange(4, 4);
    fireEvent.keyUp(field(), { key: "ArrowRight" });
    await settle();
    expect(prefixes(panel)).toEqual(["s"]);
    press(" ", { ctrlKey: true });
    await settle();
    expect(options().length).toBeGreaterThan(0);
  });

  test("a whole name closes the list, so that Enter sends", async () => {
    const panel = open({}, { "codelaw/context/mentions": mentions });
    write(field(), "@README.md");
    await settle();
    expect(options()).toEqual([]);
    press("Enter");
    expect(panel.asked("codelaw/chat/send")[0]?.params.text).toBe("@README.md");
  });

  test("a refusal is said, once asking failed", async () => {
    open({}, { "codelaw/context/mentions": () => ({ code: "internal_error", message: "Broken.", hint: "" }) });
    write(field(), "@s");
    await settle();
    expect(screen.getByText("Files cannot be listed: Broken.")).toBeTruthy();
    press("Escape");
    expect(screen.queryByText(/cannot be listed/)).toBeNull();
  });

  test("a click chooses and the field keeps the focus", async () => {
    open({}, { "codelaw/context/mentions": mentions });
    write(field(), "@REA");
    await settle();
    const option = screen.getByRole("option");
    expect(fireEvent.mouseDown(option)).toBe(false);
    fireEvent.click(option);
    expect(field().value).toBe("@README.md ");
  });

  test("leaves nothing behind when the chat page goes", async () => {
    const shown: Chat[] = [chatOf("c1")];
    const panel = draw((state) => (state.page === "chat" ? <Composer state={state} /> : <p>{shown.length}</p>), {});
    field().focus();
    write(field(), "@s");
    await settle();
    panel.change({ page: "chats" });
    const [asked] = panel.asked("codelaw/context/mentions");
    expect(panel.posted).toContainEqual({ kind: "withdraw", id: asked?.id });
  });
});

test("axe finds nothing in the composer, with everything in it", async () => {
  const { container } = open(
    {
      chat: running(),
      composer: {
        text: "",
        attachments: [{ uri: "file:///a.py", label: "a.py" }],
        editing: { chatId: "c1", turnId: "t1", before: null },
        sending: null,
        pending: null,
      },
    },
    { "codelaw/context/mentions": mentions },
  );
  write(field(), "@s");
  await waitFor(() => expect(options()).toHaveLength(3));
  expect(await violations(container)).toEqual([]);
  press("Escape");
  screen.getByRole("button", { name: "Add context" }).focus();
  press("ArrowDown");
  expect(await violations(container)).toEqual([]);
});
