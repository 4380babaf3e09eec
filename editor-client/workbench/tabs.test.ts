// Where the chat lives: in the side bar, and in tabs of the editor beside each other.
import type { FrameLocator, Locator } from "playwright-core";
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import type { Window } from "./window";
import { useWorkbench } from "./workbench";

const FILES = { "a.txt": "first\n", "b.txt": "second\n" };
const at = useWorkbench();
const story = (name: string, pieces: number): string =>
  Array.from({ length: pieces }, (_, piece) => `[${name} ${piece}]`).join(" ");

/** A page by what it says; one that is made anew is another one. */
async function pageWith(window: Window, text: string, place = "editor"): Promise<FrameLocator> {
  return eventually(`a page in ${place} says ${text}`, async () => {
    const frames = await window.page
      .locator("iframe.webview.ready")
      .evaluateAll((all) => all.map((one) => one.getAttribute("name")));
    for (const name of frames) {
      const page = window.page
        .frameLocator(`iframe.webview.ready[name="${name ?? ""}"]`)
        .frameLocator("iframe#active-frame");
      // A frame that has gone meanwhile is not waited for.
      const said = await page.locator(`body[data-place="${place}"]`).allTextContents();
      if (said.some((words) => words.includes(text))) return page;
    }
    return undefined;
  });
}
const message = (page: FrameLocator) => page.getByRole("textbox", { name: "Message" });
async function say(page: FrameLocator, text: string): Promise<void> {
  await message(page).fill(text);
  await eventually("the message is taken", async () => {
    await message(page).press("Enter");
    return (await message(page).inputValue()) === "";
  });
}
const THEMES = {
  "dark": "Default Dark Modern",
  "light": "Default Light Modern",
  "high-contrast": "Default High Contrast",
};
/** On the page of a new chat. */
const NEW = "What shall we work on?";
const chatTab = (window: Window, title: string) => window.page.locator(".tabs-container .tab", { hasText: title });
const state = (page: FrameLocator) => page.locator("article.turn").last().getAttribute("data-state");

test("the chat is at home in the secondary side bar", async () => {
  const window = await at().workbench.open({ files: FILES });
  await window.page
    .locator(".part.auxiliarybar")
    .locator(".title", { hasText: /codelaw/i })
    .first()
    .waitFor();
  expect(await window.page.locator(".part.activitybar .action-label[aria-label^=codelaw]").count()).toBe(0);
  await window.shot("secondary");
});

test("files are dropped on a chat from the explorer and from a tab, also in a remote window", async () => {
  const window = await at().workbench.open({ files: FILES });
  const drop = async (from: Locator): Promise<void> => {
    const [start, target] = [await from.boundingBox(), await window.message.boundingBox()];
    if (start === null || target === null) throw new Error("it is not in sight");
    await window.page.mouse.move(start.x + 20, start.y + start.height / 2);
    await window.page.mouse.down();
    await window.page.mouse.move(start.x + 50, start.y + 40, { steps: 4 });
    // Without it the editor keeps what is dragged from its pages.
    await window.page.keyboard.down("Shift");
    await window.page.mouse.move(target.x + 60, target.y - 80, { steps: 12 });
    let at = 0;
    await eventually("the page takes it", async () => {
      await window.page.mouse.move(target.x + 60 + (at++ % 20), target.y - 80);
      return (await window.panel.locator(".drop-area").count()) > 0;
    });
    await window.page.mouse.up();
    await window.page.keyboard.up("Shift");
  };
  await drop(window.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "a.txt" }));
  await window.panel.locator("li.attachment", { hasText: "a.txt" }).waitFor();
  await window.openFile("b.txt");
  await drop(window.tab("b.txt"));
  await window.panel.locator("li.attachment", { hasText: "b.txt" }).waitFor();
  await window.shot("dropped");
});

test("two chats stream side by side, each is asked and stopped for itself, and both come back after a reload", async () => {
  const { workbench, vendor } = at();
  const window = await workbench.open({ files: FILES });
  await vendor.play([
    // Neither ends by itself while the test is there.
    finish(story("left", 30_000), { chunk: 11, delay: 0.03, when_contains: "tell the left story" }),
    finish(story("right", 30_000), { chunk: 11, delay: 0.03, when_contains: "tell the right story" }),
    call("run", "Bash", { command: "echo one", description: "Say one" }, { when_contains: "run one" }),
    finish("It ran.", { when_contains: "run one" }),
  ]);
  await window.command("codelaw: New Chat in Editor");
  const left = await pageWith(window, NEW);
  await say(left, "tell the left story");
  await left.locator(".answer", { hasText: "[left 20]" }).waitFor();
  await window.command("codelaw: New Chat in Editor");
  const right = await pageWith(window, NEW);
  await say(right, "tell the right story");
  await right.locator(".answer", { hasText: "[right 20]" }).waitFor();
  await left.locator(".answer", { hasText: "[left 200]" }).waitFor();
  await chatTab(window, "tell the left story").waitFor();
  await chatTab(window, "tell the right story").waitFor();
  await window.shot("side-by-side");

  await left.getByRole("button", { name: "Stop" }).click();
  await eventually("the left turn is stopped", async () => (await state(left)) === "cancelled");
  expect(await state(right), "the right one goes on").toBe("running");
  const told = await right.locator(".answer").textContent();
  await eventually("it does", async () => (await right.locator(".answer").textContent()) !== told);
  expect(await left.locator(".answer").textContent(), "nothing of one is told in the other").not.toContain("[right");

  const side = await pageWith(window, NEW, "side");
  await message(side).fill("in the side bar");
  await say(left, "run one");
  await left.locator(".approval").waitFor();
  expect(await right.locator(".approval, .approval-elsewhere").count()).toBe(0);
  expect(await side.locator(".approval, .approval-elsewhere").count(), "it is seen where it is").toBe(0);
  await window.shot("asked-in-a-tab");
  await left.locator('.approval button[data-option-kind="allow_once"]').click();
  await left.locator(".answer", { hasText: "It ran." }).waitFor();

  await message(right).fill("a draft on the right");
  await right.getByRole("button", { name: "Stop" }).click();
  await eventually("the right turn is stopped", async () => (await state(right)) === "cancelled");
  await window.keeps("a draft on the right");
  await window.reload();
  const [leftAgain, rightAgain] = [await pageWith(window, "It ran."), await pageWith(window, "[right 20]")];
  await eventually("the draft", async () => (await message(rightAgain).inputValue()) === "a draft on the right");
  expect(await message(leftAgain).inputValue()).toBe("");
  await chatTab(window, "tell the left story").waitFor();
});

