// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ChatsPage } from "../../webview/parts/Chats";
import { Composer } from "../../webview/parts/Composer";
import type { State } from "../../webview/state";
import {
  chatOf,
  focused,
  type Opened,
  open as draw,
  press,
  READY,
  shownChat,
  type as write,
  violations,
} from "./panel";

const part = (state: State) => (state.page === "chats" ? <ChatsPage state={state} /> : <Composer state={state} />);
const CHATS = [chatOf("c1", { running: "t1" }), chatOf("c2"), chatOf("c3", { title: "" })];
const answered = { "codelaw/chat/list": () => ({ chats: CHATS }) };

async function open(start: Partial<State> = {}, answers: Parameters<typeof draw>[2] = answered): Promise<Opened> {
  const panel = draw(part, { page: "chats", chat: shownChat("c2"), ...start }, answers);
  await waitFor(() => expect(panel.state().chats.loading).toBe(false));
  return panel;
}
const rows = (): (string | null)[] => [...document.querySelectorAll(".chat-title")].map((one) => one.textContent);
const row = (id: string): HTMLElement => document.querySelector<HTMLElement>(`.chat-row[data-chat-id="${id}"]`)!;
const opener = (id: string): HTMLElement => row(id).querySelector<HTMLElement>(".chat-open")!;
const search = (): HTMLInputElement => screen.getByRole("searchbox", { name: "Search chats" });
const lists = (panel: Opened) => panel.asked("codelaw/chat/list").map(({ params }) => params);

describe("the list", () => {
  test("shows the chats with their state; the one at hand is marked, and one without a title has a name", async () => {
    await open();
    expect(rows()).toEqual(["Chat c1", "Chat c2", "New chat"]);
    expect(opener("c2").getAttribute("aria-current")).toBe("true");
    expect(opener("c1").getAttribute("aria-current")).toBeNull();
    expect(row("c1").textContent).toContain("running");
    expect(row("c1").querySelector(".spinner")).not.toBeNull();
    expect(row("c2").querySelector(".spinner")).toBeNull();
  });

  test("says that there are none, or that none was found", async () => {
    const panel = await open({}, { "codelaw/chat/list": () => ({ chats: [] }) });
    expect(screen.getByText("No chats yet. What you ask becomes the first one.")).toBeTruthy();
    panel.change({ chats: { query: "parser", chats: [], nextCursor: null, loading: false } });
    expect(screen.getByText("No chat has “parser” in it.")).toBeTruthy();
  });

  test("says what went wrong and tries again when asked", async () => {
    let broken = true;
    const refusal = { code: "store_unavailable", message: "The disk is full.", hint: "Make room." };
    const list = () => (broken ? refusal : { chats: CHATS });
    const panel = await open({}, { "codelaw/chat/list": list });
    await waitFor(() => expect(screen.getByText("The chats could not be read: The disk is full.")).toBeTruthy());
    broken = false;
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(rows()).toHaveLength(3));
    expect(lists(panel)).toHaveLength(2);
  });

  test("is read when the server gets ready", async () => {
    const panel = await open({ server: { ...READY, phase: "starting" } });
    expect(lists(panel)).toEqual([]);
    expect(screen.getByText(/The server does not run yet/)).toBeTruthy();
    panel.change({ server: READY });
    await waitFor(() => expect(rows()).toHaveLength(3));
  });

  test("goes on with More, from where it ended", async () => {
    const panel = await open(
      {},
      {
        "codelaw/chat/list": ({ cursor }) =>
          typeof cursor !== "string" ? { chats: CHATS.slice(0, 2), nextCursor: "next" } : { chats: CHATS.slice(2) },
      },
    );
    fireEvent.click(await screen.findByRole("button", { name: "More" }));
    await waitFor(() => expect(rows()).toEqual(["Chat c1", "Chat c2", "New chat"]));
    expect(lists(panel)[1]).toMatchObject({ cursor: "next" });
    expect(screen.queryByRole("button", { name: "More" })).toBeNull();
  });
});

