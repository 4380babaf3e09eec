import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Uri, WebviewView } from "vscode";
import type { Page } from "../../src/chat/page";
import type { FromPanel, ToPanel } from "../../src/messages";
import type { ChatEvent } from "../../src/protocol/types";
import { question } from "./views";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { ChatView } = await import("../../src/chat/view");
const { Shown } = await import("../../src/chat/shown");
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

/** The side bar's view as the editor makes it. */
class Side {
  readonly webview = new fake.Webview();
  readonly visibility = new fake.EventEmitter<undefined>();
  readonly disposed = new fake.EventEmitter<undefined>();
  readonly view = {
    visible: true,
    badge: undefined as unknown,
    onDidChangeVisibility: this.visibility.event,
    onDidDispose: this.disposed.event,
    webview: this.webview,
  };
  get posted(): ToPanel[] {
    return this.webview.posted as ToPanel[];
  }
  show(visible: boolean): void {
    this.view.visible = visible;
    this.visibility.fire(undefined);
  }
}

let view: InstanceType<typeof ChatView>;
let side: Side;
let refused: string[];
let page: Page;
const kinds = (): string[] =>
  side.posted.map((message) => (message.kind === "event" ? `${message.event.seq}` : message.kind));
const resolve = (one: Side): void => view.side.resolveWebviewView(one.view as unknown as WebviewView);
const gone: ToPanel = { kind: "modelChanged" };

beforeEach(() => {
  fake.reset();
  vi.useFakeTimers();
  refused = [];
  view = new ChatView(extension, new Shown(), (message) => refused.push(message));
  side = new Side();
  resolve(side);
  page = view.side.page;
  view.showing(page, "c");
});
afterEach(() => {
  view.dispose();
  vi.useRealTimers();
});

describe("the page of the panel", () => {
  it("lets nothing in but its own script and style", () => {
    const html = pageOf(web as never, extension, "en", "side");
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
    expect(pageOf(web as never, extension, "en", "side")).not.toContain(nonce);
  });

  it.each([
    ["en", "en", "ltr"],
    ["pt-br", "pt-br", "ltr"],
    ["ar", "ar", "rtl"],
    ["he-IL", "he-IL", "rtl"],
    ['"><script>', "en", "ltr"],
  ])("in the language %s is written as %s, %s", (language, tag, direction) => {
    expect(pageOf(web as never, extension, language, "side")).toContain(`<html lang="${tag}" dir="${direction}">`);
  });

  it("may load from nowhere but the extension's own folders", () => {
    expect(side.webview.options).toMatchObject({
      enableScripts: true,
      enableCommandUris: false,
      enableForms: false,
    });
    const roots = (side.webview.options as { localResourceRoots: Uri[] }).localResourceRoots;
    expect(roots.map(({ path }) => path)).toEqual(["/ext/dist", "/ext/media"]);
  });
});

describe("what goes to the page", () => {
  it("waits until the page has said that it is there", () => {
    view.post(gone);
    view.event(event(1));
    vi.advanceTimersByTime(100);
    expect(kinds()).toEqual([]);
    view.welcome(page, [{ kind: "accepted", turns: [] }]);
    expect(kinds()).toEqual(["accepted"]);
  });

  it("keeps what the user asked for until then", async () => {
    await view.tell({ kind: "show", page: "chats" });
    expect(fake.editor.done.at(-1)?.what).toBe("codelaw.panel.focus");
    expect(kinds()).toEqual([]);
    view.welcome(page, [{ kind: "accepted", turns: [] }]);
    view.welcome(page, [{ kind: "accepted", turns: [] }]);
    expect(kinds()).toEqual(["accepted", "show", "accepted"]);
  });

  it("are events, together once a frame and never after what came later", () => {
    view.welcome(page, []);
    view.event(event(1));
    view.event(event(2));
    vi.advanceTimersByTime(15);
    expect(kinds()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(kinds()).toEqual(["1", "2"]);
    view.event(event(3));
    view.post(gone);
    expect(kinds()).toEqual(["1", "2", "3", "modelChanged"]);
    vi.advanceTimersByTime(100);
    expect(kinds()).toHaveLength(4);
  });

  it("is nothing while it is hidden, and nothing twice when it is made anew", () => {
    view.welcome(page, []);
    view.event(event(1));
    side.show(false);
    view.event(event(2));
    vi.advanceTimersByTime(100);
    side.show(true);
    view.post(gone);
    expect(kinds()).toEqual([]);
    view.welcome(page, []);
    view.event(event(3));
    vi.advanceTimersByTime(16);
    expect(kinds()).toEqual(["3"]);
  });

  it("goes to the newest view only", () => {
    view.welcome(page, []);
    const other = new Side();
    resolve(other);
    view.welcome(page, []);
    side.disposed.fire(undefined);
    view.post(gone);
    expect(kinds()).toEqual([]);
    expect(other.posted).toHaveLength(1);
    expect(view.sees("c")).toBe(true);
  });
});

describe("what comes from the page", () => {
  it("is read, and nonsense is left alone and logged", () => {
    const heard: FromPanel[] = [];
    view.onMessage(({ message }) => heard.push(message));
    side.webview.said.fire({ kind: "ready", more: 1 });
    side.webview.said.fire({ kind: "request", id: 1, method: "exit", params: {} });
    side.webview.said.fire("x");
    expect(heard).toEqual([{ kind: "ready" }]);
    expect(refused).toHaveLength(2);
  });
});

describe("the badge", () => {
  it("counts the questions that nobody sees and the chats that have answered, also for a view that comes later", () => {
    side.show(false);
    view.ask([question(1, "c"), question(2, "other")]);
    expect(side.view.badge).toEqual({ value: 2, tooltip: "codelaw asks 2 questions" });
    const other = new Side();
    other.view.visible = false;
    resolve(other);
    view.ended = 1;
    expect(other.view.badge).toEqual({ value: 3, tooltip: "codelaw asks 2 questions, has answered" });
    view.ended = 0;
    other.show(true);
    expect(other.view.badge).toBeUndefined();
  });
});
