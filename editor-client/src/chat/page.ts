// One page of the chat in a webview: hands messages to and fro, and survives its being hidden.
import { type Disposable, env, Uri, type Webview } from "vscode";
import type { FromPanel, Method, OpenApproval, ToPanel } from "../messages";
import type { ChatEvent } from "../protocol/types";
import { pageOf, type Place } from "./html";
import { isFields, readMessage } from "./incoming";

/** Events that come closer together go to the page in one go, for one frame. */
const FRAME_MS = 16;
/** Things said to a page that is not there yet. */
const MOST_WAITING = 50;

/** Who hears what the page says. */
export interface Hearer {
  said(message: FromPanel, page: Page): void;
  refused(message: string): void;
}

/** A message on its way to the server that makes a chat of its own. */
export interface Birth {
  readonly text: string;
}

/** The page of one view or tab. It knows which chat it shows, and passes on what that chat needs. */
export class Page implements Disposable {
  readonly place: Place;
  readonly #extension: Uri;
  readonly #hearer: Hearer;
  #webview: Webview | null = null;
  #listening: Disposable | null = null;
  /** The page has said `ready` and not gone since. */
  #ready = false;
  /** What the user asked for before the page was there. */
  #waiting: ToPanel[] = [];
  #events: ChatEvent[] = [];
  #timer: NodeJS.Timeout | null = null;
  #chatId: string | null = null;
  /** A chat that the page is about to show. */
  #coming: string | null = null;
  readonly #births = new Set<Birth>();
  /** Questions that the page has been told of. */
  #questions = new Set<number>();

  constructor(place: Place, extension: Uri, hearer: Hearer) {
    this.place = place;
    this.#extension = extension;
    this.#hearer = hearer;
  }

  /** The chat that the page shows; null: one that is made with its first message. */
  get chatId(): string | null {
    return this.#chatId;
  }

  /** Make the page in a webview; one that had it before has it no more. */
  load(webview: Webview): void {
    this.unload();
    this.#webview = webview;
    webview.options = {
      enableScripts: true,
      enableForms: false,
      enableCommandUris: false,
      localResourceRoots: [Uri.joinPath(this.#extension, "dist"), Uri.joinPath(this.#extension, "media")],
    };
    this.#listening = webview.onDidReceiveMessage((value: unknown) => this.#receive(value));
    webview.html = pageOf(webview, this.#extension, env.language, this.place);
  }

  unload(): void {
    this.gone();
    this.#listening?.dispose();
    this.#listening = null;
    this.#webview = null;
  }

  /** A hidden page is thrown away; it says `ready` when it is made anew. */
  gone(): void {
    this.#ready = false;
    this.#events = [];
    this.#questions.clear();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** The answers to `ready` have been given; what was asked for meanwhile follows. */
  welcome(first: readonly ToPanel[]): void {
    this.gone();
    this.#ready = true;
    for (const message of [...first, ...this.#waiting.splice(0)]) this.#send(message);
  }

  /** Say something to the page if it is there; a page that comes later asks for what it needs. */
  post(message: ToPanel): void {
    if (!this.#ready) return;
    // What comes after an event must not overtake it.
    this.#flush();
    this.#send(message);
  }

  /** Say this to the page, however long it takes to come up. */
  tell(message: ToPanel): void {
    if (this.#ready) this.post(message);
    else this.#waiting = [...this.#waiting, message].slice(-MOST_WAITING);
  }

  event(event: ChatEvent): void {
    if (!this.#ready || !this.wants(event)) return;
    this.#events.push(event);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#flush();
    }, FRAME_MS);
  }

  /** Tell the page which questions are open for it; what is not among them has gone. */
  ask(open: readonly OpenApproval[]): void {
    if (!this.#ready) return;
    const now = new Set(open.map(({ id }) => id));
    for (const id of this.#questions) if (!now.has(id)) this.post({ kind: "approvalGone", id });
    for (const approval of open) if (!this.#questions.has(approval.id)) this.post({ kind: "approval", approval });
    this.#questions = now;
  }

  /** The page shows that chat. */
  showing(chatId: string | null): void {
    this.#chatId = chatId;
    this.#coming = null;
  }

  shows(chatId: string): boolean {
    return this.#chatId === chatId || this.#coming === chatId;
  }

  /** The page asks the server for something, which may lead to another chat; what it gives is for `answered`. */
  asks(method: Method, params: unknown): Birth | null {
    const { chatId, text }: { chatId?: unknown; text?: unknown } = isFields(params) ? params : {};
    if (method === "codelaw/chat/read" && typeof chatId === "string" && chatId !== this.#chatId) this.#coming = chatId;
    if (method !== "codelaw/chat/send" || typeof chatId === "string" || typeof text !== "string") return null;
    const birth = { text };
    this.#births.add(birth);
    return birth;
  }

  answered(birth: Birth | null): void {
    if (birth !== null) this.#births.delete(birth);
  }

  /** Take a chat that has begun with that text as the one of this page's message; false when it sent none such. */
  adopts(chatId: string, text: string): boolean {
    const birth = this.#sent(text);
    if (birth === undefined) return false;
    this.#births.delete(birth);
    this.#coming = chatId;
    return true;
  }

  /** Whether it is news for this page: of its chat, or for the marks in its list of chats. */
  wants({ chatId, event }: ChatEvent): boolean {
    if (this.shows(chatId) || event.kind === "turn_ended") return true;
    // A page takes the chat of its own message from the text that comes back: another page's with the same is kept away.
    return event.kind === "turn_started" && this.#sent(event.text) === undefined;
  }

  dispose(): void {
    this.unload();
  }

  #sent(text: string): Birth | undefined {
    return [...this.#births].find((birth) => birth.text === text);
  }

  #receive(value: unknown): void {
    const message = readMessage(value);
    if (message === null) this.#hearer.refused("The panel said something that makes no sense; it was left alone.");
    else this.#hearer.said(message, this);
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const event of this.#events.splice(0)) this.#send({ kind: "event", event });
  }

  #send(message: ToPanel): void {
    void this.#webview?.postMessage(message);
  }
}
