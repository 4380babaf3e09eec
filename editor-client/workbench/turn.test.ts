// Turns, approvals, edits and what the editor has open.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, tell } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const QUOTED = `my "quoted" file's notes.txt`;
const APP = "def greet(name):\n    return 'hello ' + name\n";
const TOTAL = "def total(basket):\n    return sum(PRICES[name] for name in basket)\n";
const FILES = {
  "src/app.py": APP,
  "src/keys.py": APP,
  "src/back.py": APP,
  "src/greet.py": APP,
  "src/other.py": "x = 1\n",
  "src/till.py": `PRICES = {"apple": 0.5, "pear": 0.7}\n\n\n${TOTAL}\n\n${TOTAL.replace("total", "worth")}`,
  "list.txt": "one\ntwo\n",
  "stop.txt": "stop\n",
  [QUOTED]: Array.from({ length: 60 }, (_, line) => `line ${line + 1} of the notes`).join("\n"),
};
const at = useWorkbench({ window: { files: FILES } });
const polite = (path: string) => ({ path, old_string: "'hello '", new_string: "'good day '" });

test("a turn reads and edits, is approved by mouse, compared in the editor's diff view, and accepted", async () => {
  const { window, vendor } = at();
  await vendor.play([
    call("I look at it first.", "Read", { path: "src/app.py" }),
    call("I make it polite.", "Edit", polite("src/app.py")),
    finish("It says **good day** now."),
  ]);
  await window.say("Greet politely in @src/app.py");
  await window.approval.waitFor();
  expect(await window.approval.textContent()).toContain("good day");
  expect(await window.read("src/app.py"), "nothing is changed before the answer").toBe(APP);
  await window.shot("approval");
  await window.allow();

  const turn = await window.ended();
  expect(await turn.locator(".question").textContent()).toContain("Greet politely");
  expect(await turn.locator(".answer strong").textContent()).toBe("good day");
  const statuses = await turn.locator(".call").evaluateAll((all) => all.map((one) => one.getAttribute("data-status")));
  expect(statuses).toEqual(["completed", "completed"]);
  expect(await window.read("src/app.py")).toBe(APP.replace("hello", "good day"));

  const change = turn.locator('.change[data-path="src/app.py"]');
  await change.getByRole("button", { name: "Diff" }).click();
  const diff = window.page.locator(".monaco-diff-editor");
  await diff.locator(".editor.original .view-line", { hasText: "hello" }).first().waitFor();
  await diff.locator(".editor.modified .view-line", { hasText: "good day" }).first().waitFor();
  await window.shot("diff");

  await turn.locator(".changes").getByRole("button", { name: "Accept" }).first().click();
  await turn.locator('.changes[data-settled="accepted"]').waitFor();
});

test("a small change is seen whole in the side bar as it opens, and is allowed at once", async () => {
  const { window, vendor } = at();
  await vendor.play([
    call("read", "Read", { path: "src/till.py" }),
    call("edit", "Edit", {
      path: "src/till.py",
      old_string: "total(basket):",
      new_string: "total(basket: list[str]):",
    }),
    finish("Done."),
  ]);
  await window.say("Say what a basket is");
  await window.approval.waitFor();
  const allow = window.approval.locator('button[data-option-kind="allow_once"]');
  await eventually("its end is in sight", async () => (await allow.getAttribute("aria-disabled")) === "false");
  await window.allow();
  await window.ended();
});

