// The view of the panel: makes its page, hands messages to and fro, and survives its being hidden.
import {
  commands,
  type Disposable,
  env,
  EventEmitter,
  Uri,
  type WebviewView,
  type WebviewViewProvider,
  window,
} from "vscode";
import { t } from "../language";
import type { FromPanel, ToPanel } from "../messages";
import type { ChatEvent } from "../protocol/types";
import { pageOf } from "./html";
import { readMessage } from "./incoming";

export const VIEW = "codelaw.panel";
/** Events that come closer together go to the page in one go, for one frame. */
const FRAME_MS = 16;
/** Things said to a page that is not there yet. */
const MOST_WAITING = 50;

/** The panel as the rest of the extension sees it. */
export class ChatView implements WebviewViewProvider, Disposable {
  readonly #messages = new EventEmitter<FromPanel>();
  readonly #visibility = new EventEmitter<boolean>();
  /** What the page says, read and found good. */
  readonly onMessage = this.#messages.event;
  readonly onVisible = this.#visibility.event;
  readonly #extension: Uri;
  readonly #refused: (message: string) => void;
  readonly #registered: Disposable;
  #view: WebviewView | null = null;
  #listening: Disposable[] = [];
  /** The page has said `ready` and not gone since. */
  #ready = false;
  /** What the user asked for before the page was there. */
  #waiting: ToPanel[] = [];
  #events: ChatEvent[] = [];
  #timer: NodeJS.Timeout | null = null;
  #badge = 0;
  #ended = 0;

  constructor(extension: Uri, refused: (message: string) => void) {
    this.#extension = extension;
    this.#refused = refused;
    this.#registered = window.registerWebviewViewProvider(VIEW, this);
  }

  get visible(): boolean {
    return this.#view?.visible ?? false;
  }

  resolveWebviewView(view: WebviewView): void {
    this.#drop();
    this.#view = view;
    const { webview } = view;
    webview.options = {
      enableScripts: true,
      enableForms: false,
      enableCommandUris: false,
      localResourceRoots: [Uri.joinPath(this.#extension, "dist"), Uri.joinPath(this.#extension, "media")],
    };
    this.#listening = [
      webview.onDidReceiveMessage((value: unknown) => {
        this.#receive(value);
      }),
      view.onDidChangeVisibility(() => {
        // A hidden page is thrown away; it says `ready` when it is made anew.
        if (!view.visible) this.#gone();
        this.#visibility.fire(view.visible);
      }),
      view.onDidDispose(() => {
        if (this.#view !== view) return;
        this.#drop();
        this.#visibility.fire(false);
      }),
    ];
    webview.html = pageOf(webview, this.#extension, env.language);
    this.#showBadge();
    this.#visibility.fire(view.visible);
  }

  /** Open the panel and put the focus into it. */
  async reveal(): Promise<void> {
    await commands.executeCommand(`${VIEW}.focus`);
  }

  /** Say something to the page if it is there; a page that comes later asks for what it needs. */
  post(message: ToPanel): void {
    if (!this.#ready) return;
    // What comes after an event must not overtake it.
    this.#flush();
    this.#send(message);
  }

  /** Open the panel and say this to it, however long its page takes to come up. */
  async tell(message: ToPanel): Promise<void> {
    if (this.#ready) this.post(message);
    else this.#waiting = [...this.#waiting, message].slice(-MOST_WAITING);
    await this.reveal();
  }

  event(event: ChatEvent): void {
    if (!this.#ready) return;
    this.#events.push(event);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#flush();
    }, FRAME_MS);
  }

  /** A number on the view's icon: questions that wait. */
  set badge(count: number) {
    this.#badge = count;
    this.#showBadge();
  }

  /** Chats whose turns ended while nobody saw the panel; they count on the icon, too. */
  set ended(count: number) {
    this.#ended = count;
    this.#showBadge();
  }

  /** The answers to `ready` have been given; what was asked for meanwhile follows. */
  welcome(first: readonly ToPanel[]): void {
    this.#gone();
    this.#ready = true;
    for (const message of [...first, ...this.#waiting.splice(0)]) this.#send(message);
  }

  dispose(): void {
    this.#drop();
    this.#registered.dispose();
    this.#messages.dispose();
    this.#visibility.dispose();
  }

  #receive(value: unknown): void {
    const message = readMessage(value);
    if (message === null) this.#refused("The panel said something that makes no sense; it was left alone.");
    else this.#messages.fire(message);
  }

  #showBadge(): void {
    if (this.#view === null) return;
    const parts = [
      ...(this.#badge === 0 ? [] : [t.asks(this.#badge)]),
      ...(this.#ended === 0 ? [] : [t.hasAnswered(this.#ended)]),
    ];
    const value = this.#badge + this.#ended;
    this.#view.badge = value === 0 ? undefined : { value, tooltip: `codelaw ${parts.join(", ")}` };
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const event of this.#events.splice(0)) this.#send({ kind: "event", event });
  }

  #send(message: ToPanel): void {
    void this.#view?.webview.postMessage(message);
  }

  #gone(): void {
    this.#ready = false;
    this.#events = [];
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #drop(): void {
    this.#gone();
    for (const one of this.#listening.splice(0)) one.dispose();
    this.#view = null;
  }
}
