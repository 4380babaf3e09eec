// How the extension starts where something is missing.
import { expect, test } from "vitest";
import { useWorkbench } from "./workbench";

const without = useWorkbench({ withoutKey: true, window: { files: { "a.txt": "x\n" } } });

test("without a key the offline model answers, and the panel says how to set one", async () => {
  const { window } = without();
  const key = window.panel.getByRole("button", { name: "Set API key" });
  await key.first().waitFor();
  await window.shot("offline");
  const turn = await window.ask("Hello?");
  expect((await turn.locator(".answer").textContent())?.trim()).not.toBe("");

  await key.first().click();
  const input = window.page.locator(".quick-input-widget input");
  await input.first().waitFor();
  expect(await input.first().getAttribute("type")).toBe("password");
  await window.page.keyboard.press("Escape");
});
