// What is done where the cursor is: an edit of a selection, the message of a commit, a problem that is explained.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { finish } from "./vendor";
import type { Window } from "./window";
import { useWorkbench } from "./workbench";

const CODE = "import os\n\n\ndef add(a, b):\n    return a - b\n";
const LAW = "# Law\n\n- Read @missing.md first.\n";
const at = useWorkbench({ git: true, window: { files: { "app.py": CODE, "CODE_LAW.md": LAW } } });

const lens = (window: Window, title: string): Locator =>
  window.page.locator(".codelens-decoration", { hasText: title }).first();
/** The text of the editor in front, in which a space may be of another kind. */
const shown = async (window: Window): Promise<string> => {
  const lines = await window.page.locator(".editor-group-container.active .monaco-editor .view-line").allTextContents();
  return lines.join("\n").replaceAll("\u00a0", " ");
};

/** Select the function and say what it should be. */
async function edit(window: Window, words: string): Promise<void> {
  await window.openFile("app.py");
  await eventually("the function is selected", async () => {
    await window.page.keyboard.press("Control+Home");
    for (let line = 0; line < 3; line++) await window.page.keyboard.press("ArrowDown");
    for (let line = 0; line < 2; line++) await window.page.keyboard.press("Shift+ArrowDown");
    return (await window.page.locator(".statusbar").textContent())?.includes("(32 selected)");
  });
  const input = window.page.locator(".quick-input-widget input[type=text]");
  await eventually("it is asked what to change", async () => {
    await window.page.keyboard.press("Control+k");
    await window.page.keyboard.press("g");
    return window.page
      .locator(".quick-input-title", { hasText: "Edit app.py:4-5" })
      .waitFor({ timeout: 10_000 })
      .then(
        () => true,
        () => false,
      );
  });
  await input.fill(words);
  await window.page.keyboard.press("Enter");
}

test("an edit is proposed beside the file, made when it is accepted, and one step takes it back", async () => {
  const { window, vendor } = at();
  await vendor.play([finish("It adds now.\n\n```py\ndef add(a, b):\n    return a + b\n```")]);
  await edit(window, "make it add");
  const tab = window.page.locator(".tabs-container .tab.active", { hasText: "proposed by codelaw" });
  await tab.waitFor();
  const right = window.page.locator(".monaco-diff-editor .editor.modified .view-line", { hasText: /a\s\+\sb/ });
  await right.waitFor();
  expect(await window.read("app.py")).toBe(CODE);
  expect((await vendor.requests()).at(-1)?.body).toContain("Change lines 4–5 of app.py like this: make it add");
  const accept = window.page.locator('.editor-actions a[aria-label^="Accept Edit"]');
  await accept.waitFor();
  const themes = { dark: "Default Dark Modern", light: "Default Light Modern", contrast: "Default High Contrast" };
  for (const [name, theme] of Object.entries(themes)) {
    at().workbench.set({ "git.enabled": true, "workbench.colorTheme": theme });
    const kind = { dark: "vs-dark", light: "vs", contrast: "hc-black" }[name] ?? "";
    await window.page.locator(`.monaco-workbench.${kind}`).waitFor();
    await window.shot(`edit-${name}`);
  }
  at().workbench.set({ "git.enabled": true });
  await window.page.locator(".monaco-workbench.vs-dark").waitFor();

  await window.page.locator(".tabs-container .tab", { hasNotText: "proposed by codelaw" }).first().click();
  await lens(window, "Accept").waitFor();
  await window.shot("edit-lenses");
  // The lenses of a file that comes back are at first pictures of the old ones, and no links.
  await lens(window, "Compare").locator("a", { hasText: "Compare" }).click();
  await tab.waitFor();
  await accept.waitFor();
  await right.first().click();
  await window.page.keyboard.press("Control+Enter");
  await tab.waitFor({ state: "hidden" });
  await window.inFile("app.py");
  await eventually("the file has it", async () => (await shown(window)).includes("return a + b"));
  expect(await window.read("app.py"), "nothing is saved").toBe(CODE);
  await window.page.keyboard.press("Control+z");
  await eventually("one step takes it back", async () => (await shown(window)).includes("return a - b"));
});

