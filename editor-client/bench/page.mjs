// The panel in a real browser, without an editor: a page with the built script, and an extension that answers as told.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const root = new URL("../", import.meta.url).pathname;

/** The editor's colours by the classes that it gives the page, as far as the panel uses them. */
export const THEMES = {
  "vscode-dark": {
    "debugTokenExpression-name": "#c586c0",
    "debugTokenExpression-string": "#ce9178",
    "debugTokenExpression-boolean": "#4e94ce",
    "debugTokenExpression-number": "#b5cea8",
    "symbolIcon-functionForeground": "#b180d7",
    "foreground": "#cccccc",
    "descriptionForeground": "#9d9d9d",
    "disabledForeground": "#6e6e6e",
    "errorForeground": "#f85149",
    "sideBar-background": "#181818",
    "sideBarSectionHeader-background": "#181818",
    "editor-background": "#1f1f1f",
    "editorWarning-foreground": "#cca700",
    "panel-border": "#2b2b2b",
    "widget-border": "#313131",
    "widget-shadow": "#0000005c",
    "focusBorder": "#0078d4",
    "textLink-foreground": "#4daafc",
    "textLink-activeForeground": "#4daafc",
    "textCodeBlock-background": "#2b2b2b",
    "textPreformat-foreground": "#d0d0d0",
    "textPreformat-background": "#3c3c3c",
    "textBlockQuote-border": "#616161",
    "list-hoverBackground": "#2a2d2e",
    "list-inactiveSelectionBackground": "#37373d",
    "list-activeSelectionBackground": "#04395e",
    "list-activeSelectionForeground": "#ffffff",
    "button-background": "#0078d4",
    "button-foreground": "#ffffff",
    "button-hoverBackground": "#026ec1",
    "button-secondaryBackground": "#313131",
    "button-secondaryForeground": "#cccccc",
    "button-secondaryHoverBackground": "#3c3c3c",
    "input-background": "#313131",
    "input-foreground": "#cccccc",
    "input-border": "#3c3c3c",
    "input-placeholderForeground": "#989898",
    "toolbar-hoverBackground": "#5a5d5e50",
    "diffEditor-insertedLineBackground": "#9bb95533",
    "diffEditor-removedLineBackground": "#ff000033",
    "editorLineNumber-foreground": "#6e7681",
    "charts-green": "#89d185",
    "charts-red": "#f14c4c",
    "charts-blue": "#3794ff",
    "charts-orange": "#d18616",
    "charts-purple": "#b180d7",
    "charts-yellow": "#cca700",
    "testing-iconPassed": "#73c991",
    "gitDecoration-addedResourceForeground": "#81b88b",
    "gitDecoration-deletedResourceForeground": "#c74e39",
    "terminal-ansiRed": "#cd3131",
    "terminal-ansiGreen": "#0dbc79",
    "terminal-ansiYellow": "#e5e510",
    "progressBar-background": "#0078d4",
    "badge-background": "#616161",
    "badge-foreground": "#f8f8f8",
  },
  "vscode-light": {
    "debugTokenExpression-name": "#9b46b0",
    "debugTokenExpression-string": "#a31515",
    "debugTokenExpression-boolean": "#0000ff",
    "debugTokenExpression-number": "#098658",
    "symbolIcon-functionForeground": "#652d90",
    "foreground": "#3b3b3b",
    "descriptionForeground": "#606060",
    "disabledForeground": "#9a9a9a",
    "errorForeground": "#c72e0f",
    "sideBar-background": "#f8f8f8",
    "sideBarSectionHeader-background": "#f8f8f8",
    "editor-background": "#ffffff",
    "editorWarning-foreground": "#bf8803",
    "panel-border": "#e5e5e5",
    "widget-border": "#e5e5e5",
    "widget-shadow": "#00000029",
    "focusBorder": "#005fb8",
    "textLink-foreground": "#005fb8",
    "textLink-activeForeground": "#005fb8",
    "textCodeBlock-background": "#eeeeee",
    "textPreformat-foreground": "#3b3b3b",
    "textPreformat-background": "#0000001f",
    "textBlockQuote-border": "#e5e5e5",
    "list-hoverBackground": "#f2f2f2",
    "list-inactiveSelectionBackground": "#e4e6f1",
    "list-activeSelectionBackground": "#e8e8e8",
    "list-activeSelectionForeground": "#000000",
    "button-background": "#005fb8",
    "button-foreground": "#ffffff",
    "button-hoverBackground": "#0258a8",
    "button-secondaryBackground": "#e5e5e5",
    "button-secondaryForeground": "#3b3b3b",
    "button-secondaryHoverBackground": "#cccccc",
    "input-background": "#ffffff",
    "input-foreground": "#3b3b3b",
    "input-border": "#cecece",
    "input-placeholderForeground": "#767676",
    "toolbar-hoverBackground": "#b8b8b850",
    "diffEditor-insertedLineBackground": "#9bb95533",
    "diffEditor-removedLineBackground": "#ff000033",
    "editorLineNumber-foreground": "#6e7681",
    "charts-green": "#388a34",
    "charts-red": "#e51400",
    "charts-blue": "#1a85ff",
    "charts-orange": "#d18616",
    "charts-purple": "#652d90",
    "charts-yellow": "#bf8803",
    "testing-iconPassed": "#388a34",
    "gitDecoration-addedResourceForeground": "#587c0c",
    "gitDecoration-deletedResourceForeground": "#ad0707",
    "terminal-ansiRed": "#cd3131",
    "terminal-ansiGreen": "#107c10",
    "terminal-ansiYellow": "#949800",
    "progressBar-background": "#005fb8",
    "badge-background": "#cccccc",
    "badge-foreground": "#3b3b3b",
  },
};

