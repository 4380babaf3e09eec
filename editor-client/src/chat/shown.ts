// What is known of the chats in the views, from what passes by on its way there.
import { EventEmitter } from "vscode";
import type { Chat, ChatEvent, ChatRecord, ContextReport, Usage, UsageReport } from "../protocol/types";

/** Chats that something is remembered of. */
const MOST = 50;

/** What is known of one chat. */
export interface Known {
  chat: Chat | null;
  running: boolean;
  /** How full the window was at the newest call of the model, or would be by a newer report. */
  usage: Pick<UsageReport, "contextTokens" | "contextWindow"> | null;
  /** Tokens and cost of the newest turn that has ended. */
  turn: Usage | null;
  /** The largest `seq` that counted, so that an older record does not turn the clock back. */
  seq: number;
}

/** The chat that the view at hand shows, for the status bar and for commands. */
export class Shown {
  readonly #changed = new EventEmitter<undefined>();
  readonly onChange = this.#changed.event;
  readonly #deleted = new EventEmitter<string>();
  /** A chat is being deleted: its id. */
  readonly onDeleted = this.#deleted.event;
  readonly #read = new EventEmitter<undefined>();
  /** A chat was read or changed: its title may be another one. */
  readonly onRead = this.#read.event;
  /** Also of chats that are not shown: a new chat's first events come before the panel says that it shows it. */
  readonly #known = new Map<string, Known>();
  #chatId: string | null = null;
  /** Chats that a view has shown; of others nobody waits for news. */
  readonly #seen = new Set<string>();

  get chatId(): string | null {
    return this.#chatId;
  }

  /** What is known of the chat that is shown. */
  get known(): Readonly<Known> | null {
    return this.#chatId === null ? null : (this.#known.get(this.#chatId) ?? null);
  }

  wasShown(chatId: string): boolean {
    return this.#seen.has(chatId);
  }

  /** Empty where it is not known. */
  titleOf(chatId: string): string {
    return this.#known.get(chatId)?.chat?.title ?? "";
  }

  get running(): boolean {
    return this.known?.running ?? false;
  }

  show(chatId: string | null): void {
    if (chatId === this.#chatId) return;
    this.#chatId = chatId;
    if (chatId !== null) this.remember(chatId);
    this.#changed.fire(undefined);
  }

  /** A view that is not at hand shows that chat. */
  remember(chatId: string): void {
    this.#seen.add(chatId);
  }

  event(event: ChatEvent): void {
    const known = this.#of(event.chatId);
    if (event.seq > known.seq && take(known, event)) this.#tell(event.chatId);
  }

  record({ chat, events, running }: ChatRecord): void {
    const known = this.#of(chat.id);
    known.chat = chat;
    for (const event of events) if (event.seq > known.seq) take(known, event);
    known.running = running !== null;
    this.#tell(chat.id);
    this.#read.fire(undefined);
  }

  /** What the page of the context was told of the window, so that the status bar says the same. */
  inspected(chatId: string, { totalTokens, contextWindow }: ContextReport): void {
    this.#of(chatId).usage = { contextTokens: totalTokens, contextWindow };
    this.#tell(chatId);
  }

  update(chat: Chat): void {
    this.#of(chat.id).chat = chat;
    this.#tell(chat.id);
    this.#read.fire(undefined);
  }

  /** The chat is being deleted. */
  gone(chatId: string): void {
    this.#seen.delete(chatId);
    this.#known.delete(chatId);
    this.#deleted.fire(chatId);
  }

  /** The server is another one or none: nothing runs in it. */
  disconnected(): void {
    for (const known of this.#known.values()) known.running = false;
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#changed.dispose();
    this.#deleted.dispose();
    this.#read.dispose();
  }

  #of(chatId: string): Known {
    const known = this.#known.get(chatId) ?? { chat: null, running: false, usage: null, turn: null, seq: 0 };
    this.#known.delete(chatId);
    this.#known.set(chatId, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST) break;
      if (oldest !== this.#chatId) this.#known.delete(oldest);
    }
    return known;
  }

  #tell(chatId: string): void {
    if (chatId === this.#chatId) this.#changed.fire(undefined);
  }
}

/** Whether the event says anything that is told here. */
function take(known: Known, { seq, event }: ChatEvent): boolean {
  known.seq = seq;
  switch (event.kind) {
    case "turn_started":
      known.running = true;
      return true;
    case "usage":
      // A subagent has a window of its own.
      if (event.parent !== undefined) return false;
      known.usage = event;
      return true;
    case "compaction":
      if (event.report?.compacted !== true || known.usage === null) return false;
      known.usage = { contextTokens: event.report.tokensAfter, contextWindow: known.usage.contextWindow };
      return true;
    case "turn_ended":
      known.running = false;
      known.turn = event.result.usage;
      return true;
    default:
      return false;
  }
}
