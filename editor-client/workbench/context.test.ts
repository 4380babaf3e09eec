// The window of the model: what is in it, and how it is compacted and brought back.
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { finish } from "./vendor";
import { useWorkbench } from "./workbench";

const at = useWorkbench({
  window: { files: { "a.txt": "x\n", ".codelaw/config.toml": "[context]\nkeepRounds = 1\n" } },
});

test("a chat is compacted with its progress and report, looked into, and brought back", async () => {
  const { window, vendor } = at();
  const long = (word: string): string => `${word} ${`${word} is a word that fills the window. `.repeat(60)}`;
  await vendor.play(["alpha", "beta", "gamma", "delta"].map((word) => finish(long(word))));
  for (const word of ["alpha", "beta", "gamma", "delta"]) await window.ask(`Say ${word}`);

  const bar = window.panel.locator("button.window-bar");
  await eventually("it says how full it is", async () =>
    /^Context: \d/.test((await bar.getAttribute("aria-label")) ?? ""),
  );
  await bar.click();
  await window.panel.locator('main[data-page="context"]').waitFor();
  const layers = window.panel.locator(".context-bar .segment");
  await layers.first().waitFor();
  const names = await layers.evaluateAll((all) => all.map((one) => one.getAttribute("data-layer")));
  expect(names).toContain("L1");
  await window.panel.locator(".trigger").first().waitFor({ state: "attached" });
  await window.panel.locator("details[data-section]").first().locator("summary").click();
  await window.shot("context");

  await window.panel.getByRole("button", { name: "Compact", exact: true }).click();
  const undo = window.panel.getByRole("button", { name: "Undo compaction" }).first();
  await undo.waitFor();
  expect(await window.panel.locator("main").textContent()).toMatch(/summar/i);
  await window.shot("compacted");
  expect((await vendor.requests()).filter(({ summary }) => summary)).toHaveLength(1);

  await vendor.play([finish("one"), finish("two")]);
  await window.showChat();
  await window.panel.locator('.turns .compaction[data-phase="finished"]', { hasText: "archived" }).waitFor();
  await window.ask("What now?");
  const after = (await vendor.requests()).at(-1)?.body ?? "";
  expect(after).toContain("SUMMARYCANARY");
  expect(after).not.toContain("alpha is a word");

  await window.command("codelaw: Show Context");
  await undo.click();
  await window.panel.getByRole("button", { name: "Yes, undo" }).click();
  await window.panel.locator("main", { hasText: /4 of 4 rounds|5 of 5 rounds/ }).waitFor();
  await window.showChat();
  await window.ask("And now?");
  const restored = (await vendor.requests()).at(-1)?.body ?? "";
  expect(restored).toContain("alpha is a word");
  expect(restored).not.toContain("SUMMARYCANARY");
});
