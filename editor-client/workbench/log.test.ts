// Reading a chat: its title, what is found in it, formulas and tasks, and the menu of the right button.
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { PYTHON, ROOT } from "./places";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const at = useWorkbench({ window: { files: { "src/app.py": "def greet(name):\n    return 'hello ' + name\n" } } });
const ANSWER = `The mean is $\\bar{x} = \\frac{1}{n} \\sum_{i=1}^{n} x_i$, and it costs $5 and $10.

$$
\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\vec{v} = \\sqrt[3]{\\lambda} \\int_0^\\infty e^{-t^2}\\,dt
$$

- [x] read \`src/app.py\`
- [ ] make it polite

The walrus is here, and one more walrus.
`;

test("a chat is named in place, searched, and its formulas are drawn", async () => {
  const { window, vendor } = at();
  await vendor.play([
    call("Deep inside this thought a walrus sleeps.", "Read", { path: "src/app.py" }),
    call("And once more.", "Grep", { pattern: "greet" }),
    finish(ANSWER),
  ]);
  await window.openFile("app.py");
  await window.showPanel();
  const turn = await window.ask("What is the mean?");
  await turn.locator("math").first().waitFor();
  expect(await turn.locator("math").count()).toBe(2);
  expect(await turn.locator("input[type=checkbox]").count()).toBe(2);
  const sizes = await turn
    .locator("math")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ width, height }) => [width, height]));
  for (const [width, height] of sizes) expect(Math.min(width ?? 0, height ?? 0)).toBeGreaterThan(10);
  await window.shot("log-maths");

  const title = window.panel.locator(".title-button");
  await eventually("the chat has a title", async () => (await title.textContent()) === "What is the mean?");
  await window.message.press("F2");
  const name = window.panel.getByRole("textbox", { name: "New title" });
  await name.fill("Walrus watch");
  await window.shot("log-title");
  await name.press("Enter");
  await eventually("the title is saved", async () => (await title.textContent()) === "Walrus watch");

  // The editor behind has a bar of its own for that key: it must not come.
  await window.message.focus();
  await window.page.keyboard.press("Control+f");
  const field = window.panel.getByRole("searchbox", { name: "Find in the chat" });
  await field.waitFor();
  await field.fill("walrus");
  const count = window.panel.locator(".find-count");
  await eventually("three are found", async () => /of 3$/.test((await count.textContent()) ?? ""));
  expect(await window.page.locator(".find-widget.visible").count()).toBe(0);
  await window.shot("log-find");
  await eventually("one is in the folded thought", async () => {
    await field.press("Enter");
    return (await count.textContent()) === "1 of 3";
  });
  const thought = window.panel.locator(".thought[open] .thought-text").first();
  await thought.waitFor();
  await eventually("it is marked, and on the screen", () =>
    thought.evaluate((element) => {
      const view = element.ownerDocument.defaultView;
      const marked = view?.CSS.highlights.get("codelaw-found-current");
      const [range] = marked === undefined ? [] : [...marked];
      if (view === null || !(range instanceof view.Range)) return false;
      const { top, bottom } = range.getBoundingClientRect();
      return (
        range.toString() === "walrus" && element.contains(range.startContainer) && top > 0 && bottom < view.innerHeight
      );
    }),
  );
  await window.shot("log-find-folded");
  await field.press("Escape");
  await eventually("the message has the focus again", () =>
    window.message.evaluate((element) => element === element.ownerDocument.activeElement),
  );
  await window.command("codelaw: Find in Chat");
  await field.waitFor();
  await field.press("Escape");

  // The menu is the editor's own, by the mouse and by keys.
  const entry = (name: string) => window.page.locator(".monaco-menu .action-item", { hasText: name });
  await turn
    .locator(".answer p")
    .first()
    .click({ button: "right", position: { x: 20, y: 5 } });
  await entry("Quote in Message").waitFor();
  await window.shot("log-menu");
  expect(await entry("Open File").count()).toBe(0);
  await window.choose("Quote in Message");
  await eventually("the answer is quoted", async () => (await window.message.inputValue()).startsWith("> The mean is"));
  // The find has unfolded it.
  await eventually("its menu is open", async () => {
    await turn.locator(".call summary").first().focus();
    await window.page.keyboard.press("Shift+F10");
    const there = entry("Open File").waitFor({ timeout: 10_000 });
    return there.then(
      () => true,
      () => false,
    );
  });
  await window.choose("Open File");
  await window.inFile("app.py");
});

test("in a chat of 2 000 messages older turns are read as one goes up in what is found", async () => {
  const { window, workbench } = at();
  execFileSync(PYTHON, ["-m", "tests.loopback.long_chat", `${workbench.folder}/home`], { cwd: ROOT, stdio: "pipe" });
  await window.command("codelaw: Show All Chats");
  await window.panel.locator('[data-chat-id="long"] .chat-open').press("Enter");
  await window.panel.locator(".answer", { hasText: "Answer 500:" }).waitFor();
  const before = await window.turns.count();
  await window.message.press("Control+f");
  const field = window.panel.getByRole("searchbox", { name: "Find in the chat" });
  const count = window.panel.locator(".find-count");
  await field.fill("Question 460:");
  await eventually("none so far", async () => ((await count.textContent()) ?? "").startsWith("Nothing found so far"));
  await field.press("Enter");
  await eventually("it is found", async () => (await count.textContent()) === "1 of 1+");
  expect(await window.turns.count()).toBeGreaterThan(before);
  const question = window.panel.locator(".question", { hasText: "Question 460:" });
  await eventually("it is on the screen", () =>
    question.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      const log = element.closest(".log")?.getBoundingClientRect();
      return log !== undefined && bottom > log.top && top < log.bottom;
    }),
  );
});
