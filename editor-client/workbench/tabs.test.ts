// Where the chat lives: in the side bar, and in tabs of the editor beside each other.
import type { FrameLocator } from "playwright-core";
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
      const body = page.locator(`body[data-place="${place}"]`);
      if ((await body.count()) > 0 && ((await body.textContent()) ?? "").includes(text)) return page;
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

test("two chats stream side by side, each is asked and stopped for itself, and both come back after a reload", async () => {
  const { workbench, vendor } = at();
  const window = await workbench.open({ files: FILES });
  await vendor.play([
    finish(story("left", 3_000), { chunk: 11, delay: 0.03, when_contains: "tell the left story" }),
    finish(story("right", 3_000), { chunk: 11, delay: 0.03, when_contains: "tell the right story" }),
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
  await message(left).fill("run one");
  await message(left).press("Enter");
  await left.locator(".approval").waitFor();
  expect(await right.locator(".approval, .approval-elsewhere").count()).toBe(0);
  expect(await side.locator(".approval, .approval-elsewhere").count(), "it is seen where it is").toBe(0);
  await window.shot("asked-in-a-tab");
  await left.locator('.approval button[data-option-kind="allow_once"]').click();
  await left.locator(".answer", { hasText: "It ran." }).waitFor();

  await message(right).fill("a draft on the right");
  await right.getByRole("button", { name: "Stop" }).click();
  await eventually("the right turn is stopped", async () => (await state(right)) === "cancelled");
  // In a browser the editor writes down every 5 s what a page keeps; elsewhere when the window closes.
  await window.page.waitForTimeout(6_500);
  await window.reload();
  const [leftAgain, rightAgain] = [await pageWith(window, "It ran."), await pageWith(window, "[right 20]")];
  expect(await message(rightAgain).inputValue()).toBe("a draft on the right");
  expect(await message(leftAgain).inputValue()).toBe("");
  await chatTab(window, "tell the left story").waitFor();
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
