// What a model or a program may say to do harm.
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, finish } from "./vendor";
import { useWorkbench } from "./workbench";

const at = useWorkbench({ window: { files: { "a.txt": "x\n" } } });
const asked: string[] = [];
let trap: Server;
let address = "";

beforeAll(async () => {
  trap = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  }).listen(0, "127.0.0.1");
  await once(trap, "listening");
  const where = trap.address();
  if (where === null || typeof where === "string") throw new Error("no port");
  address = `http://127.0.0.1:${where.port}`;
});
afterAll(() => trap.close());

test("hostile Markdown runs nothing, loads nothing, and leads nowhere", async () => {
  const { window, vendor } = at();
  const hostile = [
    `<script>fetch("${address}/script"); document.title = "owned"</script>`,
    `<img src="${address}/img" onerror="fetch('${address}/onerror')">`,
    `<iframe src="${address}/frame"></iframe><style>@import "${address}/style";</style>`,
    `<svg onload="fetch('${address}/svg')"></svg><a href="javascript:fetch('${address}/html')">raw</a>`,
    `![picture](${address}/x.png) ![data](data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=)`,
    `[click](javascript:fetch('${address}/click')) [command](command:workbench.action.closeWindow)`,
    `[entity](java&#115;cript:fetch('${address}/entity')) [web](${address}/web)`,
    "| a | b\n|---|\n| `open | **cell |\n\n```html\n<script>x</script>\n",
  ].join("\n\n");
  await vendor.play([finish(hostile, { chunk: 7 })]);
  const turn = await window.ask("Do your worst");
  const answer = turn.locator(".answer").first();
  expect(await answer.locator("script, img, iframe, style, svg[onload], object, embed, form").count()).toBe(0);
  const reached = await answer.locator("a").evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  expect(reached.filter((href) => /^(javascript|command|data):/i.test(href))).toEqual([]);
  for (const name of ["click", "command", "entity", "raw"]) {
    const link = answer.getByText(name, { exact: true }).first();
    if ((await link.count()) > 0) await link.click({ timeout: 30_000 });
  }
  await window.page.waitForTimeout(500);
  expect(asked, "nothing was fetched").toEqual([]);
  expect(await window.message.isVisible()).toBe(true);
  expect(window.said.filter((line) => /Content.Security.Policy|Refused to/i.test(line))).toEqual([]);
  await window.shot("hostile");
});

test("colours of a command's output are shown, and its other escapes are not", async () => {
  const { window, vendor } = at();
  const command = String.raw`printf '\033[31mred\033[0m plain \033]0;title\007<b>bold</b> \033[2Jend\n'`;
  await vendor.play([call("run it", "Bash", { command }), finish("It is red.")]);
  await window.say("Run it");
  await window.allow();
  const turn = await window.ended();
  const tool = turn.locator(".call").first();
  await tool.locator("summary, button").first().click();
  // The arguments are there at once; what the command has printed is read when the row is opened.
  await tool.locator('[class*="ansi"]', { hasText: "red" }).first().waitFor();
  const shown = (await tool.textContent()) ?? "";
  expect(shown).toContain("<b>bold</b>");
  expect(shown).not.toMatch(/\u001b/);
  expect(await tool.locator("b").count()).toBe(0);
  await window.shot("ansi");
});
