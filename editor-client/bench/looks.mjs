// The panel's looks: `node bench/looks.mjs [FOLDER] [SCENE…]` draws every scene of scenes.mjs in four themes and two
// widths, one contact sheet for each theme and width, and says what axe finds wrong with colours and all else.
import { mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildPanel, openBrowser, openPanel, READY, THEMES } from "./page.mjs";
import { SCENES } from "./scenes.mjs";

const WIDTHS = [400, 240];
const HEIGHT = 620;
/** Without colours: they are put on afterwards. */
const BARE = "bare";
THEMES[BARE] = {};
const ACROSS = { 400: 7, 240: 10 };
/** What is the editor's, not the panel's; and the colon in the name of a picker, which nobody sees. */
const LEFT_OUT = ["region", "document-title", "page-has-heading-one", "label-content-name-mismatch"];
const RULES = Object.fromEntries(LEFT_OUT.map((rule) => [rule, { enabled: false }]));
const target = resolve(process.argv[2] ?? join(tmpdir(), "codelaw-looks"));
const named = process.argv.slice(3);
const scenes = SCENES.filter(({ name }) => named.length === 0 || named.includes(name));
const axe = await readFile(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const say = (text) => process.stdout.write(`${text}\n`);

/** Brings the panel into the scene. */
async function enter(panel, scene) {
  await panel.tell({ kind: "server", server: { ...READY, ...scene.server } });
  if (scene.kept?.chatId) await panel.page.waitForSelector("[role=log]");
  await panel.tell(...(scene.tell ?? []));
  for (const selector of scene.press ?? [])
    for (const one of await panel.page.$$(selector)) await one.click().catch(() => {});
  if (scene.type !== undefined) await panel.page.locator("textarea").pressSequentially(scene.type);
  await panel.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 120))));
}

/** What is wrong: by axe, by what is drawn beyond the panel's edge, and by the page's own errors. */
async function faults(panel) {
  await panel.page.addScriptTag({ content: axe }).catch(() => panel.page.evaluate(axe));
  const wrong = await panel.page.evaluate(async (rules) => {
    const { violations } = await window.axe.run(document, { rules });
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${html.slice(0, 140)} ${any[0]?.message.slice(0, 160) ?? ""}`),
    );
    const wide = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > wide) found.push("the page is wider than the panel");
    for (const one of document.querySelectorAll("button, input, textarea, select")) {
      const { right, left, width } = one.getBoundingClientRect();
      const scrolled = one.closest("pre, table, .diff, .steps, [role=region]") !== null;
      if (width > 0 && !scrolled && (right > wide + 0.5 || left < -0.5))
        found.push(`beyond the edge: ${one.outerHTML.slice(0, 140)}`);
    }
    return found;
  }, RULES);
  return [...wrong, ...panel.problems.filter((text) => !text.includes("Content Security Policy"))];
}

/** Give the page another theme's colours, as the editor does: by the body's classes and the variables. */
const dress = (panel, theme) =>
  panel.page.evaluate(
    ({ theme, colours, all }) => {
      document.body.className = theme;
      for (const name of all) document.documentElement.style.removeProperty(`--vscode-${name}`);
      for (const [name, value] of Object.entries(colours))
        document.documentElement.style.setProperty(`--vscode-${name}`, value ?? "initial");
      return new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)));
    },
    { theme, colours: THEMES[theme], all: [...new Set(Object.values(THEMES).flatMap(Object.keys))] },
  );

/** Draw pictures side by side. */
async function sheet(browser, file, width, cells) {
  const page = await browser.newPage({ viewport: { width: (width + 12) * ACROSS[width], height: 400 } });
  const cell = ({ name, picture }) =>
    `<figure><figcaption>${name}</figcaption><img src="data:image/png;base64,${picture}"></figure>`;
  const style = `body{margin:0;display:flex;flex-wrap:wrap;background:#777;font:13px sans-serif}figure{margin:6px;width:${width}px}`;
  await page.setContent(`<style>${style}</style>${cells.map(cell).join("")}`);
  await page.screenshot({ path: file, fullPage: true });
  await page.close();
}

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
const shared = { folder: await buildPanel(), browser: await openBrowser() };
const known = new Map();
const sheets = new Map();
try {
  for (const scene of scenes) {
    const panel = await openPanel({ ...scene, theme: BARE, width: WIDTHS[0], height: scene.height ?? HEIGHT, shared });
    panel.page.setDefaultTimeout(20_000);
    try {
      await enter(panel, scene);
      for (const width of WIDTHS) {
        await panel.page.setViewportSize({ width, height: scene.height ?? HEIGHT });
        for (const theme of Object.keys(THEMES).filter((theme) => theme !== BARE)) {
          await dress(panel, theme);
          const place = `${theme.split(" ").at(-1)}-${width}`;
          const picture = (await panel.page.screenshot()).toString("base64");
          sheets.set(place, [...(sheets.get(place) ?? []), { name: scene.name, picture }]);
          for (const fault of await faults(panel))
            known.set(fault, [...(known.get(fault) ?? []), `${scene.name} ${place}`]);
        }
      }
    } catch (error) {
      known.set(`cannot be drawn: ${String(error).slice(0, 300)}`, [scene.name]);
    }
    await panel.close();
  }
  for (const [place, cells] of sheets)
    await sheet(shared.browser, join(target, `${place}.png`), Number(place.split("-").at(-1)), cells);
} finally {
  await shared.browser.close();
  await rm(shared.folder, { recursive: true, force: true });
}
for (const [fault, where] of known)
  say(
    `${fault}\n    in ${[...where].slice(0, 6).join(", ")}${where.length > 6 ? ` and ${where.length - 6} more` : ""}`,
  );
say(`${known.size} faults; the sheets are in ${target}`);
process.exitCode = known.size > 0 ? 1 : 0;
