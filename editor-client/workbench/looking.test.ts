// What the user looks at goes along with the message, as the chip above it says.
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { finish } from "./vendor";
import { useWorkbench } from "./workbench";

const FILES = {
  "src/app.py": Array.from({ length: 40 }, (_, line) => `line_${line + 1} = ${line + 1}\n`).join(""),
  ".env": "SECRET_CANARY=1\n",
};
const at = useWorkbench({ window: { files: FILES } });

test("five selected lines go along with a question, a removed chip sends nothing, a hidden file is never sent", async () => {
  const { window, vendor } = at();
  await vendor.play([finish("One."), finish("Two."), finish("Three.")]);
  const asked = async () => (await vendor.requests()).at(-1)?.body ?? "";
  const chip = window.panel.getByRole("group", { name: "What you look at" });

  await window.openFile("app.py");
  await eventually("five lines are selected", async () => {
    await window.page.keyboard.press("Control+Home");
    for (let line = 1; line < 12; line++) await window.page.keyboard.press("ArrowDown");
    for (let line = 0; line < 5; line++) await window.page.keyboard.press("Shift+ArrowDown");
    return (await window.page.locator(".statusbar").textContent())?.includes("Ln 17, Col 1 (65 selected)");
  });
  await window.showPanel();
  await eventually("the chip names the lines", async () => (await chip.textContent()) === "src/app.py:12-16");
  await window.shot("looking");
  await window.ask("What does this do?");
  expect(await asked()).toContain('<active-editor path=\\"src/app.py\\" language=\\"python\\"');
  expect(await asked()).toContain(
    "Lines 12-16 are selected:\\n12\\tline_12 = 12\\n13\\tline_13 = 13\\n14\\tline_14 = 14\\n15\\tline_15 = 15\\n" +
      "16\\tline_16 = 16\\n</active-editor>",
  );

  await window.newChat();
  await chip.getByRole("button", { name: "Do not send src/app.py:12-16" }).click();
  await window.ask("And without it?");
  expect(await asked()).not.toContain("active-editor");

  await window.openFile(".env");
  await window.showPanel();
  await eventually("the chip says why", async () => (await chip.textContent()) === ".envnot sent: hidden or ignored");
  await window.command("View: Toggle Primary Side Bar Visibility");
  await window.page.setViewportSize({ width: 440, height: 700 });
  const parts = chip.locator(".looking-file, .looking-note, button");
  await eventually("a narrow panel shows the name, the reason and the button whole", () =>
    parts.evaluateAll(
      (all) =>
        all.length === 3 &&
        all.every((one) => {
          const [inner, outer] = [one.getBoundingClientRect(), one.closest(".looking")?.getBoundingClientRect()];
          return outer !== undefined && inner.width > 10 && inner.left >= outer.left && inner.right <= outer.right;
        }),
    ),
  );
  await window.shot("looking-hidden");
  await window.page.setViewportSize({ width: 1280, height: 860 });
  await window.newChat();
  await window.ask("And this?");
  expect(await asked()).not.toContain("active-editor");
  expect(await asked()).not.toContain("SECRET_CANARY");
});
