// Much at once: a long stream and a long chat. Times are printed and not asserted.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { PYTHON, ROOT } from "./places";
import { eventually, tell } from "./processes";
import { finish } from "./vendor";
import { useWorkbench } from "./workbench";

const DELTAS = 10_000;
const at = useWorkbench({ window: { files: { "a.txt": "x\n" } } });

test("while 10 000 deltas come in, what is typed appears, and all of the text is there in the end", async () => {
  const { window, vendor } = at();
  const line = "A line with `code` and **bold** in it.\n";
  const text = Array.from(
    { length: (DELTAS * 8) / line.length + 1 },
    (_, n) => (n % 12 === 11 ? "\n" : "") + line,
  ).join("");
  const fenced = `${text.slice(0, text.length / 2)}\n\n\`\`\`python\n${"x = 1  # and so on\n".repeat(1_500)}\`\`\`\n\nTHE-END`;
  await vendor.play([finish(fenced, { chunk: Math.floor(fenced.length / DELTAS), delay: 0.0005 })]);
  await window.panel.locator("body").evaluate(() => {
    const longest = { task: 0, tasks: 0 };
    Object.assign(globalThis, { longest });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        longest.task = Math.max(longest.task, duration);
        longest.tasks++;
      }
    }).observe({ type: "longtask" });
  });
  const began = Date.now();
  await window.say("Say very much");
  await window.panel.locator('article.turn[data-state="running"] .answer').first().waitFor();
  let typed = "";
  const waits: number[] = [];
  while ((await window.lastTurn.getAttribute("data-state")) === "running" && typed.length < 40) {
    const before = Date.now();
    typed += "abcdefghij"[typed.length % 10] ?? "";
    await window.message.press(typed.at(-1) ?? "a");
    await eventually("what is typed appears", async () => (await window.message.inputValue()) === typed);
    waits.push(Date.now() - before);
    await window.page.waitForTimeout(100);
  }
  // The second key was typed into a turn that still ran, and that after the first had appeared.
  expect(typed.length, "something was typed while the answer came").toBeGreaterThan(1);
  await window.ended("finished", 300_000);
  const longest = await window.panel.locator("body").evaluate(() => JSON.stringify(Reflect.get(globalThis, "longest")));
  const slowest = Math.max(...waits);
  tell(`${DELTAS} deltas in ${Date.now() - began} ms; long tasks ${longest}; slowest key ${slowest} ms`);
  await window.lastTurn.getByRole("button", { name: "Show all 1,500 lines" }).click();
  const answer = (await window.lastTurn.locator(".answer").first().textContent()) ?? "";
  expect(answer).toContain("THE-END");
  expect(answer.match(/and so on/g)).toHaveLength(1_500);
  expect(await window.message.inputValue()).toBe(typed);
});

test("a chat of 2 000 messages opens at its end and goes back to its beginning", async () => {
  const { window, workbench, vendor } = at();
  const home = `${workbench.folder}/home`;
  execFileSync(PYTHON, ["-m", "tests.loopback.long_chat", home], { cwd: ROOT, stdio: "pipe" });
  await window.command("codelaw: Show All Chats");
  const row = window.panel.locator('.chat-row[data-chat-id="long"]').locator("button").first();
  await row.waitFor();
  const began = Date.now();
  await row.click();
  await window.panel.locator(".answer", { hasText: "Answer 500:" }).waitFor();
  tell(`a chat of 2 000 messages opened in ${Date.now() - began} ms`);
  expect(await window.turns.count()).toBeLessThan(100);
  const log = window.panel.getByRole("log");
  await eventually("earlier turns come", async () => {
    await log.evaluate((element) => (element.scrollTop = 0));
    return (await window.panel.locator(".question", { hasText: "Question 400:" }).count()) === 1;
  });
  await vendor.play([finish("And on it goes.")]);
  await window.ask("Go on");
});
