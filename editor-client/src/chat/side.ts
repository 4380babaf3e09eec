// The view of the chat in a side bar: its page and the number on its icon.
import { commands, type Disposable, type Uri, type WebviewView, type WebviewViewProvider, window } from "vscode";
import { t } from "../language";
import { type Hearer, Page } from "./page";

export const VIEW = "codelaw.panel";

/** Who hears of the view. */
export interface SideHearer extends Hearer {
  /** The view has come into sight, or gone out of it. */
  seen(visible: boolean): void;
}

export class SideView implements WebviewViewProvider, Disposable {
  readonly page: Page;
  readonly #hearer: SideHearer;
  readonly #registered: Disposable;
  #view: WebviewView | null = null;
  #listening: Disposable[] = [];
  #questions = 0;
  #ended = 0;

  constructor(extension: Uri, hearer: SideHearer) {
    this.#hearer = hearer;
    this.page = new Page("side", extension, hearer);
    this.#registered = window.registerWebviewViewProvider(VIEW, this);
  }

  get visible(): boolean {
    return this.#view?.visible ?? false;
  }

  resolveWebviewView(view: WebviewView): void {
    this.#drop();
    this.#view = view;
    this.#listening = [
      view.onDidChangeVisibility(() => {
        if (!view.visible) this.page.gone();
        this.#hearer.seen(view.visible);
      }),
      view.onDidDispose(() => {
        if (this.#view !== view) return;
        this.#drop();
        this.#hearer.seen(false);
      }),
    ];
    this.page.load(view.webview);
    this.#showBadge();
    this.#hearer.seen(view.visible);
  }

  /** Open the view and put the focus into it. */
  async reveal(): Promise<void> {
    await commands.executeCommand(`${VIEW}.focus`);
  }

  /** A number on the view's icon: questions that wait and that nobody sees. */
  set questions(count: number) {
    this.#questions = count;
    this.#showBadge();
  }

  /** Chats whose turns ended unseen; they count on the icon, too. */
  set ended(count: number) {
    this.#ended = count;
    this.#showBadge();
  }

  dispose(): void {
    this.#drop();
    this.#registered.dispose();
  }

  #showBadge(): void {
    if (this.#view === null) return;
    const parts = [
      ...(this.#questions === 0 ? [] : [t.asks(this.#questions)]),
      ...(this.#ended === 0 ? [] : [t.hasAnswered(this.#ended)]),
    ];
    const value = this.#questions + this.#ended;
    this.#view.badge = value === 0 ? undefined : { value, tooltip: `codelaw ${parts.join(", ")}` };
  }

  #drop(): void {
    this.page.unload();
    for (const one of this.#listening.splice(0)) one.dispose();
    this.#view = null;
  }
}
