// A model and a tool that another extension brings into the editor: chosen and allowed by a person, without any key.
import { expect, test } from "vitest";
import { eventually } from "./processes";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const FILES = { "src/app.py": "def greet(name):\n    return 'hello ' + name\n" };
const at = useWorkbench({ withoutKey: true, lender: true, window: { files: FILES } });

test("the picker shows it under its own heading, and it answers a turn with a tool call", async () => {
  const { window, vendor } = at();
  await vendor.play([call("I look.", "Read", { path: "src/app.py" }), finish("It greets.")]);
  const banner = window.panel.locator('.banner[data-phase="offline"]');
  await banner.getByRole("button", { name: "Choose model" }).click();
  const row = window.panel.getByRole("option", { name: /editor\/lender\/loop/ });
  await row.waitFor();
  const headings = await window.panel.locator(".choice-heading").allTextContents();
  expect(headings[0]).toBe("From VS Code");
  expect(headings.length, "and others under theirs").toBeGreaterThan(1);
  await window.shot("lent-picker");
  await row.click();
  expect(await vendor.requests(), "nothing is asked before a message").toEqual([]);

  const turn = await window.ask("What does @src/app.py do?");
  expect(await turn.locator(".answer").textContent()).toContain("It greets.");
  expect(await turn.locator('.call[data-status="completed"]').count()).toBe(1);
  const asked = await vendor.requests();
  expect(asked).toHaveLength(2);
  expect(asked[1]?.body).toContain("hello ");
  await window.shot("lent-turn");
});

test("stop ends its reply", async () => {
  const { window, vendor } = at();
  await vendor.play([finish(`A long story. ${"and then ".repeat(2_000)}`, { chunk: 9, delay: 0.02 })]);
  await choose();
  await window.say("Tell me a story");
  await window.lastTurn.locator(".answer", { hasText: "and then and then" }).waitFor();
  await window.panel.getByRole("button", { name: /^Stop/ }).first().click();
  await window.ended("cancelled");
  await eventually("the model is left", async () => (await vendor.requests())[0]?.closed_early === true);
});

test("a consent that is refused is told, with what can be done", async () => {
  const { window, vendor } = at();
  await vendor.play([{ status: 403, error_type: "permission_error", error_message: "not allowed" }]);
  await choose();
  const turn = await window.ask("Hello", "failed");
  const words = await turn.textContent();
  expect(words).toContain("does not let codelaw use");
  expect(words).toContain("allow it when the editor asks");
  await turn.getByRole("button", { name: "Choose Model" }).waitFor();
  await window.shot("lent-refused");
});

test("its tool is called once a person has allowed it, and what it gives or how it fails is told", async () => {
  const { window, vendor } = at();
  const look = (word: string) => call("I look.", "mcp__editor__lender_word", { word });
  await vendor.play([look("law"), look("broken"), finish("It binds.")]);
  await choose();
  await window.say("What is a law?");
  await window.approval.waitFor();
  expect(await window.approval.textContent()).toContain("mcp__editor__lender_word");
  await window.shot("lent-tool");
  await window.allow();
  await eventually("the next call is asked about", async () =>
    ((await window.approval.textContent()) ?? "").includes("broken"),
  );
  await window.allow();
  const turn = await window.ended();
  expect(await turn.locator('.call[data-status="completed"]').count()).toBe(1);
  expect(await turn.locator('.call[data-status="failed"]').count()).toBe(1);
  const [first, second, third] = (await vendor.requests()).map(({ body }) => body);
  expect(first).toContain("Looks a word up in the lender's dictionary.");
  expect(second).toContain("law is a rule\\n that binds.");
  expect(second).toContain("image/png");
  expect(third).toContain("The dictionary is closed.");
});

test("stop ends its tool", async () => {
  const { window, vendor } = at();
  await vendor.play([call("I look.", "mcp__editor__lender_word", { word: "endless" })]);
  await choose();
  await window.say("What is endless?");
  await window.allow();
  await window.lastTurn.locator('.call[data-status="running"]').waitFor();
  await window.panel.getByRole("button", { name: /^Stop/ }).first().click();
  await window.ended("cancelled");
});

/** Choose the lent model for the chat at hand, by its name. */
async function choose(): Promise<void> {
  const { window } = at();
  await window.panel.getByRole("button", { name: /^Model:/ }).click();
  await window.panel.getByRole("option", { name: /editor\/lender\/loop/ }).click();
}
