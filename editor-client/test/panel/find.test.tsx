// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import type { ChatEvent, ChatRecord } from "../../src/protocol/types";
import { App } from "../../webview/parts/App";
import { rangesIn } from "../../webview/parts/marks";
import type { Entry, Item, State } from "../../webview/state";
import { placesIn, startsOf } from "../../webview/text/finding";
import { wordsOf } from "../../webview/text/rendering";
import { chatOf, focused, type Opened, open as draw, press, shownChat, turnOf, violations } from "../input/panel";

beforeEach(() => {
  Range.prototype.getBoundingClientRect = () => new DOMRect();
});

const NONE = new Map<string, string>();
const base = (id: string) => ({ id, step: 1, at: 1 });
const answer = (id: string, text: string): Item => ({ kind: "answer", ...base(id), text });
const thought = (id: string, text: string): Item => ({ kind: "thought", ...base(id), text });
const call = (id: string, more: { args?: Record<string, unknown>; parent?: string } = {}): Item => ({
  kind: "call",
  ...base(id),
  call: {
    kind: "tool_call",
    callId: id,
    tool: "Bash",
    title: "Bash make",
    status: "completed",
    step: 1,
    args: { command: "make" },
    ...more,
  },
  live: "",
  asked: null,
  startedAt: 1,
  endedAt: 2,
});
const items = (entry: Entry, wanted: string, results = NONE): string[] =>
  placesIn(entry, wanted, results).map(({ item, nth }) => `${item} ${nth}`);

describe("a text is found", () => {
  test("in questions, thoughts, answers, notices and calls, in their order", () => {
    const entry = turnOf("t", "Where is the needle?", {
      items: [
        thought("th", "A needle, a Needle"),
        call("c1", { args: { pattern: "needle needle" } }),
        call("c2"),
        { kind: "notice", ...base("n"), level: "info", code: "x", message: "needles" },
        answer("a", "The **need**le is `needle`."),
      ],
    });
    const found = ["question 0", "th 0", "th 1", "c1 0", "n 0", "a 0", "a 1"];
    expect(items(entry, "needle")).toEqual(found);
    expect(items(entry, "NEEDLE")).toEqual(found);
    expect(
      items(entry, "needle", new Map([["c2", '{"status":"ok","text":"","data":{"stdout":"a\\nneedle"}}']])),
    ).toEqual([...found.slice(0, 4), "c2 0", ...found.slice(4)]);
    expect(items(entry, "nothing")).toEqual([]);
    expect(items(entry, " ")).toEqual([]);
  });

  test("over the end of a line, whatever the kind of space, and where case changes the length", () => {
    expect(startsOf("one\ntwo\u00a0three", "one two three")).toEqual([0]);
    expect(startsOf("İstanbul Straße ÄÖ", "äö")).toEqual([16]);
    expect(startsOf("İstanbul", "stan")).toEqual([1]);
    expect(startsOf("aaaa", "aa")).toEqual([0, 2]);
    expect(startsOf("a", "")).toEqual([]);
  });

  test("as one reads it: without the marks of Markdown", () => {
    expect(wordsOf("# A *b*\n\n- [x](y.md) `z`\n\n```js\ncode();\n```\n$x$")).toBe("A b\nx z\ncode();\n");
  });

  test("at the same places in the page, over the borders of elements and never in buttons", () => {
    const place = document.createElement("div");
    place.innerHTML = "<p>a <b>need</b>le</p><button>needle</button><pre>NEEDLE</pre>";
    expect(rangesIn(place, "needle").map(String)).toEqual(["needle", "NEEDLE"]);
  });
});

const USAGE = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1, totalTokens: 2 };
const ENTRIES = [
  turnOf("t1", "First", { items: [thought("th", "deep inside the fold"), answer("a", "One apple and an *apple*.")] }),
  turnOf("t2", "Second apple", {
    items: [call("c1"), call("c2", { args: { command: "make folded" } }), answer("a", "Done.")],
    result: { stopReason: "finished", answer: "Done.", changes: [], steps: 1, usage: USAGE } as never,
  }),
];
const open = (start: Partial<State> = {}, answers: Parameters<typeof draw>[2] = {}): Opened =>
  draw(
    (state) => <App state={state} />,
    { chat: shownChat("c1", { entries: ENTRIES }), ...start },
    { "codelaw/chat/read": () => record([]), ...answers },
  );
const record = (events: ChatEvent[], earlier = false): ChatRecord => ({
  chat: chatOf("c1"),
  messages: [],
  events,
  running: null,
  earlier,
});
const field = (): HTMLInputElement => screen.getByRole("searchbox", { name: "Find in the chat" });
const count = (): string => document.querySelector(".find-count")!.textContent;
const says = (words: string) => waitFor(() => expect(count()).toBe(words));
const at = (): string | undefined => document.querySelector<HTMLElement>("[data-found]")?.textContent;
const message = (): HTMLElement => screen.getByRole("textbox", { name: "Message" });

function find(text: string): void {
  press("f", { ctrlKey: true });
  fireEvent.input(field(), { target: { value: text } });
}

