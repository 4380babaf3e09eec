// What an environment does not need to run its packages: their tests, and what only compilers and type checkers read.
import { readdir, rm } from "node:fs/promises";
import path from "node:path";

const FOR_TOOLS = /\.(pyi|pyx|pxd|h|hpp|c|cpp|a)$/;

/** Remove from a folder of packages what nothing imports. */
export const trim = async (packages: string): Promise<void> => {
  for (const name of needless(await readdir(packages, { recursive: true })))
    await rm(path.join(packages, name), { recursive: true, force: true });
};

/** Of paths below the folder of the packages those that nothing imports; what lies below one of them is left out. */
export const needless = (paths: readonly string[]): string[] =>
  paths.filter((name) => {
    const parts = name.split(/[\\/]/);
    const tests = parts.indexOf("tests", 1); // a package of its own may be called so
    return tests === -1 ? FOR_TOOLS.test(name) : tests === parts.length - 1;
  });

/** The folder into which the packages of an environment are installed. */
export const packagesOf = async (environment: string): Promise<string> => {
  const lib = path.join(environment, "lib");
  const version = (await readdir(lib)).find((name) => name.startsWith("python3"));
  return path.join(lib, version ?? "python3", "site-packages");
};
