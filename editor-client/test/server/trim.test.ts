// What goes from an environment, on a real disk.
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { needless, packagesOf, trim } from "../../src/server/trim";

let environment: string;
beforeEach(async () => {
  environment = await mkdtemp(path.join(os.tmpdir(), "codelaw trim "));
});
afterEach(() => rm(environment, { recursive: true, force: true }));

test("tests of packages and what compilers read are needless; modules, libraries and data are not", () => {
  const kept = [
    "numpy",
    "numpy/__init__.py",
    "numpy/testing/__init__.py",
    "numpy/core.so",
    "jinja2/tests.py",
    "tests/__init__.py",
    "codelaw/data/ranks.xz",
    "codelaw/prompts/system.j2",
    "numpy.libs/libopenblas.so.0",
    "anthropic/py.typed",
  ];
  const gone = ["numpy/lib/tests", "numpy/__init__.pyi", "numpy/include/array.h", "numpy/random/lib/libnpyrandom.a"];
  expect(needless([...kept, ...gone, "numpy/lib/tests/test_io.py", "numpy/lib/tests/data/a.h"])).toEqual(gone);
});

test("a folder of packages is trimmed on the disk, and found below an environment", async () => {
  const packages = path.join(environment, "lib", "python3.11", "site-packages");
  await mkdir(path.join(packages, "numpy", "tests", "data"), { recursive: true });
  for (const name of ["numpy/tests/data/a.py", "numpy/a.py", "numpy/a.pyi"])
    await writeFile(path.join(packages, name), "");
  expect(await packagesOf(environment)).toBe(packages);
  await trim(packages);
  expect(await readdir(path.join(packages, "numpy"))).toEqual(["a.py"]);
});
