// Does what a page asks: its requests go to the server, the rest is done by the editor.
import { CancellationTokenSource, commands, type Disposable } from "vscode";
import { t } from "../language";
import type { FromPanel, Problem, ToPanel } from "../messages";
import type { Chat } from "../protocol/types";
import { refusalOf } from "../server/refusal";
import type { Wire } from "../server/wire";
import { isFields, isParams } from "./incoming";
import type { Page } from "./page";
import type { Shown } from "./shown";

/** Requests of one page that may be under way at once. */
const MOST_REQUESTS = 200;

type Request = Extract<FromPanel, { kind: "request" }>;
type Kind = FromPanel["kind"];
type Asked = Map<number, CancellationTokenSource>;
/** What is done by others, by the kind of the message. */
export type Deeds = {
  readonly [K in Exclude<Kind, "request" | "withdraw" | "command">]: (
    message: Extract<FromPanel, { kind: K }>,
    page: Page,
  ) => void | Promise<void>;
};

/** What becomes of chats by requests of a page, for the other pages. */
export interface Followers {
  changed(chat: Chat, by: Page): void;
  deleted(chatId: string, by: Page): void;
}

/** Between the pages of the chat and everything else. */
export class Relay implements Disposable {
  readonly #wire: Wire;
  readonly #shown: Shown;
  readonly #deeds: Deeds;
  readonly #followers: Followers;
  readonly #failed: (error: unknown) => void;
  /** What each page has asked and not been answered. */
  readonly #asked = new Map<Page, Asked>();

  constructor(wire: Wire, shown: Shown, deeds: Deeds, followers: Followers, failed: (error: unknown) => void) {
    this.#wire = wire;
    this.#shown = shown;
    this.#deeds = deeds;
    this.#followers = followers;
    this.#failed = failed;
  }

  async take(message: FromPanel, page: Page): Promise<void> {
    try {
      await this.#do(message, page);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The page is gone. Its turns go on without it, and what it would have been told nobody else is to be told. */
  forget(page: Page): void {
    this.#asked.delete(page);
  }

  dispose(): void {
    for (const asked of this.#asked.values()) for (const source of asked.values()) source.dispose();
    this.#asked.clear();
  }

  async #do(message: FromPanel, page: Page): Promise<void> {
    const deeds = this.#deeds;
    switch (message.kind) {
      case "request":
        return this.#relay(message, page);
      case "withdraw":
        this.#asked.get(page)?.get(message.id)?.cancel();
        return;
      case "command":
        await commands.executeCommand(message.command);
        return;
      case "ready":
        this.forget(page);
        return deeds.ready(message, page);
      case "showing":
        return deeds.showing(message, page);
      case "focused":
        return deeds.focused(message, page);
      case "openTab":
        return deeds.openTab(message, page);
      case "decide":
        return deeds.decide(message, page);
      case "preview":
        return deeds.preview(message, page);
      case "open":
        return deeds.open(message, page);
      case "openExternal":
        return deeds.openExternal(message, page);
      case "raiseWindow":
        return deeds.raiseWindow(message, page);
      case "showText":
        return deeds.showText(message, page);
      case "copy":
        return deeds.copy(message, page);
      case "insert":
        return deeds.insert(message, page);
      case "diff":
        return deeds.diff(message, page);
      case "accept":
        return deeds.accept(message, page);
      case "review":
        return deeds.review(message, page);
      case "export":
        return deeds.export(message, page);
      case "pickFiles":
        return deeds.pickFiles(message, page);
      case "dropped":
        return deeds.dropped(message, page);
      case "addSelection":
        return deeds.addSelection(message, page);
    }
  }

  async #relay({ id, method, params }: Request, page: Page): Promise<void> {
    const asked = this.#asked.get(page) ?? new Map<number, CancellationTokenSource>();
    this.#asked.set(page, asked);
    const post = (message: ToPanel): void => {
      if (asked === this.#asked.get(page)) page.post(message);
    };
    const refuse = (problem: Problem): void => post({ kind: "refused", id, problem });
    if (asked.has(id) || asked.size >= MOST_REQUESTS || !isParams(method, params)) {
      refuse({
        code: "invalid_params",
        message: t.notAsked(method),
        hint: t.reload,
      });
      return;
    }
    const source = new CancellationTokenSource();
    asked.set(id, source);
    const birth = page.asks(method, params);
    try {
      const deleted = method === "codelaw/chat/delete" ? chatOf(params) : null;
      // Its turn ends before the answer, and of that nobody is to be told.
      if (deleted !== null) this.#shown.gone(deleted);
      const result = await this.#wire.request(method, params, source.token);
      if (deleted !== null) this.#followers.deleted(deleted, page);
      else if ("messages" in result) this.#shown.record(result);
      else if ("updatedAt" in result && "turns" in result) {
        this.#shown.update(result);
        this.#followers.changed(result, page);
      } else if ("contextWindow" in result && "chatId" in params && typeof params.chatId === "string") {
        this.#shown.inspected(params.chatId, result);
      }
      post({ kind: "answer", id, result });
    } catch (error) {
      refuse(refusalOf(error, t.server).problem);
    } finally {
      page.answered(birth);
      asked.delete(id);
      source.dispose();
    }
  }
}

const chatOf = (params: unknown): string | null =>
  isFields(params) && typeof params["chatId"] === "string" ? params["chatId"] : null;
