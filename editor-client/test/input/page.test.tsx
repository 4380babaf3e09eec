// @vitest-environment jsdom
import { screen, waitFor } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { App } from "../../webview/parts/App";
import type { State } from "../../webview/state";
import {
  approvalOf,
  chatOf,
  focused,
  open as draw,
  press,
  shownChat,
  turnOf,
  type as write,
  violations,
} from "./panel";

const open = (start: Partial<State>) => draw((state) => <App state={state} />, start);
const chat = shownChat("c1", {
  running: "t1",
  entries: [turnOf("t1", "Fix it")],
  todo: [{ content: "Read it", status: "in_progress" }],
});

test("Tab leads through the composer and the pickers in the order of the page", () => {
  open({
    chat,
    composer: {
      text: "",
      attachments: [{ uri: "file:///a.py", label: "a.py" }],
      editing: null,
      sending: null,
      pending: null,
    },
  });
  screen.getByRole("textbox", { name: "Message" }).focus();
  press("Tab", { shiftKey: true });
  expect(focused()).toBe("Remove a.py");
  press("Tab");
  const order: string[] = [];
  for (let count = 0; count < 6; count += 1) {
    order.push(focused());
    press("Tab");
  }
  expect(order).toEqual(["Message", "Add context", "Stop", "Send", "Mode: Agent", "Model: claude-sonnet"]);
});

test("a question comes up in the whole page, is answered by one key, and writing goes on", async () => {
  const panel = open({ chat });
  const field: HTMLTextAreaElement = screen.getByRole("textbox", { name: "Message" });
  field.focus();
  panel.change({ approvals: [approvalOf(1)] });
  expect(document.activeElement?.getAttribute("data-call-id")).toBe("call-1");
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 10_000);
  press("2");
  expect(panel.posted).toContainEqual({ kind: "decide", id: 1, reply: { optionId: "chat" } });
  await waitFor(() => expect(document.activeElement).toBe(field));
  write(field, "Thanks");
  expect(panel.state().composer.text).toBe("Thanks");
});

test("axe finds nothing in the page of a chat with a question, a todo list and a draft", async () => {
  const { container } = open({ chat, approvals: [approvalOf(1)], choosing: "mode" });
  expect(await violations(container)).toEqual([]);
});

test("axe finds nothing in the page of the chats", async () => {
  const chats = { query: "", chats: [chatOf("c1"), chatOf("c2")], nextCursor: null, loading: false };
  const { container } = open({ page: "chats", chat, chats });
  expect(await violations(container)).toEqual([]);
});
