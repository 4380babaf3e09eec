// One window of the workbench, as a person has it in front of them.
import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FrameLocator, Locator, Page } from "playwright-core";
import { SHOTS } from "./places";
import { eventually } from "./processes";

const hasFocus = (element: Element): boolean =>
  element.ownerDocument.hasFocus() && element.contains(element.ownerDocument.activeElement);

export class Window {
  /** What the window and the panel wrote to their consoles. */
  readonly said: string[] = [];
  /** Every address that the window, or anything in it, has asked for. */
  readonly asked: string[] = [];

  constructor(
    readonly page: Page,
    readonly folder: string,
  ) {
    page.setDefaultTimeout(120_000);
    page.on("console", (message) => {
      // The workbench's own log is long, and coloured.
      if (!message.text().startsWith("%c")) this.said.push(`${message.type()}: ${message.text().slice(0, 400)}`);
    });
    page.on("pageerror", (error) => this.said.push(`pageerror: ${String(error).slice(0, 400)}`));
    page.on("request", (request) => this.asked.push(request.url()));
  }

  async go(url: string): Promise<void> {
    await this.page.goto(url, { waitUntil: "domcontentloaded", timeout: 150_000 });
    await this.ready();
  }

  async reload(): Promise<void> {
    await this.page.reload({ waitUntil: "domcontentloaded", timeout: 150_000 });
    await this.ready();
  }

  private async ready(): Promise<void> {
    await this.page.locator(".monaco-workbench").waitFor({ timeout: 150_000 });
    await this.status.waitFor({ timeout: 150_000 });
  }

  /** The item of the status bar; it is there when the extension runs. */
  get status(): Locator {
    return this.page.locator(".statusbar-item", { hasText: "codelaw" }).first();
  }

  /** The panel's page: a frame within a frame. */
  get panel(): FrameLocator {
    return this.page.frameLocator("iframe.webview.ready").frameLocator("iframe#active-frame");
  }

  get message(): Locator {
    return this.panel.getByRole("textbox", { name: "Message" });
  }

  get turns(): Locator {
    return this.panel.locator("article.turn");
  }

  get lastTurn(): Locator {
    return this.turns.last();
  }

  async showPanel(): Promise<void> {
    await this.command("codelaw: Open Chat");
    await this.message.waitFor();
  }

  async hidePanel(): Promise<void> {
    await this.command("View: Toggle Secondary Side Bar Visibility");
    await this.message.waitFor({ state: "hidden" });
  }

  /** Run a command of the palette by its whole title. */
  async command(title: string): Promise<void> {
    await this.pick("F1", `>${title}`, title);
  }

  /** Open a file of the folder in the editor, which keys go to from then on. */
  async openFile(name: string): Promise<void> {
    await this.pick("Control+p", name, name);
    await this.tab(name).waitFor();
    await this.inFile(name);
  }

  /** The keys go to the text of a file; an editor that had them before may show another one for a while. */
  async inFile(name: string): Promise<void> {
    const shows = `[data-uri$=${JSON.stringify(`/${name}`)}]`;
    await this.page.locator(`.editor-group-container.active .monaco-editor.focused${shows}`).first().waitFor();
  }

