// What an environment does not need to run its packages: their tests, and what only compilers and type checkers read.
import { readdir, rm } from "node:fs/promises";
import path from "node:path";

const FOR_TOOLS = /\.(pyi|pyx|pxd|h|hpp|c|cpp|a)$/;

/** Remove from the packages of an environment what nothing imports. */
export const trim = async (environment: string): Promise<void> => {
  for (const folder of await packagesOf(environment)) {
    for (const name of needless(await readdir(folder, { recursive: true })))
      await rm(path.join(folder, name), { recursive: true, force: true });
  }
};

/** Of paths below the folder of the packages those that nothing imports; what lies below one of them is left out. */
export const needless = (paths: readonly string[]): string[] =>
  paths.filter((name) => {
    const parts = name.split(/[\\/]/);
    const tests = parts.indexOf("tests", 1); // a package of its own may be called so
    return tests === -1 ? FOR_TOOLS.test(name) : tests === parts.length - 1;
  });

/** The folders into which packages are installed. */
const packagesOf = async (environment: string): Promise<string[]> => {
  const lib = path.join(environment, "lib");
  const names = await readdir(lib).catch((): string[] => []); // Windows has another layout, and runs no server
  return names.filter((name) => name.startsWith("python3")).map((name) => path.join(lib, name, "site-packages"));
};