test("an edit that runs is stopped by Escape, and nothing stays of it", async () => {
  const { window, vendor } = at();
  await vendor.play([finish("word ".repeat(3000), { delay: 0.05 })]);
  await edit(window, "make it slow");
  await lens(window, "codelaw is writing").waitFor();
  await window.shot("edit-running");
  await eventually("the model is asked", async () => (await vendor.requests()).length === 1);
  await window.page.keyboard.press("Escape");
  await lens(window, "codelaw is writing").waitFor({ state: "hidden" });
  await eventually("the request is closed", async () => (await vendor.requests())[0]?.closed_early);
  expect(await window.page.locator(".tab", { hasText: "proposed by codelaw" }).count()).toBe(0);
});

test("the message of a commit is written into the box of the source control view", async () => {
  const { window, vendor } = at();
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", ...args], {
      cwd: window.folder,
      encoding: "utf8",
    });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "Add the first files");
  writeFileSync(join(window.folder, "new.py"), "count = 2\n");
  git("add", "new.py");
  await vendor.play([finish("```\nCount to two\n\nOne was not enough.\n```")]);
  await window.reload();
  // The key for it is one or two strokes, as git's extension is there or not yet.
  const name = window.page.locator('a[aria-label^="Source Control"]');
  await window.page.locator(".activitybar .action-item", { has: name }).click(); // its number lies over its name
  const button = window.page.locator('a[aria-label*="Write Commit Message"]').first();
  await eventually("the view's title has its buttons", async () => {
    await window.page.locator(".pane-header", { hasText: "Changes" }).first().hover();
    return button.isVisible();
  });
  // While git still looks at the folder, the view's title is made anew under the mouse.
  await window.page.locator(".scm-view .monaco-list-row", { hasText: "new.py" }).first().waitFor();
  await window.shot("commit-message-button");
  await button.click();
  const box = window.page.locator(".scm-editor .view-line");
  await eventually("the message is in the box", async () =>
    (await box.allTextContents()).join("\n").replaceAll("\u00a0", " ").includes("Count to two\n\nOne was not enough."),
  );
  await window.shot("commit-message");
  expect((await vendor.requests()).at(-1)?.body).toContain("+count = 2");
  expect(git("log", "--format=%s").trim()).toBe("Add the first files");
});

test("a problem is explained from the list of problems", async () => {
  const { window, vendor } = at();
  await vendor.play([finish("There is no such file.")]);
  await window.command("View: Close All Editors");
  await window.page.keyboard.press("Control+Shift+m");
  // The file is opened by this click, and what is reported of it again must leave the list of fixes alone.
  const problem = window.page.locator(".markers-panel .monaco-list-row", { hasText: "missing.md" }).last();
  await problem.waitFor();
  await problem.click();
  const action = window.page.getByText("codelaw: explain this diagnostic").first();
  await eventually("its fixes are offered", async () => {
    await window.page.keyboard.press("Control+.");
    return action.waitFor({ timeout: 10_000 }).then(
      () => true,
      () => false,
    );
  });
  await window.shot("problem");
  // The menu may be made anew under the mouse, as long as the editor still hears of problems.
  await eventually("the fix is chosen", async () => {
    if (await action.isVisible()) await action.click({ timeout: 5_000 }).catch(() => undefined);
    return action.waitFor({ state: "hidden", timeout: 5_000 }).then(
      () => true,
      () => false,
    );
  });
  await eventually("its turn is there", async () => (await window.turns.count()) === 1);
  await window.ended();
  const asked = (await vendor.requests()).at(-1)?.body ?? "";
  expect(asked).toContain("Explain this diagnostic of codelaw in CODE_LAW.md");
  expect(asked).toContain('<attachment title=\\"message of the diagnostic\\">');
});
