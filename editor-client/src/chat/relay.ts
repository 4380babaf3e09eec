// Does what the panel asks: its requests go to the server, the rest is done by the editor.
import { CancellationTokenSource, commands, type Disposable } from "vscode";
import { t } from "../language";
import type { FromPanel, Problem, ToPanel } from "../messages";
import { refusalOf } from "../server/refusal";
import type { Wire } from "../server/wire";
import { isParams } from "./incoming";
import type { Shown } from "./shown";

/** Requests of one page that may be under way at once. */
const MOST_REQUESTS = 200;

type Request = Extract<FromPanel, { kind: "request" }>;
type Kind = FromPanel["kind"];
/** What is done by others, by the kind of the message. */
export type Deeds = {
  readonly [K in Exclude<Kind, "request" | "withdraw" | "showing" | "command">]: (
    message: Extract<FromPanel, { kind: K }>,
  ) => void | Promise<void>;
};

/** Between the panel's page and everything else. */
export class Relay implements Disposable {
  readonly #wire: Wire;
  readonly #shown: Shown;
  readonly #deeds: Deeds;
  readonly #post: (message: ToPanel) => void;
  readonly #failed: (error: unknown) => void;
  /** What the page at hand has asked and not been answered. */
  #asked = new Map<number, CancellationTokenSource>();

  constructor(
    wire: Wire,
    shown: Shown,
    deeds: Deeds,
    post: (message: ToPanel) => void,
    failed: (error: unknown) => void,
  ) {
    this.#wire = wire;
    this.#shown = shown;
    this.#deeds = deeds;
    this.#post = post;
    this.#failed = failed;
  }

  async take(message: FromPanel): Promise<void> {
    try {
      await this.#do(message);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** The page is gone. Its turns go on without it, and what it would have been told nobody else is to be told. */
  forget(): void {
    this.#asked = new Map();
  }

  dispose(): void {
    for (const source of this.#asked.values()) source.dispose();
    this.forget();
  }

  async #do(message: FromPanel): Promise<void> {
    const deeds = this.#deeds;
    switch (message.kind) {
      case "request":
        return this.#relay(message);
      case "withdraw":
        this.#asked.get(message.id)?.cancel();
        return;
      case "showing":
        this.#shown.show(message.chatId);
        return;
      case "command":
        await commands.executeCommand(message.command);
        return;
      case "ready":
        this.forget();
        return deeds.ready(message);
      case "decide":
        return deeds.decide(message);
      case "preview":
        return deeds.preview(message);
      case "open":
        return deeds.open(message);
      case "openExternal":
        return deeds.openExternal(message);
      case "showText":
        return deeds.showText(message);
      case "copy":
        return deeds.copy(message);
      case "insert":
        return deeds.insert(message);
      case "diff":
        return deeds.diff(message);
      case "accept":
        return deeds.accept(message);
      case "export":
        return deeds.export(message);
      case "pickFiles":
        return deeds.pickFiles(message);
      case "dropped":
        return deeds.dropped(message);
      case "addSelection":
        return deeds.addSelection(message);
    }
  }

  async #relay({ id, method, params }: Request): Promise<void> {
    const asked = this.#asked;
    const refuse = (problem: Problem): void => {
      if (asked === this.#asked) this.#post({ kind: "refused", id, problem });
    };
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
    try {
      // Its turn ends before the answer, and of that nobody is to be told.
      if (method === "codelaw/chat/delete" && "chatId" in params && typeof params.chatId === "string") {
        this.#shown.gone(params.chatId);
      }
      const result = await this.#wire.request(method, params, source.token);
      if ("messages" in result) this.#shown.record(result);
      else if ("updatedAt" in result && "turns" in result) this.#shown.update(result);
      else if ("contextWindow" in result && "chatId" in params && typeof params.chatId === "string") {
        this.#shown.inspected(params.chatId, result);
      }
      if (asked === this.#asked) this.#post({ kind: "answer", id, result });
    } catch (error) {
      refuse(refusalOf(error, t.server).problem);
    } finally {
      asked.delete(id);
      source.dispose();
    }
  }
}