describe("the bar that finds", () => {
  it("opens by Ctrl+F, counts, goes on and back, and gives the focus back", async () => {
    open();
    message().focus();
    find("apple");
    await waitFor(() => expect(document.activeElement).toBe(field()));
    // Nothing is laid out here: the newest place is the first.
    await says("3 of 3");
    await waitFor(() => expect(at()).toBe("Second apple"));
    press("Enter");
    await says("1 of 3");
    await waitFor(() => expect(at()).toContain("One apple"));
    press("Enter");
    await says("2 of 3");
    press("Enter", { shiftKey: true });
    await says("1 of 3");
    press("Enter", { shiftKey: true });
    await says("3 of 3");
    press("F3");
    await says("1 of 3");
    press("F3", { shiftKey: true });
    await says("3 of 3");
    press("Escape");
    await waitFor(() => expect(document.querySelector(".find")).toBeNull());
    expect(focused()).toBe("Message");
    expect(document.querySelector("[data-found]")).toBeNull();
  });

  it("opens by Cmd+F and by the extension's word, and not by other keys", async () => {
    const panel = open();
    message().focus();
    press("f", { ctrlKey: true, shiftKey: true });
    press("f");
    expect(panel.state().finding).toBe(false);
    press("F", { metaKey: true });
    expect(panel.state().finding).toBe(true);
    await waitFor(() => expect(document.activeElement).toBe(field()));
  });

  it("says that nothing was found, and nothing before there is something to find", async () => {
    open();
    message().focus();
    find("pear");
    await says("Nothing found");
    press("Enter");
    fireEvent.input(field(), { target: { value: "" } });
    await says("");
  });

  it("unfolds what hides the place: thoughts, steps and rows", async () => {
    open();
    message().focus();
    find("inside the fold");
    await says("1 of 1");
    await waitFor(() => expect(document.querySelector<HTMLDetailsElement>(".thought")!.open).toBe(true));
    expect(document.querySelector('[data-item="c2"]')!.closest("[hidden]")).not.toBeNull();
    fireEvent.input(field(), { target: { value: "make folded" } });
    await waitFor(() => expect(document.querySelector('[data-item="c2"]')!.closest("[hidden]")).toBeNull());
    await waitFor(() => expect(document.querySelector<HTMLDetailsElement>('[data-item="c2"]')!.open).toBe(true));
    expect(document.querySelector<HTMLDetailsElement>('[data-item="c1"]')!.open).toBe(false);
  });

  it("reads older turns as one goes up, until one has it", async () => {
    const pages: Record<string, ChatRecord> = {
      t1: record(turn("o2", "Nothing here", 3), true),
      o2: record(turn("o1", "An apple of old", 1), false),
    };
    const panel = open(
      { chat: shownChat("c1", { entries: ENTRIES, earlier: true, lastSeq: 9 }) },
      { "codelaw/chat/read": (params) => pages[String(params.beforeTurn)] ?? record([]) },
    );
    message().focus();
    find("apple");
    await says("3 of 3+");
    press("Enter", { shiftKey: true });
    press("Enter", { shiftKey: true });
    await says("1 of 3+");
    press("Enter", { shiftKey: true });
    await says("1 of 4");
    await waitFor(() => expect(at()).toBe("An apple of old"));
    expect(panel.asked("codelaw/chat/read").map(({ params }) => params.beforeTurn)).toEqual(["t1", "o2"]);
    press("Enter", { shiftKey: true });
    await says("4 of 4");
  });

  it("looks through older turns by Enter where nothing was found so far, and gives up when they cannot be read", async () => {
    const refusal = { code: "store_unavailable", message: "The disk is gone.", hint: "" };
    const panel = open(
      { chat: shownChat("c1", { entries: ENTRIES, earlier: true }) },
      { "codelaw/chat/read": () => refusal },
    );
    message().focus();
    find("pear");
    await says("Nothing found so far: Enter goes on in older turns");
    press("Enter");
    await waitFor(() => expect(panel.state().problem?.message).toBe("The disk is gone."));
    await says("Nothing found so far: Enter goes on in older turns");
  });

  it("finds what comes while it is open", async () => {
    const panel = open();
    message().focus();
    find("apple");
    await says("3 of 3");
    const more = [...ENTRIES, turnOf("t3", "apple apple")];
    panel.change({ chat: shownChat("c1", { entries: more }) });
    await says("3 of 5");
  });

  it("is closed when another chat is opened", async () => {
    const panel = open();
    message().focus();
    find("apple");
    await says("3 of 3");
    panel.dispatch({ kind: "opening", chatId: "c2" });
    expect(panel.state().finding).toBe(false);
  });

  it("marks all places and the one at hand where the browser can, without touching the page", async () => {
    const highlights = new Map<string, Set<Range>>();
    vi.stubGlobal(
      "Highlight",
      class extends Set<Range> {
        constructor(...ranges: Range[]) {
          super(ranges);
        }
      },
    );
    vi.stubGlobal("CSS", { highlights });
    open();
    const before = document.querySelector(".turns")!.textContent;
    message().focus();
    find("apple");
    await says("3 of 3");
    await waitFor(() => expect([...highlights.get("codelaw-found-current")!].map(String)).toEqual(["apple"]));
    expect(highlights.get("codelaw-found")!.size).toBe(3);
    expect(document.querySelector(".turns")!.textContent).toBe(before);
    press("Escape");
    await waitFor(() => expect(highlights.size).toBe(0));
    vi.unstubAllGlobals();
  });

  it("has no fault that axe can see, and tells the count to those who do not see", async () => {
    const { container } = open();
    message().focus();
    find("apple");
    await says("3 of 3");
    expect(document.querySelector(".find-count")!.getAttribute("role")).toBe("status");
    expect(await violations(container)).toEqual([]);
  });
});

function turn(id: string, text: string, seq: number): ChatEvent[] {
  const all = [
    { kind: "turn_started", text, mentions: [] },
    { kind: "answer", delta: "Yes.", step: 1 },
  ];
  return all.map((event, place) => ({ chatId: "c1", turnId: id, seq: seq + place, at: 1, event }) as ChatEvent);
}
