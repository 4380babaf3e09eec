// Words to a turn that ends before the model has read them.
import { test } from "vitest";
import { eventually } from "./processes";
import { finish } from "./vendor";
import { useWorkbench } from "./workbench";

const at = useWorkbench({ window: { files: { "a.txt": "one\n" } } });

test.each([false, true])("come back to the message when it is stopped; the panel was hidden: %s", async (hidden) => {
  const { window, vendor } = at();
  await vendor.play([finish("Slow.", { wait: 60 })]);
  await window.say("Take your time");
  await window.panel.getByRole("button", { name: /^Stop/ }).waitFor();
  await window.say("Words that wait");
  await window.panel.locator('.steer[data-state="waiting"]').waitFor();
  if (hidden) {
    await window.hidePanel();
    await window.showPanel();
  }
  await window.panel.getByRole("button", { name: /^Stop/ }).click();
  await window.ended("cancelled");
  await eventually("they are back", async () => (await window.message.inputValue()) === "Words that wait");
  await window.message.fill("");
});
