// What turns did to files: compared all at once, kept or undone by file and by part.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const HOSTILE = "a #1%20 'b\" 100%.py";
const LINES = Array.from({ length: 12 }, (_, line) => `line_${line + 1} = ${line + 1}\n`).join("");
const FILES = { "parts.py": LINES, [HOSTILE]: LINES, "gone.py": LINES, "old.py": "moved = True\n", "other.py": LINES };
const at = useWorkbench({ window: { files: FILES } });

const edit = (path: string, line: number) =>
  call("edit", "Edit", { path, old_string: `line_${line} = ${line}\n`, new_string: `line_${line} = "new"\n` });
const read = (path: string) => call("read", "Read", { path });

test("all files of a turn are compared at once, kept or undone by file, and that survives a reload", async () => {
  const { window, vendor } = at();
  await vendor.play([
    read(HOSTILE),
    edit(HOSTILE, 2),
    read("parts.py"),
    edit("parts.py", 3),
    edit("parts.py", 9),
    call("write", "Write", { path: "made.py", content: "made = True\n" }),
    call("move", "Bash", { command: "mv old.py new.py && rm gone.py" }),
    finish("Done."),
  ]);
  await window.openFile("parts.py");
  await window.showPanel();
  await window.say("Change them");
  await eventually("the turn ends", async () => {
    if (await window.approval.isVisible()) await window.allow();
    return (await window.lastTurn.getAttribute("data-state")) === "finished";
  });
  const pending = window.panel.locator(".pending");
  await pending.waitFor();
  expect(await pending.locator("summary").textContent()).toMatch(/^[5-7] files changed$/);
  await pending.locator("summary").click();
  await pending.locator(`.pending-file[data-path=${JSON.stringify(HOSTILE)}]`).waitFor();
  await window.shot("review-panel");

  await window.lastTurn.locator(".changes").getByRole("button", { name: "Review changes" }).click();
  const many = window.page.locator(".monaco-component.multiDiffEditor");
  await many.locator(".file-path", { hasText: HOSTILE }).first().waitFor();
  await many.locator(".editor.modified .view-line", { hasText: 'line_2 = "new"' }).first().waitFor();
  await window.shot("review-many");
  await window.command("View: Close All Editors");

  await pending.getByRole("button", { name: `Keep ${HOSTILE}` }).click();
  await pending.locator(`.pending-file[data-path=${JSON.stringify(HOSTILE)}]`).waitFor({ state: "detached" });
  await pending.getByRole("button", { name: "Undo made.py" }).click();
  await pending.locator('.pending-file[data-path="made.py"]').waitFor({ state: "detached" });
  await expect(readFile(join(window.folder, "made.py"))).rejects.toThrow();

  const before = await pending.locator(".pending-file").count();
  // With it goes which chat the panel shows.
  await window.message.fill("a draft of the review");
  await window.keeps("a draft of the review");
  await window.reload();
  await window.showPanel();
  await pending.waitFor();
  await pending.locator("summary").click();
  await eventually("as many wait", async () => (await pending.locator(".pending-file").count()) === before);
  expect(await pending.locator(`.pending-file[data-path=${JSON.stringify(HOSTILE)}]`).count()).toBe(0);
});

test("a part of an open file is rejected where it stands by then, and the last one ends the review", async () => {
  const { window } = at();
  await window.openFile("parts.py");
  const editor = window.page.locator(".editor-group-container.active .monaco-editor").first();
  const lens = (title: string) => editor.locator(".codelens-decoration a", { hasText: title });
  await lens("2 changes by codelaw").first().waitFor();
  await eventually("the file and its parts have lenses", async () => (await lens("Reject").count()) === 3);
  await window.shot("review-parts");
  await window.page.keyboard.press("Control+Home");
  await window.page.keyboard.type("typed = 1\n");
  await eventually("the parts have moved", async () => (await lens("Reject").count()) === 3);
  await lens("Reject").nth(1).click();
  await editor.locator(".view-line", { hasText: "line_3 = 3" }).first().waitFor();
  await lens("1 change by codelaw").first().waitFor();
  await eventually("one part is left", async () => (await lens("Accept").count()) === 2);
  await lens("Accept").nth(1).click();
  await eventually("nothing waits", async () => (await lens("by codelaw").count()) === 0);
  const saved = await window.read("parts.py");
  expect(saved).toBe(`typed = 1\n${LINES.replace("line_9 = 9", 'line_9 = "new"')}`);
});

test("remarks on lines outlive the window, and go off together as one question to the chat", async () => {
  const { window, vendor } = at();
  await vendor.play([finish("Because it was asked for.")]);
  await window.openFile("new.py");
  const editor = window.page.locator(".editor-group-container.active .monaco-editor").first();
  await editor.locator(".codelens-decoration a", { hasText: "by codelaw" }).first().waitFor();
  await editor.locator(".comment-range-glyph").first().waitFor({ state: "attached" });
  // The editor looks whether a remark may be made when the cursor moves.
  await window.page.keyboard.press("Control+End");
  await window.page.keyboard.press("Control+Home");
  await window.command("Add Comment on Current Selection");
  const box = window.page.locator(".review-widget");
  await box.locator(".monaco-editor.focused").waitFor();
  await window.page.keyboard.type("Why was this moved?");
  await box.getByRole("button", { name: "Add Remark" }).click();
  await box.locator(".review-comment", { hasText: "Why was this moved?" }).waitFor();
  await window.page.keyboard.press("Control+Home");
  await window.shot("review-remark");
  await window.keeps("Why was this moved?");
  await window.reload();
  await window.showPanel();
  await window.openFile("new.py");
  await box.locator(".review-comment", { hasText: "Why was this moved?" }).waitFor();
  await window.shot("review-remark-again");
  await window.command("codelaw: Send Remarks to codelaw");
  const question = window.lastTurn.locator(".question");
  await question.waitFor();
  const asked = (await question.textContent()) ?? "";
  for (const part of ["new.py", "line 1", "moved = True", "Why was this moved?"]) expect(asked).toContain(part);
  await window.ended();
  await box.waitFor({ state: "detached" });
});

test("what is left is undone at once, also where a file was deleted since", async () => {
  const { window } = at();
  await writeFile(join(window.folder, "new.py"), "somebody = 'else'\n");
  await window.command("codelaw: Show All Chats");
  await window.panel.locator(".chat-row", { hasText: "Change them" }).locator("button").first().click();
  const pending = window.panel.locator(".pending");
  await pending.getByRole("button", { name: "Undo all" }).click();
  await pending.getByRole("button", { name: "Yes, undo" }).click();
  await eventually("the file is back", async () => (await window.read("gone.py").catch(() => "")) === LINES);
  const told = window.page.locator(".notification-list-item", { hasText: "new.py" });
  await told.first().waitFor();
  await window.shot("review-conflict");
  expect(await window.read("new.py")).toBe("somebody = 'else'\n");
});
