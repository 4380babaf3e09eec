// Before all tests: the extension, as it is packed, is installed where every editor of the run finds it.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";
import { CODE_SERVER, NODE, ROOT, SHOTS } from "./places";

declare module "vitest" {
  interface ProvidedContext {
    extensions: string;
    builtin: string;
    vsix: string;
  }
}

/** Of the editor's own extensions those that a test looks at; each of the others would make every window slower. */
const BUILTIN = ["python", "markdown-basics", "json", "theme-defaults", "theme-modern-icons", "theme-seti"];

/** The newest package that was built; `python3 dev.py workbench` names the one it has just built. */
function packed(): string {
  const named = process.env["CODELAW_VSIX"];
  if (named !== undefined) return named;
  const folders = [join(ROOT, "dist"), join(ROOT, "editor-client", "dist"), join(ROOT, "editor-client")];
  const found = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith(".vsix"))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (found === undefined) throw new Error("There is no .vsix; run `python3 dev.py vsix` first.");
  return found;
}

export default function setup(project: TestProject): () => void {
  if (!existsSync(CODE_SERVER)) throw new Error("There is no editor in .workbench; run `python3 dev.py workbench`.");
  const vsix = packed();
  const folder = mkdtempSync(join(tmpdir(), "codelaw-extensions-"));
  const extensions = join(folder, "extensions");
  const where = ["--extensions-dir", extensions, "--user-data-dir", join(folder, "user")];
  execFileSync(NODE, [CODE_SERVER, ...where, "--install-extension", vsix, "--force"], { stdio: "pipe" });
  project.provide("extensions", extensions);
  project.provide("vsix", vsix);
  const builtin = join(folder, "builtin");
  mkdirSync(builtin);
  const all = join(dirname(CODE_SERVER), "..", "..", "lib", "vscode", "extensions");
  for (const name of BUILTIN) symlinkSync(join(all, name), join(builtin, name));
  project.provide("builtin", builtin);
  rmSync(SHOTS, { recursive: true, force: true });
  return () => rmSync(folder, { recursive: true, force: true });
}
