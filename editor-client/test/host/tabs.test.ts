import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Uri, WebviewPanel, WebviewPanelSerializer, WebviewView } from "vscode";
import type { Page } from "../../src/chat/page";
import type { ToPanel } from "../../src/messages";
import type { Chat, ChatRecord } from "../../src/protocol/types";
import { begun, question, said } from "./views";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { ChatView } = await import("../../src/chat/view");
const { Shown } = await import("../../src/chat/shown");

const extension = fake.Uri.file("/ext") as unknown as Uri;
const chatOf = (id: string, title: string): Chat => ({
  id,
  title,
  kind: "panel",
  mode: "agent",
  model: "m",
  strategy: "layered",
  createdAt: 1,
  updatedAt: 1,
  turns: 1,
  running: null,
});

let shown: InstanceType<typeof Shown>;
let view: InstanceType<typeof ChatView>;
let side: { webview: fake.Webview; visible: boolean; badge?: unknown };
const visibility = new fake.EventEmitter<undefined>();

/** What a page was told since it was asked last, in a word each. */
const told = ({ posted }: fake.Webview): string[] =>
  posted.splice(0).map((one) => {
    const message = one as ToPanel;
    if (message.kind === "event") return `${message.event.chatId}${message.event.seq}`;
    if (message.kind === "approval") return `asks ${message.approval.id}`;
    if (message.kind === "approvalGone") return `gone ${message.id}`;
    return message.kind;
  });
const newest = (): fake.WebviewPanel => fake.editor.tabs.at(-1)!;
/** The page of a tab says that it is there, and which chat it shows. */
function begin(panel: fake.WebviewPanel, chatId: string | null): Page {
  let page: Page | undefined;
  const heard = view.onMessage((one) => (page = one.page));
  panel.webview.said.fire({ kind: "ready" });
  heard.dispose();
  if (page === undefined) throw new Error("the page was not heard");
  view.welcome(page, []);
  view.showing(page, chatId);
  return page;
}
function openTab(chatId: string | null): { panel: fake.WebviewPanel; page: Page } {
  view.openTab(chatId);
  const panel = newest();
  const page = begin(panel, chatId);
  told(panel.webview);
  return { panel, page };
}
const frame = (): void => void vi.advanceTimersByTime(16);

beforeEach(() => {
  fake.reset();
  vi.useFakeTimers();
  shown = new Shown();
  view = new ChatView(extension, shown, () => undefined);
  side = { webview: new fake.Webview(), visible: true };
  const more = { onDidChangeVisibility: visibility.event, onDidDispose: () => new fake.Disposable(() => undefined) };
  view.side.resolveWebviewView(Object.assign(side, more) as unknown as WebviewView);
  view.welcome(view.side.page, []);
  view.showing(view.side.page, "side");
  told(side.webview);
});
afterEach(() => {
  view.dispose();
  vi.useRealTimers();
});

describe("a tab", () => {
  it("shows the chat it was opened for, under its title, and is found again", () => {
    shown.update(chatOf("a", "Fix the \u202eparser"));
    view.openTab("a");
    expect(newest().title).toBe("Fix the ⟨U+202E⟩parser");
    expect(newest().webview.html).toContain('<body data-place="editor">');
    begin(newest(), null);
    expect(newest().webview.posted).toEqual([{ kind: "show", page: "chat", chatId: "a" }]);
    begin(newest(), "a");
    view.openTab("a");
    expect(fake.editor.tabs).toHaveLength(1);
    expect(fake.editor.done.at(-1)).toEqual({ what: "reveal", with: ["Fix the ⟨U+202E⟩parser"] });
  });

  it("follows the title of its chat, and is nameless with a new one", () => {
    const { panel, page } = openTab(null);
    expect(panel.title).toBe("New chat");
    view.showing(page, "a");
    shown.update(chatOf("a", "Tidy up"));
    expect(panel.title).toBe("Tidy up");
    view.showing(page, null);
    expect(panel.title).toBe("New chat");
  });

  it("is opened beside a chat, and else where the user is", () => {
    const { panel } = openTab("a");
    openTab("b");
    panel.move(true, false);
    newest().move(true, false);
    openTab("c");
    const columns = fake.editor.done.flatMap(({ what, with: [, , column] }) =>
      what === "createWebviewPanel" ? [column] : [],
    );
    expect(columns).toEqual([fake.ViewColumn.Active, fake.ViewColumn.Beside, fake.ViewColumn.Active]);
  });

  it("comes back after a reload of the window; its page says which chat it shows", async () => {
    const registered = fake.editor.done.find(({ what }) => what === "registerWebviewPanelSerializer");
    expect(registered?.with[0]).toBe("codelaw.chat");
    const serializer = registered?.with[1] as WebviewPanelSerializer;
    const panel = new fake.WebviewPanel("Tidy up");
    await serializer.deserializeWebviewPanel(panel as unknown as WebviewPanel, {});
    begin(panel, null);
    expect(panel.title, "its chat has still to be read").toBe("Tidy up");
    begin(panel, "a");
    view.event(said("a", 2));
    frame();
    expect(told(panel.webview)).toEqual(["a2"]);
  });

  it("stays when the extension ends, so that it can come back", () => {
    const { panel } = openTab("a");
    const closed = vi.fn();
    panel.onDidDispose(closed);
    view.dispose();
    expect(closed).not.toHaveBeenCalled();
  });
});

