// Builds the extension (`dist/extension.cjs`, for the editor's Node) and the panel (`dist/panel.js`, `dist/panel.css`).
// `--watch` builds again after every change, with source maps; `--outdir DIR` builds elsewhere than into `dist`.
import { build, context } from "esbuild";

const watch = process.argv.includes("--watch");
const elsewhere = process.argv.indexOf("--outdir");
const outdir = elsewhere === -1 ? "dist" : process.argv[elsewhere + 1];
const shared = { bundle: true, logLevel: "warning", sourcemap: watch ? "inline" : false, minify: !watch };
const targets = [
  {
    ...shared,
    entryPoints: { extension: "src/extension.ts" },
    outdir,
    outExtension: { ".js": ".cjs" },
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
  },
  {
    ...shared,
    entryPoints: { panel: "webview/main.tsx" },
    outdir,
    platform: "browser",
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".css": "css" },
  },
];

if (watch) {
  for (const target of targets) await (await context(target)).watch();
} else {
  await Promise.all(targets.map(build));
}
