// How large the private environment is: `node bench/environment.mjs [PYTHON]`, after `python3 dev.py vsix`.
// Installs with the extension's own code, then each extra; prints MB on the disk by package and by extra.
import { lstat, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = new URL("../", import.meta.url).pathname;
const SHOWN = 14;
const python = process.argv[2] ?? "python3";
const say = (text) => process.stdout.write(`${text}\n`);

/** Bytes that files take on the disk, as `du` counts them, by the first folder below `folder`. */
async function sizes(folder) {
  const found = new Map();
  for (const name of await readdir(folder, { recursive: true })) {
    if (name.startsWith("lib64")) continue; // a link to `lib`
    const { blocks } = await lstat(join(folder, name));
    const top = name.split("/")[0];
    const key = top.replace(/[-.](libs|[^-]+\.dist-info)$/, "");
    found.set(key, (found.get(key) ?? 0) + blocks * 512);
  }
  return [...found].sort(([, one], [, other]) => other - one);
}

const mb = (bytes) => (bytes / 2 ** 20).toFixed(1).padStart(6);
const storage = await mkdtemp(join(tmpdir(), "codelaw-environment-"));
try {
  const options = { bundle: true, platform: "node", format: "esm", logLevel: "error", absWorkingDir: root };
  const outfile = join(storage, "install.mjs");
  const contents = [
    'export { bundleIn, install } from "./src/server/install";',
    'export { addExtra, EXTRAS } from "./src/server/extras";',
    'export { server as words } from "./src/languages/en/server";',
  ].join("\n");
  await build({ ...options, stdin: { contents, resolveDir: root, loader: "ts" }, outfile });
  const made = await import(pathToFileURL(outfile).href);
  const bundle = await made.bundleIn(join(root, "..", "build", "vsix", "server"));
  if (bundle === undefined) throw new Error("There is no server to install; run `python3 dev.py vsix` first.");
  const quiet = { report: () => {}, log: () => {}, signal: new AbortController().signal, words: made.words };
  const began = performance.now();
  const folder = await made.install({ command: python, args: [], version: "" }, bundle, join(storage, "e"), quiet);
  const seconds = (performance.now() - began) / 1000;
  const lib = join(folder, "lib");
  const version = (await readdir(lib)).find((name) => name.startsWith("python3"));
  const packages = await sizes(join(lib, version, "site-packages"));
  for (const [name, bytes] of packages.slice(0, SHOWN)) say(`${mb(bytes)}  ${name}`);
  say(`${mb(packages.slice(SHOWN).reduce((sum, [, bytes]) => sum + bytes, 0))}  ${packages.length - SHOWN} others`);
  const whole = async () => (await sizes(folder)).reduce((sum, [, bytes]) => sum + bytes, 0);
  let before = await whole();
  say(`${mb(before)}  MB in all; installed in ${seconds.toFixed(0)} s`);
  for (const extra of made.EXTRAS) {
    await made.addExtra(folder, bundle, extra, quiet);
    const after = await whole();
    say(`${mb(after - before)}  more with the extra ${extra}`);
    before = after;
  }
} finally {
  await rm(storage, { recursive: true, force: true });
}