const DARK_HC = {
  "debugTokenExpression-name": "#ffffff",
  "debugTokenExpression-string": "#f48771",
  "debugTokenExpression-boolean": "#75bdfe",
  "debugTokenExpression-number": "#89d185",
  "symbolIcon-functionForeground": "#b180d7",
  "foreground": "#ffffff",
  "descriptionForeground": "#ffffffb3",
  "disabledForeground": "#a5a5a5",
  "errorForeground": "#f48771",
  "sideBar-background": "#000000",
  "sideBarSectionHeader-background": "#000000",
  "editor-background": "#000000",
  "editorWarning-foreground": "#ffd370",
  "panel-border": "#6fc3df",
  "widget-border": "#6fc3df",
  "contrastBorder": "#6fc3df",
  "contrastActiveBorder": "#f38518",
  "focusBorder": "#f38518",
  "textLink-foreground": "#21a6ff",
  "textLink-activeForeground": "#21a6ff",
  "textCodeBlock-background": "#000000",
  "textPreformat-foreground": "#ffffff",
  "textPreformat-background": "#ffffff",
  "textBlockQuote-border": "#ffffff",
  "button-background": "#000000",
  "button-foreground": "#ffffff",
  "button-border": "#6fc3df",
  "button-secondaryBackground": "#000000",
  "button-secondaryForeground": "#ffffff",
  "input-background": "#000000",
  "input-foreground": "#ffffff",
  "input-border": "#6fc3df",
  "input-placeholderForeground": "#ffffffb3",
  "editorLineNumber-foreground": "#ffffff",
  "charts-green": "#89d185",
  "charts-red": "#f48771",
  "charts-blue": "#3794ff",
  "charts-orange": "#ea4e0a",
  "charts-purple": "#b180d7",
  "charts-yellow": "#ffd370",
  "testing-iconPassed": "#73c991",
  "gitDecoration-addedResourceForeground": "#a1e3ad",
  "gitDecoration-deletedResourceForeground": "#c74e39",
  "terminal-ansiRed": "#cd0000",
  "terminal-ansiGreen": "#00cd00",
  "terminal-ansiYellow": "#cdcd00",
  "progressBar-background": "#6fc3df",
  "badge-background": "#000000",
  "badge-foreground": "#ffffff",
};

const LIGHT_HC = {
  ...DARK_HC,
  "debugTokenExpression-name": "#292929",
  "debugTokenExpression-string": "#a31515",
  "debugTokenExpression-boolean": "#0000ff",
  "debugTokenExpression-number": "#098658",
  "symbolIcon-functionForeground": "#652d90",
  "foreground": "#292929",
  "descriptionForeground": "#292929b3",
  "disabledForeground": "#7f7f7f",
  "errorForeground": "#b5200d",
  "sideBar-background": "#ffffff",
  "sideBarSectionHeader-background": "#ffffff",
  "editor-background": "#ffffff",
  "editorWarning-foreground": "#895503",
  "panel-border": "#0f4a85",
  "widget-border": "#0f4a85",
  "contrastBorder": "#0f4a85",
  "contrastActiveBorder": "#006bbd",
  "focusBorder": "#006bbd",
  "textLink-foreground": "#0f4a85",
  "textLink-activeForeground": "#0f4a85",
  "textCodeBlock-background": "#f2f2f2",
  "textPreformat-foreground": "#ffffff",
  "textPreformat-background": "#09345f",
  "textBlockQuote-border": "#292929",
  "button-background": "#0f4a85",
  "button-foreground": "#ffffff",
  "button-border": undefined,
  "button-secondaryBackground": "#ffffff",
  "button-secondaryForeground": "#292929",
  "input-background": "#ffffff",
  "input-foreground": "#292929",
  "input-border": "#0f4a85",
  "input-placeholderForeground": "#292929b3",
  "editorLineNumber-foreground": "#292929",
  "charts-green": "#374e06",
  "charts-red": "#b5200d",
  "charts-blue": "#1a85ff",
  "charts-orange": "#d18616",
  "charts-purple": "#652d90",
  "charts-yellow": "#895503",
  "testing-iconPassed": "#007100",
  "gitDecoration-addedResourceForeground": "#374e06",
  "gitDecoration-deletedResourceForeground": "#ad0707",
  "terminal-ansiRed": "#cd3131",
  "terminal-ansiGreen": "#136c13",
  "terminal-ansiYellow": "#6d6d00",
  "progressBar-background": "#0f4a85",
  "badge-background": "#0f4a85",
  "badge-foreground": "#ffffff",
};
THEMES["vscode-high-contrast"] = DARK_HC;
THEMES["vscode-high-contrast vscode-high-contrast-light"] = LIGHT_HC;

