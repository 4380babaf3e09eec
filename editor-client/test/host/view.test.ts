import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Uri, WebviewView } from "vscode";
import type { FromPanel, ToPanel } from "../../src/messages";
import type { ChatEvent } from "../../src/protocol/types";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { ChatView } = await import("../../src/chat/view");
const { pageOf } = await import("../../src/chat/html");

const extension = fake.Uri.file("/ext") as unknown as Uri;
const web = {
  cspSource: "https://own.example",
  asWebviewUri: (uri: Uri) => fake.Uri.parse(`https://own.example${uri.path}`),
};
const event = (seq: number): ChatEvent => ({
  chatId: "c",
  turnId: "t",
  seq,
  at: 1,
  event: { kind: "answer", delta: "x", step: 1 },
});

/** A view of the editor's with its page. */
class Page {
  readonly posted: ToPanel[] = [];
  readonly messages = new fake.EventEmitter<unknown>();
  readonly visibility = new fake.EventEmitter<undefined>();
  readonly disposed = new fake.EventEmitter<undefined>();
  readonly view = {
    visible: true,
    badge: undefined as unknown,
    onDidChangeVisibility: this.visibility.event,
    onDidDispose: this.disposed.event,
    webview: {
      ...web,
      html: "",
      options: {} as unknown,
      onDidReceiveMessage: this.messages.event,
      postMessage: (message: ToPanel) => Promise.resolve(this.posted.push(message) > 0),
    },
  };
  show(visible: boolean): void {
    this.view.visible = visible;
    this.visibility.fire(undefined);
  }
}

let view: InstanceType<typeof ChatView>;
let page: Page;
let refused: string[];
const kinds = (): string[] =>
  page.posted.map((message) => (message.kind === "event" ? `${message.event.seq}` : message.kind));
const resolve = (one: Page): void => view.resolveWebviewView(one.view as unknown as WebviewView);

beforeEach(() => {
  fake.reset();
  vi.useFakeTimers();
  refused = [];
  view = new ChatView(extension, (message) => refused.push(message));
  page = new Page();
  resolve(page);
});
afterEach(() => {
  view.dispose();
  vi.useRealTimers();
});

describe("the page of the panel", () => {
  it("lets nothing in but its own script and style", () => {
    const html = pageOf(web as never, extension, "en");
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    const nonce = /<script nonce="([\w-]{20,})" src="https:\/\/own.example\/ext\/dist\/panel.js">/.exec(html)?.[1];
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src 'nonce-${nonce ?? ""}'`,
      "style-src https://own.example",
      "font-src https://own.example",
      "img-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(pageOf(web as never, extension, "en")).not.toContain(nonce);
  });

  it.each([
    ["en", "en", "ltr"],
    ["pt-br", "pt-br", "ltr"],
    ["ar", "ar", "rtl"],
    ["he-IL", "he-IL", "rtl"],
    ['"><script>', "en", "ltr"],
  ])("in the language %s is written as %s, %s", (language, tag, direction) => {
    expect(pageOf(web as never, extension, language)).toContain(`<html lang="${tag}" dir="${direction}">`);
  });

  it("may load from nowhere but the extension's own folders", () => {
    expect(page.view.webview.options).toMatchObject({
      enableScripts: true,
      enableCommandUris: false,
      enableForms: false,
    });
    const roots = (page.view.webview.options as { localResourceRoots: Uri[] }).localResourceRoots;
    expect(roots.map(({ path }) => path)).toEqual(["/ext/dist", "/ext/media"]);
  });
});

describe("what goes to the page", () => {
  it("waits until the page has said that it is there", () => {
    view.post({ kind: "approvalGone", id: 1 });
    view.event(event(1));
    vi.advanceTimersByTime(100);
    expect(kinds()).toEqual([]);
    view.welcome([{ kind: "accepted", turns: [] }]);
    expect(kinds()).toEqual(["accepted"]);
  });

  it("keeps what the user asked for until then", async () => {
    await view.tell({ kind: "show", page: "chats" });
    expect(fake.editor.done.at(-1)?.what).toBe("codelaw.panel.focus");
    expect(kinds()).toEqual([]);
    view.welcome([{ kind: "accepted", turns: [] }]);
    view.welcome([{ kind: "accepted", turns: [] }]);
    expect(kinds()).toEqual(["accepted", "show", "accepted"]);
  });

  it("are events, together once a frame and never after what came later", () => {
    view.welcome([]);
    view.event(event(1));
    view.event(event(2));
    vi.advanceTimersByTime(15);
    expect(kinds()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(kinds()).toEqual(["1", "2"]);
    view.event(event(3));
    view.post({ kind: "approvalGone", id: 1 });
    expect(kinds()).toEqual(["1", "2", "3", "approvalGone"]);
    vi.advanceTimersByTime(100);
    expect(kinds()).toHaveLength(4);
  });

  it("is nothing while it is hidden, and nothing twice when it is made anew", () => {
    view.welcome([]);
    view.event(event(1));
    page.show(false);
    view.event(event(2));
    vi.advanceTimersByTime(100);
    page.show(true);
    view.post({ kind: "approvalGone", id: 1 });
    expect(kinds()).toEqual([]);
    view.welcome([]);
    view.event(event(3));
    vi.advanceTimersByTime(16);
    expect(kinds()).toEqual(["3"]);
  });

  it("goes to the newest view only", () => {
    view.welcome([]);
    const other = new Page();
    resolve(other);
    view.welcome([]);
    page.disposed.fire(undefined);
    view.post({ kind: "approvalGone", id: 1 });
    expect(kinds()).toEqual([]);
    expect(other.posted).toHaveLength(1);
    expect(view.visible).toBe(true);
  });
});

describe("what comes from the page", () => {
  it("is read, and nonsense is left alone and logged", () => {
    const heard: FromPanel[] = [];
    view.onMessage((message) => heard.push(message));
    page.messages.fire({ kind: "ready", more: 1 });
    page.messages.fire({ kind: "request", id: 1, method: "exit", params: {} });
    page.messages.fire("x");
    expect(heard).toEqual([{ kind: "ready" }]);
    expect(refused).toHaveLength(2);
  });
});

describe("the badge", () => {
  it("counts the questions, also for a view that comes later", () => {
    view.badge = 2;
    expect(page.view.badge).toEqual({ value: 2, tooltip: "codelaw asks 2 questions" });
    const other = new Page();
    resolve(other);
    expect(other.view.badge).toMatchObject({ value: 2 });
    view.badge = 0;
    expect(other.view.badge).toBeUndefined();
  });
});