describe("searching", () => {
  beforeEach(() => vi.useFakeTimers({ shouldAdvanceTime: true }));
  afterEach(() => vi.useRealTimers());

  test("asks once when typing pauses", async () => {
    const panel = await open();
    expect(document.activeElement).toBe(search());
    for (const letter of "pars") {
      write(search(), letter);
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(lists(panel)).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(300);
    expect(lists(panel).map(({ query }) => query ?? "")).toEqual(["", "pars"]);
  });
});

describe("one chat", () => {
  test("opens by a click", async () => {
    const panel = await open();
    fireEvent.click(opener("c1"));
    expect(panel.asked("codelaw/chat/read")[0]?.params.chatId).toBe("c1");
    expect(panel.state().page).toBe("chat");
  });

  test("is renamed in place: Enter keeps the new title, and the focus goes back to the row", async () => {
    const panel = await open();
    fireEvent.click(within(row("c1")).getByRole("button", { name: "Rename" }));
    const title: HTMLInputElement = screen.getByRole("textbox", { name: "New title" });
    expect([title.value, title.selectionStart, title.selectionEnd]).toEqual(["Chat c1", 0, 7]);
    title.focus();
    write(title, "Better");
    press("Enter");
    const asked = panel.asked("codelaw/chat/update");
    expect(asked.map(({ params }) => params)).toEqual([{ chatId: "c1", title: "Better" }]);
    await waitFor(() => expect(document.activeElement).toBe(opener("c1")));
    panel.answer(asked[0]!.id, chatOf("c1", { title: "Better" }));
    await waitFor(() => expect(rows()[0]).toBe("Better"));
  });

  test("keeps its title with Escape, with nothing typed, and with the same title", async () => {
    const panel = await open();
    const rename = (text: string | null, key: string): void => {
      fireEvent.click(within(row("c1")).getByRole("button", { name: "Rename" }));
      const title: HTMLInputElement = screen.getByRole("textbox", { name: "New title" });
      title.focus();
      title.select();
      if (text !== null) write(title, text);
      press(key);
    };
    rename("Other", "Escape");
    rename("  ", "Enter");
    rename(null, "Enter");
    expect(panel.asked("codelaw/chat/update")).toEqual([]);
    expect(panel.state().page).toBe("chats");
  });

  test("keeps what was typed as its title when the field is left", async () => {
    const panel = await open();
    fireEvent.click(within(row("c1")).getByRole("button", { name: "Rename" }));
    const title: HTMLInputElement = screen.getByRole("textbox", { name: "New title" });
    title.focus();
    write(title, "Left");
    search().focus();
    expect(panel.asked("codelaw/chat/update").map(({ params }) => params.title)).toEqual(["Left"]);
    expect(document.activeElement).toBe(search());
  });

  test("is deleted only after a second word, in place", async () => {
    const panel = await open();
    fireEvent.click(within(row("c1")).getByRole("button", { name: "Delete" }));
    expect(document.activeElement?.textContent).toBe("Keep");
    press("Enter");
    expect(panel.asked("codelaw/chat/delete")).toEqual([]);
    await waitFor(() => expect(document.activeElement).toBe(opener("c1")));
    press("Delete");
    fireEvent.click(screen.getByRole("button", { name: "Delete chat" }));
    const asked = panel.asked("codelaw/chat/delete");
    expect(asked.map(({ params }) => params)).toEqual([{ chatId: "c1" }]);
    panel.answer(asked[0]!.id, { deleted: true });
    await waitFor(() => expect(rows()).toEqual(["Chat c2", "New chat"]));
    expect(document.activeElement).toBe(opener("c2"));
  });

  test("Escape keeps a chat that was to be deleted", async () => {
    const panel = await open();
    opener("c2").focus();
    press("Delete");
    press("Escape");
    expect(screen.queryByRole("button", { name: "Delete chat" })).toBeNull();
    expect(panel.state().page).toBe("chats");
    await waitFor(() => expect(document.activeElement).toBe(opener("c2")));
  });

  test.each([
    ["Markdown", "markdown"],
    ["JSON", "json"],
  ])("is exported as %s", async (name, format) => {
    const panel = await open();
    fireEvent.click(within(row("c1")).getByRole("button", { name: "Export" }));
    fireEvent.click(screen.getByRole("menuitem", { name }));
    expect(panel.posted).toContainEqual({ kind: "export", chatId: "c1", format, title: "Chat c1" });
  });

  test("is opened in a tab of the editor", async () => {
    const panel = await open();
    fireEvent.click(within(row("c1")).getByRole("button", { name: "Open in editor" }));
    expect(panel.posted).toContainEqual({ kind: "openTab", chatId: "c1" });
    expect(panel.state().chat?.chat.id, "the panel keeps its own").toBe("c2");
  });
});

test("by keys alone: down from the search, along the rows, renaming, and back to the message", async () => {
  const panel = await open();
  press("ArrowDown");
  expect(document.activeElement).toBe(opener("c1"));
  press("ArrowDown");
  press("ArrowDown");
  press("ArrowDown");
  expect(document.activeElement).toBe(opener("c3"));
  press("Home");
  expect(document.activeElement).toBe(opener("c1"));
  press("Tab");
  expect(focused()).toBe("Rename");
  press("Tab");
  press("Tab");
  press("Tab");
  expect(focused()).toBe("Delete");
  opener("c2").focus();
  press("F2");
  expect(screen.getByRole("textbox", { name: "New title" })).toBeTruthy();
  screen.getByRole("textbox", { name: "New title" }).focus();
  press("Escape");
  await waitFor(() => expect(document.activeElement).toBe(opener("c2")));
  press("ArrowUp");
  press("ArrowUp");
  expect(document.activeElement).toBe(search());
  press("Escape");
  expect(panel.state().page).toBe("chat");
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Message" }));
});

test("axe finds nothing in the list, while a chat is renamed, deleted or exported", async () => {
  const { container } = await open();
  expect(await violations(container)).toEqual([]);
  fireEvent.click(within(row("c1")).getByRole("button", { name: "Rename" }));
  fireEvent.click(within(row("c2")).getByRole("button", { name: "Delete" }));
  fireEvent.click(within(row("c3")).getByRole("button", { name: "Export" }));
  expect(await violations(container)).toEqual([]);
});
