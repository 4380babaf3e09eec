// From nothing: the server that the extension carries goes into an environment of its own. That takes a minute and the
// network, so it is only done where CODELAW_TEST_REQUIRE names the workbench.
import { readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { PYTHON } from "./places";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

// Without the server of the checkout, and with the Python that the machine itself has.
const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !PYTHON.startsWith(folder));
const at = useWorkbench({
  settings: { "codelaw.server.command": [] },
  env: { PATH: path.join(delimiter), VIRTUAL_ENV: "" },
  window: { files: { "a.txt": "x\n" } },
});

const required = (process.env["CODELAW_TEST_REQUIRE"] ?? "").split(",").includes("workbench");
test.runIf(required)("the server is installed by one click, starts, and answers", async () => {
  const { window, workbench, vendor } = at();
  await vendor.play([finish("Hello from the installed one.")]);
  const install = window.panel.locator('.banner[data-phase="missing"]').getByRole("button", { name: "Install Server" });
  await install.click();
  await window.panel.locator('.banner[data-phase="installing"]').waitFor();
  await window.shot("installing");
  await window.panel.locator(".banner[data-phase]").waitFor({ state: "detached", timeout: 500_000 });
  const turn = await window.ask("Hello?");
  expect(await turn.locator(".answer").textContent()).toContain("Hello from the installed one.");
  const storage = join(workbench.folder, "user", "User", "globalStorage", "codelaw.codelaw");
  const environment = readdirSync(storage).find((name) => name.startsWith("server-")) ?? "";

  // What reads source code is there from the beginning.
  await vendor.play([call("I search", "search_code", { query: "x" }), finish("Found it.")]);
  await window.ask("Where is x?");
  const inEnvironment = readdirSync(join(storage, environment));
  expect(inEnvironment.filter((name) => name.startsWith("codelaw-extra"))).toEqual([]);
});
