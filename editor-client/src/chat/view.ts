// The chat as the rest of the extension sees it, wherever it is shown: in the side bar and in tabs of the editor.
import { type Disposable, EventEmitter, type Uri } from "vscode";
import type { FromPanel, OpenApproval, ToPanel } from "../messages";
import type { Chat, ChatEvent } from "../protocol/types";
import type { Page } from "./page";
import { questionsFor, unseenOf, type Viewed } from "./sharing";
import type { Shown } from "./shown";
import { SideView } from "./side";
import { type Tab, Tabs } from "./tabs";

/** What a page says, read and found good. */
export interface Said {
  message: FromPanel;
  page: Page;
}

interface View extends Viewed {
  readonly page: Page;
  reveal(): unknown;
}

/** All views of the chat. One of them is at hand: what the user does by commands is meant for it. */
export class ChatView implements Disposable {
  readonly #messages = new EventEmitter<Said>();
  readonly #sights = new EventEmitter<undefined>();
  readonly #closed = new EventEmitter<Page>();
  readonly onMessage = this.#messages.event;
  /** Another chat is in sight than before. */
  readonly onSight = this.#sights.event;
  /** A tab is closed, and its page with it. */
  readonly onClosed = this.#closed.event;
  readonly #shown: Shown;
  readonly #side: SideView;
  readonly #tabs: Tabs;
  #atHand: Page;
  #questions: readonly OpenApproval[] = [];

  constructor(extension: Uri, shown: Shown, refused: (message: string) => void) {
    this.#shown = shown;
    const said = (message: FromPanel, page: Page): void => this.#messages.fire({ message, page });
    this.#side = new SideView(extension, { said, refused, seen: () => this.#sight() });
    this.#tabs = new Tabs(extension, shown, {
      said,
      refused,
      moved: (tab) => {
        if (tab.panel.active) this.turnTo(tab.page);
        this.#sight();
      },
      closed: ({ page }) => {
        if (page === this.#atHand) this.turnToSide();
        this.#closed.fire(page);
        this.#sight();
      },
    });
    this.#atHand = this.#side.page;
    shown.onRead(() => this.#tabs.name());
  }

  /** The side bar's view, which the editor makes and shows. */
  get side(): SideView {
    return this.#side;
  }

  /** Whether the user has that chat in sight. */
  sees(chatId: string): boolean {
    return this.#views().some(({ visible, page }) => visible && page.shows(chatId));
  }

  /** Of the open questions those that nobody sees. */
  get unseen(): readonly OpenApproval[] {
    return unseenOf(this.#views(), this.#questions);
  }

  /** Open the side bar and put the focus into the chat. */
  async reveal(): Promise<void> {
    await this.#side.reveal();
  }

  /** Say something to every page that is there; one that comes later asks for what it needs. */
  post(message: ToPanel): void {
    for (const { page } of this.#views()) page.post(message);
  }

  /** Say this to the view at hand, or to the side bar's where that is out of sight, and bring it up. */
  async tell(message: ToPanel): Promise<void> {
    const views = this.#views();
    const wanted = message.kind === "show" ? message.chatId : undefined;
    const itsOwn = typeof wanted === "string" ? views.find(({ page }) => page.shows(wanted)) : undefined;
    const atHand = views.find(({ page, visible }) => page === this.#atHand && visible);
    const view = itsOwn ?? atHand ?? this.#sideView();
    view.page.tell(message);
    await view.reveal();
  }

  /** Show a chat in a tab of its own, or the tab that has it; null: a new chat. */
  openTab(chatId: string | null): void {
    const there = chatId === null ? undefined : this.#tabs.all.find(({ page }) => page.shows(chatId));
    if (there === undefined) this.#tabs.open(chatId);
    else there.panel.reveal();
  }

  event(event: ChatEvent): void {
    const { chatId, event: told } = event;
    const pages = this.#views().map(({ page }) => page);
    if (told.kind === "turn_started" && !pages.some((page) => page.shows(chatId))) {
      pages.find((page) => page.adopts(chatId, told.text));
    }
    for (const page of pages) page.event(event);
  }

  /** The questions that are open now. */
  ask(open: readonly OpenApproval[]): void {
    this.#questions = open;
    this.#share();
  }

  /** Chats whose turns ended while nobody saw them, on the icon. */
  set ended(count: number) {
    this.#side.ended = count;
  }

  /** The answers to a page's `ready`. */
  welcome(page: Page, first: readonly ToPanel[]): void {
    page.welcome(first);
    this.#share();
  }

  /** The user is at that page now. */
  turnTo(page: Page): void {
    this.#atHand = page;
    this.#shown.show(page.chatId);
  }

  /** The user is at the side bar's view. */
  turnToSide(): void {
    this.turnTo(this.#side.page);
  }

  /** The user is at the tab that is the active editor. */
  turnToTab(): void {
    const { active } = this.#tabs;
    if (active !== null) this.turnTo(active.page);
  }

  /** A page shows another chat than before. */
  showing(page: Page, chatId: string | null): void {
    const left = page.chatId;
    page.showing(chatId);
    if (page === this.#atHand) this.#shown.show(chatId);
    else if (chatId !== null) this.#shown.remember(chatId);
    const tab = this.#tabs.all.find((one) => one.page === page);
    if (chatId !== null) this.#tabs.name();
    else if (tab !== undefined && left !== null) this.#tabs.nameless(tab);
    this.#sight();
  }

  /** A view has changed a chat: the others that show it follow. */
  changed(chat: Chat, by: Page): void {
    for (const { page } of this.#views()) if (page !== by) page.post({ kind: "chatChanged", chat });
  }

  /** A view has deleted a chat: the others show it no longer. */
  deleted(chatId: string, by: Page): void {
    for (const { page } of this.#views()) if (page !== by) page.post({ kind: "chatDeleted", chatId });
  }

  dispose(): void {
    this.#side.dispose();
    this.#tabs.dispose();
    this.#messages.dispose();
    this.#sights.dispose();
    this.#closed.dispose();
  }

  #sideView(): View {
    const { page, visible } = this.#side;
    return { page, visible, place: "side", chatId: page.chatId, reveal: () => this.#side.reveal() };
  }

  #views(): readonly View[] {
    const ofTab = ({ page, panel }: Tab): View => ({
      page,
      visible: panel.visible,
      place: "editor",
      chatId: page.chatId,
      reveal: () => panel.reveal(),
    });
    return [this.#sideView(), ...this.#tabs.all.map(ofTab)];
  }

  /** What is in sight has changed. */
  #sight(): void {
    this.#share();
    this.#sights.fire(undefined);
  }

  /** Put every question where it is seen, and count the others on the icon. */
  #share(): void {
    const views = this.#views();
    for (const view of views) view.page.ask(questionsFor(view, views, this.#questions));
    this.#side.questions = this.unseen.length;
  }
}