test("a long command is allowed only when its end was seen, also in a narrow panel", async () => {
  const { workbench, vendor } = at();
  // A view that was made narrow stays so: no other test is to have this window.
  const window = await workbench.open({ files: FILES });
  const quiet = Array.from({ length: 60 }, (_, line) => `# ${line} ${"nothing ".repeat(6)}`).join("\n");
  const command = `echo \u202ea\u200b\n${quiet}\necho the end`;
  await vendor.play([call("run", "Bash", { command, description: "List the files" }), finish("Done.")]);
  await window.page.setViewportSize({ width: 520, height: 700 });
  await window.say("Run it");
  await window.approval.waitFor();
  const allow = window.approval.locator('button[data-option-kind="allow_once"]');
  expect(await allow.getAttribute("aria-disabled")).toBe("true");
  await window.shot("long");
  await allow.click({ force: true });
  expect(await window.approval.count(), "it reads on instead").toBe(1);
  expect(await window.approval.textContent()).toContain("It goes on below");
  const box = window.approval.locator(".approval-body");
  expect(await box.evaluate((one) => one.scrollWidth - one.clientWidth), "long lines wrap").toBeLessThanOrEqual(1);
  await box.evaluate((one) => one.scrollTo({ top: one.scrollHeight }));
  await window.approval.locator(".approval-end").scrollIntoViewIfNeeded();
  await eventually("the end was in sight", async () => (await allow.getAttribute("aria-disabled")) === "false");
  await window.shot("long-end");
  await window.allow();
  await window.ended();
});

test("an approval is answered by the keyboard alone", async () => {
  const { window, vendor } = at();
  await vendor.play([
    call("read", "Read", { path: "src/keys.py" }),
    call("edit", "Edit", polite("src/keys.py")),
    finish("Refused, so I leave it."),
  ]);
  await window.command("codelaw: Open Chat");
  // A key before that would go to the editor.
  await window.focused(window.panel.locator("body"));
  await window.press("Tab", window.message);
  await window.page.keyboard.type("Greet politely");
  await window.page.keyboard.press("Enter");
  await window.approval.waitFor();
  // The card takes the focus of who is not writing.
  await window.focused(window.approval);
  await window.press("Tab", window.approval.getByRole("button", { name: /because/ }));
  await window.page.keyboard.press("Enter");
  await window.focused(window.approval.getByLabel("Why"));
  await window.page.keyboard.type("it is polite enough");
  await window.page.keyboard.press("Enter");
  const turn = await window.ended();
  expect(await turn.locator('.call[data-status="rejected"]').count()).toBe(1);
  expect(await window.read("src/keys.py")).toBe(APP);
  const last = (await vendor.requests()).at(-1);
  expect(last?.body).toContain("it is polite enough");

  await vendor.play([call("edit", "Edit", polite("src/keys.py")), finish("Done.")]);
  await window.focused(window.message);
  await window.page.keyboard.type("Do it all the same");
  await window.page.keyboard.press("Enter");
  await window.approval.waitFor();
  // The card takes the focus of who is not writing.
  await window.focused(window.approval);
  // A key of the first moment may have been meant for the message.
  await window.page.waitForTimeout(1000);
  await window.page.keyboard.press("1");
  await window.ended();
  expect(await window.read("src/keys.py")).toContain("good day");
});

test("what is typed in the editor and not saved is what the agent reads", async () => {
  const { window, vendor } = at();
  await vendor.play([call("read", "Read", { path: "list.txt" }), finish("I see it.")]);
  await window.openFile("list.txt");
  await window.page.locator(".editor-group-container.active .view-line").first().click();
  await window.page.keyboard.press("Control+Home");
  await window.page.keyboard.type("UNSAVED-WORD ");
  await window.ask("What stands in list.txt?");
  expect((await vendor.requests()).at(-1)?.body).toContain("UNSAVED-WORD one");
  expect(await window.read("list.txt")).toBe("one\ntwo\n");
});

// How long it takes is told, and not asserted.
test("stop ends a turn at once, and its text stays", async () => {
  const { window, vendor } = at();
  await vendor.play([finish(`A long story. ${"and then ".repeat(2_000)}`, { chunk: 9, delay: 0.02 })]);
  await window.say("Tell me a story");
  await window.lastTurn.locator(".answer", { hasText: "and then and then" }).waitFor();
  const took = await window.panel.locator("body").evaluate(async (body) => {
    const stop = [...body.querySelectorAll("button")].find((button) => button.textContent.includes("Stop"));
    const began = performance.now();
    stop?.click();
    while (body.querySelector('article.turn[data-state="cancelled"]') === null)
      await new Promise(requestAnimationFrame);
    return performance.now() - began;
  });
  tell(`stopped after ${took.toFixed()} ms`);
  expect(await window.lastTurn.locator(".answer").first().textContent()).toContain("A long story.");
  await eventually("the model's stream is closed", async () => (await vendor.requests())[0]?.closed_early === true);
});

