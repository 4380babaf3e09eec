// What can be done to a turn that runs, and what is told of one that nobody sees.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const at = useWorkbench({ window: { files: { "a.txt": "one\n" } } });

test("one command is stopped, its turn goes on, and its steps fold into a line", async () => {
  const { window, vendor } = at();
  await vendor.play([
    call("run", "Bash", { command: "echo begun; exec sleep 600" }),
    call("read", "Read", { path: "a.txt" }),
    finish("I leave it."),
  ]);
  await window.say("Run it");
  await window.allow();
  await window.panel.locator(".call-live", { hasText: "begun" }).waitFor();
  await window.panel.getByRole("button", { name: /^Stop this command/ }).click();
  const turn = await window.ended();
  expect(await turn.locator(".answer").textContent()).toContain("I leave it.");
  expect((await vendor.requests()).at(-1)?.body).toContain("The user stopped the command");
  await turn.locator(".steps-line", { hasText: "1 failed" }).click();
  await turn.locator(".call-problem", { hasText: "The user stopped the command" }).waitFor();
  await window.shot("stopped");
});

test("a turn that ends while the panel is hidden is told, and shown from there", async () => {
  const { window, vendor } = at();
  await window.newChat();
  await vendor.play([call("run", "Bash", { command: "until [ -e go ]; do sleep 0.1; done" }), finish("It went.")]);
  await window.say("Wait for it");
  await window.allow();
  await window.panel.locator('.call[data-status="running"]').waitFor();
  await window.hidePanel();
  await writeFile(join(window.folder, "go"), "");
  const toast = window.page.locator(".notification-toast", { hasText: "codelaw has answered" });
  await toast.waitFor();
  await toast.getByRole("button", { name: "Show" }).click();
  await window.message.waitFor();
  await eventually(
    "the answer is shown",
    async () => (await window.lastTurn.textContent())?.includes("It went.") === true,
  );
});
