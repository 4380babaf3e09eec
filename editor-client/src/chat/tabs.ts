// Chats in tabs of the editor: each with a page, a chat and a draft of its own. They come back after a reload.
import { type Disposable, Uri, ViewColumn, type WebviewPanel, type WebviewPanelSerializer, window } from "vscode";
import { visible } from "../hidden";
import { t } from "../language";
import { type Hearer, Page } from "./page";
import type { Shown } from "./shown";

/** The type of the tabs; the manifest names it where a tab is restored. */
export const TAB = "codelaw.chat";
/** Of a chat's title on a tab. */
const SHOWN = 60;

/** Who hears of the tabs. */
export interface TabHearer extends Hearer {
  /** A tab has come into sight or gone out of it, or it is the active editor now. */
  moved(tab: Tab): void;
  closed(tab: Tab): void;
}

export interface Tab {
  readonly page: Page;
  readonly panel: WebviewPanel;
}

export class Tabs implements WebviewPanelSerializer, Disposable {
  readonly #extension: Uri;
  readonly #shown: Shown;
  readonly #hearer: TabHearer;
  readonly #tabs = new Set<Tab>();
  readonly #registered: Disposable;

  constructor(extension: Uri, shown: Shown, hearer: TabHearer) {
    this.#extension = extension;
    this.#shown = shown;
    this.#hearer = hearer;
    this.#registered = window.registerWebviewPanelSerializer(TAB, this);
  }

  get all(): readonly Tab[] {
    return [...this.#tabs];
  }

  /** The tab that is the active editor. */
  get active(): Tab | null {
    return this.all.find(({ panel }) => panel.active) ?? null;
  }

  /** A tab for that chat, or for a new one; beside the active tab where that is a chat, too. */
  open(chatId: string | null): Tab {
    const column = this.active === null ? ViewColumn.Active : ViewColumn.Beside;
    const title = chatId === null ? t.newChat : this.#titleOf(chatId);
    const tab = this.#adopt(window.createWebviewPanel(TAB, title, column));
    if (chatId !== null) tab.page.tell({ kind: "show", page: "chat", chatId });
    return tab;
  }

  /** What its page kept says which chat it shows. */
  deserializeWebviewPanel(panel: WebviewPanel): Promise<void> {
    this.#adopt(panel);
    return Promise.resolve();
  }

  /** Name the tabs after their chats. */
  name(): void {
    for (const { page, panel } of this.#tabs) {
      const title = page.chatId === null ? null : this.#titleOf(page.chatId);
      if (title !== null && panel.title !== title) panel.title = title;
    }
  }

  /** The tab has left its chat for a new one. */
  nameless({ panel }: Tab): void {
    panel.title = t.newChat;
  }

  dispose(): void {
    this.#registered.dispose();
    // The tabs themselves stay: after a reload of the window they are restored.
    for (const { page } of this.#tabs) page.dispose();
  }

  #titleOf(chatId: string): string {
    const title = visible(this.#shown.titleOf(chatId)).trim();
    if (title === "") return t.newChat;
    return title.length > SHOWN ? `${title.slice(0, SHOWN)}…` : title;
  }

  #adopt(panel: WebviewPanel): Tab {
    const page = new Page("editor", this.#extension, this.#hearer);
    const tab = { page, panel };
    const icon = (name: string): Uri => Uri.joinPath(this.#extension, "media", name);
    panel.iconPath = { light: icon("tab-light.svg"), dark: icon("tab-dark.svg") };
    this.#tabs.add(tab);
    page.load(panel.webview);
    let wasVisible = panel.visible;
    panel.onDidChangeViewState(() => {
      if (wasVisible && !panel.visible) page.gone();
      wasVisible = panel.visible;
      this.#hearer.moved(tab);
    });
    panel.onDidDispose(() => {
      page.dispose();
      if (this.#tabs.delete(tab)) this.#hearer.closed(tab);
    });
    return tab;
  }
}
