// A folder that the editor does not trust.
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const FILES = { "CODE_LAW.md": "# Law\n- LAW_CANARY\n", "a.txt": "one\n" };
const at = useWorkbench({
  restricted: true,
  settings: { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" },
  window: { files: FILES, settings: { "codelaw.prompts.persona": "PERSONA_CANARY", "codelaw.turn.maxSteps": 1 } },
});

test("what it holds is read and not obeyed, nothing is written in it, and its trust ends that at once", async () => {
  const { window, vendor } = at();
  const write = { path: "a.txt", old_string: "one", new_string: "two" };
  await vendor.play([call("I change it.", "Edit", write), finish("Not now."), finish("Now it counts.")]);
  const banner = window.panel.locator('.banner[data-phase="restricted"]');
  await banner.waitFor();
  await window.shot("restricted");
  const turn = await window.ask("Change a.txt");
  expect(await turn.textContent()).toContain("Not now.");
  expect(await window.approval.count()).toBe(0);
  expect(await window.read("a.txt")).toBe("one\n");
  const [first] = await vendor.requests();
  expect(first?.body).not.toContain("PERSONA_CANARY");

  await banner.getByRole("button", { name: "Manage trust" }).click();
  await window.page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true }).click();
  await banner.waitFor({ state: "detached" });
  await eventually("the law counts", async () => {
    await vendor.play([finish("Now it counts.")]);
    await window.newChat();
    await window.ask("And now?");
    return ((await vendor.requests()).at(-1)?.body ?? "").includes("LAW_CANARY");
  });
});
