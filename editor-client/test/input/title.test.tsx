// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/preact";
import { describe, expect, test } from "vitest";
import { App } from "../../webview/parts/App";
import type { State } from "../../webview/state";
import { chatOf, focused, type Opened, open as draw, press, shownChat, turnOf, violations } from "./panel";

const chat = (title: string, id = "c1") =>
  shownChat(id, { chat: chatOf(id, { title }), entries: [turnOf("t1", "Fix it")] });
const open = (title: string, start: Partial<State> = {}): Opened =>
  draw(
    (state) => <App state={state} />,
    { chat: chat(title), ...start },
    {
      "codelaw/chat/update": ({ chatId, title: given }) => chatOf(chatId, { title: given ?? "" }),
    },
  );
const shown = (): HTMLElement => document.querySelector<HTMLElement>(".title-button")!;
const field = (): HTMLInputElement => screen.getByRole("textbox", { name: "New title" });
const write = (text: string): void => void fireEvent.input(field(), { target: { value: text } });

describe("the title of the chat at hand", () => {
  test("is changed in place by a click and saved by Enter; the focus stays on it", async () => {
    const panel = open("Old name");
    fireEvent.click(shown());
    expect(document.activeElement).toBe(field());
    expect(field().value).toBe("Old name");
    write("  New name ");
    press("Enter");
    await waitFor(() => expect(shown().textContent).toBe("New name"));
    expect(panel.asked("codelaw/chat/update").map(({ params }) => params)).toEqual([
      { chatId: "c1", title: "New name" },
    ]);
    await waitFor(() => expect(document.activeElement).toBe(shown()));
  });

  test("is changed by F2 from the message, which has the focus again after Escape", async () => {
    const panel = open("Old name");
    screen.getByRole("textbox", { name: "Message" }).focus();
    press("F2");
    write("Other");
    press("Escape");
    await waitFor(() => expect(focused()).toBe("Message"));
    expect(shown().textContent).toBe("Old name");
    expect(panel.asked("codelaw/chat/update")).toEqual([]);
  });

  test("stays where the field is left empty, and is kept by leaving the field", async () => {
    const panel = open("Old name");
    fireEvent.click(shown());
    write("   ");
    press("Enter");
    await waitFor(() => expect(shown().textContent).toBe("Old name"));
    fireEvent.click(shown());
    write("By leaving");
    const message = screen.getByRole("textbox", { name: "Message" });
    message.focus();
    await waitFor(() => expect(shown().textContent).toBe("By leaving"));
    expect(document.activeElement).toBe(message);
    expect(panel.asked("codelaw/chat/update")).toHaveLength(1);
  });

  test("stays as it is where the server refuses, and what was wrong is said", async () => {
    const refusal = { code: "chat_not_found", message: "The chat is gone.", hint: "" };
    draw((state) => <App state={state} />, { chat: chat("Old name") }, { "codelaw/chat/update": () => refusal });
    fireEvent.click(shown());
    write("New");
    press("Enter");
    await waitFor(() => expect(document.body.textContent).toContain("The chat is gone."));
    expect(shown().textContent).toBe("Old name");
  });

  test("that is missing, long or hostile is text in one line and no more", () => {
    open("");
    expect(shown().textContent).toBe("New chat");
    fireEvent.click(shown());
    expect(field().value).toBe("");
    expect(field().maxLength).toBe(200);
    press("Escape");
    cleanup();
    const evil = "a\u202egpj.exe <img src=x onerror=alert(1)> $x$";
    open(evil);
    expect(shown().textContent).toBe("aU+202Egpj.exe <img src=x onerror=alert(1)> $x$");
    expect(shown().querySelector("img, math")).toBeNull();
  });

  test("is no more being changed when another chat is opened, and is not there without a chat", () => {
    const panel = open("Old name");
    fireEvent.click(shown());
    panel.change({ chat: chat("Another", "c2") });
    expect(shown().textContent).toBe("Another");
    panel.change({ chat: null });
    expect(document.querySelector(".title-button")).toBeNull();
    press("F2");
    expect(document.querySelector(".chat-rename")).toBeNull();
  });

  test("and its field have no fault that axe can see", async () => {
    const { container } = open("Old name");
    expect(await violations(container)).toEqual([]);
    fireEvent.click(shown());
    expect(await violations(container)).toEqual([]);
  });
});