/** What the panel is told of the server. */
export const READY = {
  phase: "ready",
  session: 1,
  message: "",
  actions: [],
  version: "1.0.0",
  methods: [],
  offline: false,
};

/** Builds the panel into a folder of its own. */
export async function buildPanel() {
  const folder = await mkdtemp(join(tmpdir(), "codelaw-panel-"));
  await build({
    absWorkingDir: root,
    entryPoints: { panel: "webview/main.tsx" },
    outdir: folder,
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "error",
  });
  return folder;
}

/** A browser of this machine. */
export const openBrowser = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/**
 * Opens the panel. `answers` are the results of requests by method; a page with `tell`, `told` and `close`. `shared` is
 * a browser and a folder of `buildPanel`, which stay; without it both are made, and go with the page.
 */
export async function openPanel(options = {}) {
  const { theme = "vscode-dark", width = 420, height = 900, answers = {}, kept = null, shared } = options;
  const folder = shared?.folder ?? (await buildPanel());
  const known = Object.entries(THEMES[theme]).filter(([, value]) => value !== undefined);
  const colours = known.map(([name, value]) => `--vscode-${name}: ${value};`);
  const fonts =
    "--vscode-font-family: system-ui, sans-serif; --vscode-font-size: 13px; --vscode-editor-font-family: monospace;";
  const style = `html { ${colours.join(" ")} ${fonts} }`;
  await writeFile(join(folder, "theme.css"), style);
  await writeFile(join(folder, "extension.js"), `(${extension})(${JSON.stringify({ answers, kept })});`);
  await writeFile(
    join(folder, "index.html"),
    `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src file:; style-src file:; img-src 'none'">
<link rel="stylesheet" href="theme.css"><link rel="stylesheet" href="panel.css"></head>
<body class="${theme}"><div id="root"></div><script src="extension.js"></script><script src="panel.js"></script></body></html>`,
  );
  const browser = shared?.browser ?? (await openBrowser());
  const page = await browser.newPage({ viewport: { width, height } });
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (line) => line.type() === "error" && problems.push(line.text()));
  await page.goto(pathToFileURL(join(folder, "index.html")).href);
  await page.waitForFunction(() => window.told.some(({ kind }) => kind === "ready"));
  return {
    page,
    problems,
    tell: (...messages) => page.evaluate((all) => all.forEach((one) => window.postMessage(one, "*")), messages),
    told: () => page.evaluate(() => window.told),
    close: async () => {
      if (shared !== undefined) return page.close();
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A recorded stream of test/streams. */
export async function recorded(name) {
  return JSON.parse(await readFile(new URL(`../test/streams/${name}.json`, import.meta.url), "utf8"));
}

/** Runs in the page, before the panel: the extension's part. */
function extension({ answers, kept }) {
  window.told = [];
  window.answers = answers;
  window.acquireVsCodeApi = () => ({
    getState: () => kept,
    setState: (state) => void (window.kept = state),
    postMessage: (message) => {
      window.told.push(message);
      if (message.kind !== "request") return;
      const result = window.answers[message.method];
      if (result === "never") return;
      const refused = { code: "chat_not_found", message: `Nothing is said to ${message.method}.`, hint: "" };
      const reply =
        result === undefined
          ? { kind: "refused", id: message.id, problem: refused }
          : { kind: "answer", id: message.id, result };
      setTimeout(() => window.postMessage(reply, "*"), 0);
    },
  });
}
