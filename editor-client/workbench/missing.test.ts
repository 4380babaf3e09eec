// A server that cannot be started.
import { expect, test } from "vitest";
import { useWorkbench } from "./workbench";

const SETTINGS = { "codelaw.server.command": ["/nowhere/codelaw"] };
const at = useWorkbench({ settings: SETTINGS, window: { files: { "a.txt": "x\n" } } });

test("a command that does not run is said clearly with what to do, and a better one is taken at once", async () => {
  const { window, workbench } = at();
  const banner = window.panel.locator('.banner[data-phase="missing"]');
  await banner.waitFor();
  expect(await banner.textContent()).toContain("codelaw.server.command");
  const titles = await banner.getByRole("button").allTextContents();
  expect(titles.join(" ")).toMatch(/Settings/);
  await window.shot("missing");
  await window.message.fill("kept");
  await window.message.press("Enter");
  expect(await window.message.inputValue(), "what was typed is not lost").toBe("kept");

  workbench.set({});
  await banner.waitFor({ state: "detached" });
  await workbench.server();
});