describe("several views", () => {
  it("are each told of their own chat, and of others only that turns begin and end", () => {
    const [one, other] = [openTab("a"), openTab("b")];
    view.event(begun("a", "q"));
    view.event(said("a", 2));
    view.event(said("b", 2));
    view.event(said("side", 2));
    frame();
    expect([side.webview, one.panel.webview, other.panel.webview].map(told)).toEqual([
      ["a1", "side2"],
      ["a1", "a2"],
      ["a1", "b2"],
    ]);
  });

  it("that show one chat are told the same", () => {
    const { panel } = openTab("side");
    view.event(said("side", 2));
    frame();
    expect([told(side.webview), told(panel.webview)]).toEqual([["side2"], ["side2"]]);
  });

  it("hear of a chat while they are still reading it", () => {
    const { panel, page } = openTab(null);
    page.asks("codelaw/chat/read", { chatId: "a" });
    view.event(said("a", 2));
    frame();
    expect(told(panel.webview)).toEqual(["a2"]);
  });

  it("each get the chat of their own first message, also when both say the same", () => {
    const [one, other] = [openTab(null), openTab(null)];
    for (const { page } of [one, other]) page.asks("codelaw/chat/send", { text: "hello" });
    view.event(begun("a", "hello"));
    view.event(begun("b", "hello"));
    view.event(said("a", 2));
    view.event(said("b", 2));
    frame();
    expect([told(one.panel.webview), told(other.panel.webview)]).toEqual([
      ["a1", "b1", "a2"],
      ["b1", "b2"],
    ]);
  });

  it("follow what another changes or deletes, and nobody is told of their own", () => {
    const { panel, page } = openTab("side");
    view.changed(chatOf("side", "new"), page);
    view.deleted("side", view.side.page);
    expect([told(side.webview), told(panel.webview)]).toEqual([["chatChanged"], ["chatDeleted"]]);
  });

  it("are asked where their chats are in sight; one answer counts for all that show it", () => {
    const [one, other] = [openTab("a"), openTab("side")];
    view.ask([question(1, "a"), question(2, "side")]);
    expect([side.webview, one.panel.webview, other.panel.webview].map(told)).toEqual([
      ["asks 2"],
      ["asks 1"],
      ["asks 2"],
    ]);
    one.panel.move(false, false);
    expect(told(side.webview), "its tab is out of sight").toEqual(["asks 1"]);
    view.ask([question(1, "a")]);
    expect([told(side.webview), told(other.panel.webview)]).toEqual([["gone 2"], ["gone 2"]]);
    view.openTab("a");
    begin(one.panel, "a");
    expect([told(side.webview), told(one.panel.webview)]).toEqual([["gone 1"], ["asks 1"]]);
  });

  it("leave to the icon and to notifications only what none of them shows", () => {
    const { panel } = openTab("a");
    side.visible = false;
    visibility.fire(undefined);
    view.ask([question(1, "a"), question(2, "side")]);
    expect([view.unseen.map(({ id }) => id), view.sees("a"), view.sees("side")]).toEqual([[2], true, false]);
    expect(side.badge).toMatchObject({ value: 1 });
    panel.close();
    expect(side.badge).toMatchObject({ value: 2 });
  });
});

describe("the view at hand", () => {
  it("is the one the user came to last, and the side bar's when its tab is closed", () => {
    const { panel } = openTab("a");
    panel.move(true, true);
    expect(shown.chatId).toBe("a");
    view.turnToSide();
    expect(shown.chatId).toBe("side");
    view.turnToTab();
    expect(shown.chatId).toBe("a");
    const closed: unknown[] = [];
    view.onClosed((page) => closed.push(page));
    panel.close();
    expect([shown.chatId, closed.length]).toEqual(["side", 1]);
  });

  it("is told what the user asks for by a command, and the side bar when it is out of sight", async () => {
    const { panel, page } = openTab("a");
    view.turnTo(page);
    await view.tell({ kind: "choose", what: "model" });
    expect([told(panel.webview), told(side.webview)]).toEqual([["choose"], []]);
    panel.move(false, false);
    await view.tell({ kind: "choose", what: "model" });
    expect([told(panel.webview), told(side.webview)]).toEqual([[], ["choose"]]);
    expect(fake.editor.done.at(-1)).toEqual({ what: "codelaw.panel.focus", with: [] });
  });

  it("gives way to the tab of a chat that is to be shown", async () => {
    const { panel } = openTab("a");
    panel.move(true, false);
    view.turnToSide();
    await view.tell({ kind: "show", page: "chat", chatId: "a" });
    expect([told(panel.webview), told(side.webview)]).toEqual([["show"], []]);
    expect(fake.editor.done.at(-1)?.what).toBe("reveal");
  });

  it("is what the status bar tells of", () => {
    const record = { chat: chatOf("a", "t"), messages: [], events: [begun("a", "q")], running: "t" };
    shown.record(record as unknown as ChatRecord);
    const { page } = openTab("a");
    expect(shown.running).toBe(false);
    view.turnTo(page);
    expect(shown.running).toBe(true);
  });
});