  /** Take the row with this name from a list that a key opens. Until what is typed has filtered it, Enter takes another. */
  private async pick(key: string, typed: string, name: string): Promise<void> {
    const named = new RegExp(`(^|: )${name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
    const label = this.page.locator(".quick-input-widget .monaco-list-row.focused .label-name", { hasText: named });
    await this.page.keyboard.press(key);
    await this.page.locator(".quick-input-widget input[type=text]").fill(typed);
    await label.waitFor();
    await this.page.keyboard.press("Enter");
    await label.waitFor({ state: "hidden" });
  }

  /** Take an entry of the menu that is open by Enter: a menu that has just come takes no click. */
  async choose(title: string): Promise<void> {
    await this.page.locator(".monaco-menu .action-label", { hasText: title }).first().hover();
    const entry = this.page.locator(".monaco-menu .action-item.focused > .action-menu-item", { hasText: title });
    await entry.waitFor();
    await this.page.keyboard.press("Enter");
    await entry.waitFor({ state: "hidden" });
  }

  /** The tab of a file, when it is in front; those of comparisons have other names. */
  tab(name: string): Locator {
    return this.page.locator(`.tabs-container .tab.active[data-resource-name=${JSON.stringify(name)}]`);
  }

  /** Leave the page of chats or of the context for the chat at hand. */
  async showChat(): Promise<void> {
    await this.panel.getByRole("button", { name: /^Back/ }).first().click();
    await this.panel.locator('main[data-page="chat"]').waitFor();
  }

  /** Begin a chat of its own; the folder stays. */
  async newChat(): Promise<void> {
    await this.command("codelaw: New Chat");
    await this.panel.locator('main[data-page="chat"]').waitFor();
    await eventually("the new chat is empty", async () => (await this.turns.count()) === 0);
  }

  /** Write a message and send it by Enter, as soon as the server takes it. */
  async say(text: string): Promise<void> {
    await this.message.fill(text);
    await eventually("the message is taken", async () => {
      await this.message.press("Enter");
      return (await this.message.inputValue()) === "";
    });
  }

  /** The newest turn, once it has ended like this. */
  async ended(state = "finished", milliseconds = 150_000): Promise<Locator> {
    await eventually(
      `the newest turn ends as ${state}`,
      async () => (await this.turns.count()) > 0 && (await this.lastTurn.getAttribute("data-state")) === state,
      milliseconds,
    );
    return this.panel.locator(`article.turn[data-state="${state}"]`).last();
  }

  /** Send a message and wait for the end of its turn. */
  async ask(text: string, state = "finished"): Promise<Locator> {
    const before = await this.turns.count();
    await this.say(text);
    await eventually("the turn is there", async () => (await this.turns.count()) > before);
    return this.ended(state);
  }

  /** The card of the open question. */
  get approval(): Locator {
    return this.panel.locator(".approval").first();
  }

  async allow(kind = "allow_once"): Promise<void> {
    await this.approval.locator(`button[data-option-kind="${kind}"]`).click();
  }

  /** Press a key until the focus is where it should be; for those who have no mouse. */
  async press(key: string, until: Locator, most = 25): Promise<void> {
    for (let pressed = 0; pressed < most; pressed++) {
      if (await until.evaluate(hasFocus)) return;
      await this.page.keyboard.press(key);
    }
    throw new Error(`${key} does not lead there`);
  }

  /** Wait until the focus has come here by itself. */
  async focused(element: Locator): Promise<void> {
    await eventually("the focus is there", () => element.evaluate(hasFocus));
  }

  /** Wait until the editor has written down what a panel keeps; in a browser it does so every 5 s or later. */
  async keeps(words: string): Promise<void> {
    const written = (words: string): Promise<boolean> =>
      indexedDB.databases().then(async (all) => {
        const texts = all.map(
          ({ name = "" }) =>
            new Promise<string>((resolve, reject) => {
              const opened = indexedDB.open(name);
              opened.onerror = () => reject(new Error(name));
              opened.onsuccess = () => {
                const tables = [...opened.result.objectStoreNames].filter((table) => table === "ItemTable");
                const done = (text: string): void => {
                  opened.result.close();
                  resolve(text);
                };
                if (tables.length === 0) {
                  done("");
                  return;
                }
                const rows = opened.result.transaction(tables).objectStore("ItemTable").getAll();
                rows.onsuccess = () => done(JSON.stringify(rows.result));
                rows.onerror = () => reject(new Error(name));
              };
            }),
        );
        return (await Promise.all(texts)).some((text) => text.includes(words));
      });
    await eventually(`the editor keeps "${words}"`, () => this.page.evaluate(written, words));
  }

  /** A file of the folder as it is on the disk. */
  read(path: string): Promise<string> {
    return readFile(join(this.folder, path), "utf8");
  }

  /** What the extension and the server have logged, as the editor shows it. */
  async log(): Promise<string> {
    await this.command("codelaw: Show Logs");
    const lines = this.page.locator(".output-view .view-line");
    await lines.first().waitFor();
    return (await lines.allTextContents()).join("\n").replaceAll("\u00a0", " ");
  }

  /** Keep a picture of the window; gives its path. */
  async shot(name: string): Promise<string> {
    mkdirSync(SHOTS, { recursive: true });
    const path = join(SHOTS, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }
}