test("a word said to the running turn steers it", async () => {
  const { window, vendor } = at();
  await vendor.play([call("wait", "Bash", { command: "until [ -e go ]; do sleep 0.1; done" }), finish("Steered.")]);
  await window.say("Wait for it");
  await window.allow();
  await window.panel.locator('.call[data-status="running"]').waitFor();
  await window.say("and mind the STEERED-WORD");
  await window.panel.locator('.steer[data-state="waiting"]').waitFor();
  await writeFile(join(window.folder, "go"), "");
  const turn = await window.ended();
  expect(await turn.locator(".steer").textContent()).toContain("STEERED-WORD");
  const requests = await vendor.requests();
  expect(requests[0]?.body).not.toContain("STEERED-WORD");
  expect(requests.at(-1)?.body).toContain("STEERED-WORD");
});

test("@ completes the name of a file, which the turn is shown", async () => {
  const { window, vendor } = at();
  await vendor.play([finish("It is one line.")]);
  await window.message.pressSequentially("What is in @oth", { delay: 30 });
  const option = window.panel.getByRole("listbox", { name: "Files" }).getByRole("option", { name: /other\.py/ });
  await option.first().waitFor();
  await window.page.keyboard.press("Enter");
  await eventually("it is completed", async () => (await window.message.inputValue()).includes("@src/other.py"));
  await window.page.keyboard.press("Enter");
  await window.ended();
  expect((await vendor.requests())[0]?.body).toContain("@src/other.py");
});

test("a turn is reverted from the panel", async () => {
  const { window, vendor } = at();
  await vendor.play([
    call("read", "Read", { path: "src/back.py" }),
    call("edit", "Edit", polite("src/back.py")),
    finish("Done."),
  ]);
  await window.say("Greet politely");
  await window.allow();
  const turn = await window.ended();
  expect(await window.read("src/back.py")).toContain("good day");
  await turn.locator(".changes").getByRole("button", { name: "Revert turn" }).click();
  await turn.locator(".changes").getByRole("button", { name: "Yes, revert" }).click();
  await turn.locator('.changes[data-settled="reverted"]').waitFor();
  expect(await window.read("src/back.py")).toBe(APP);
});

test("a selection is explained from the palette and from the editor's menu", async () => {
  const { window, vendor } = at();
  await vendor.play([finish("It **greets**."), finish("It greets *again*.")]);
  await window.openFile("greet.py");
  await window.page.locator(".editor-group-container.active .view-line").first().click();
  await window.page.keyboard.press("Control+a");
  await window.command("codelaw: Explain Selection");
  await window.lastTurn.locator(".answer strong", { hasText: "greets" }).waitFor();
  expect((await vendor.requests())[0]?.body).toContain("def greet(name)");
  await window.ended();

  await window.page.locator(".editor-group-container.active .view-line").first().click();
  await window.page.keyboard.press("Control+a");
  await window.page.locator(".editor-group-container.active .view-line").first().click({ button: "right" });
  await window.page.locator(".context-view .action-label", { hasText: "codelaw" }).first().hover();
  await window.choose("Explain Selection");
  await window.panel.locator(".answer em", { hasText: "again" }).waitFor();
});

test("a file whose name has spaces and quotes is opened at its line from an answer and from a call", async () => {
  const { window, vendor } = at();
  const link = encodeURIComponent(QUOTED);
  await vendor.play([
    call("read", "Read", { path: QUOTED, offset: 40, limit: 3 }),
    finish(`See [the notes](${link}#L42).`),
  ]);
  const turn = await window.ask("Where is it?");
  expect(await turn.locator(".call").first().textContent()).toContain(QUOTED);
  await turn.locator(".answer a, .answer button", { hasText: "the notes" }).first().click();
  await window.tab(QUOTED).waitFor();
  await window.page.locator(".statusbar-item", { hasText: "Ln 42" }).waitFor();
});