test("a tab is at home in every theme, and in 240 pixels", async () => {
  const { workbench, vendor } = at();
  const window = await workbench.open({ files: FILES });
  await vendor.play([finish("**Done.**\n\n```python\nprint('a long line ' * 20, 'which is wider than the tab')\n```")]);
  await window.command("codelaw: New Chat in Editor");
  const tab = await pageWith(window, NEW);
  await say(tab, "Show me");
  await tab.locator(".answer", { hasText: "Done." }).waitFor();
  await window.command("codelaw: Show All Chats");
  await tab.locator(".chat-row").first().hover();
  const colours = new Set<string>();
  for (const [name, theme] of Object.entries(THEMES)) {
    workbench.set({ "workbench.colorTheme": theme });
    await tab.locator(`body[data-vscode-theme-kind="vscode-${name}"]`).waitFor();
    await window.shot(`tab-${name}`);
    const colour = (body: HTMLElement): string => getComputedStyle(body).backgroundColor;
    const own = await tab.locator("body").evaluate(colour);
    expect(own, "the page looks like an editor").toBe(
      await window.page.locator(".part.editor .editor-group-container.active").evaluate((group) => {
        const probe = group.ownerDocument.createElement("div");
        probe.style.backgroundColor = "var(--vscode-editor-background)";
        group.append(probe);
        const { backgroundColor } = getComputedStyle(probe);
        probe.remove();
        return backgroundColor;
      }),
    );
    colours.add(own);
  }
  expect(colours.size, "the colours follow the theme").toBeGreaterThan(2);
  workbench.set({});
  const sideways = (): Promise<number> => tab.locator("body").evaluate((body) => body.scrollWidth - body.clientWidth);
  const width = (): Promise<number> => tab.locator("body").evaluate((body) => body.clientWidth);
  await window.page.setViewportSize({ width: 520, height: 700 });
  await eventually("the tab is narrow", async () => (await width()) <= 260);
  await eventually("nothing sticks out sideways", async () => (await sideways()) <= 1);
  await window.shot("tab-narrow-chats");
  await tab.getByRole("button", { name: /^Back/ }).first().click();
  await tab.locator('main[data-page="chat"]').waitFor();
  await eventually("nothing sticks out sideways", async () => (await sideways()) <= 1);
  await window.shot("tab-narrow");
  await window.page.setViewportSize({ width: 1280, height: 860 });
});

test("one chat in the side bar and in a tab is one: both stream, one answer counts, and a deleted one is gone", async () => {
  const { workbench, vendor } = at();
  const window = await workbench.open({ files: FILES });
  await vendor.play([
    call("run", "Bash", { command: "echo one", description: "Say one" }),
    finish("It ran."),
    finish("And again."),
    finish("I am here."),
  ]);
  await window.say("Run it");
  await window.approval.waitFor();
  await window.page.getByRole("button", { name: "Open Chat in Editor" }).first().click();
  const tab = await pageWith(window, "Run it");
  const side = await pageWith(window, "Run it", "side");
  await tab.locator(".approval").waitFor();
  expect(await side.locator(".approval").count()).toBe(1);
  await tab.locator('.approval button[data-option-kind="allow_once"]').click();
  for (const page of [tab, side]) {
    await page.locator(".answer", { hasText: "It ran." }).waitFor();
    await eventually("the card has gone", async () => (await page.locator(".approval").count()) === 0);
  }
  await say(tab, "Once more");
  await side.locator(".answer", { hasText: "And again." }).waitFor();

  const killed = await workbench.server();
  process.kill(killed, "SIGKILL");
  await eventually("another server runs", () => workbench.servers().some((id) => id !== killed));
  await say(tab, "Are you there?");
  for (const page of [tab, side]) await page.locator(".answer", { hasText: "I am here." }).waitFor();

  await side.locator("body").click();
  await window.page.getByRole("button", { name: "Show All Chats" }).last().click();
  const row = side.locator(".chat-row").first();
  await row.hover();
  await row.getByRole("button", { name: "Open in editor" }).click();
  expect(await chatTab(window, "Run it").count(), "it has a tab").toBe(1);
  await row.hover();
  await row.getByRole("button", { name: "Delete" }).click();
  await row.getByRole("button", { name: "Delete chat" }).click();
  await tab.getByText("The chat was deleted in another view.").waitFor();
  expect(await tab.locator("article.turn").count()).toBe(0);
  await window.shot("deleted-elsewhere");
});
