// Packages that few need, and that the private environment gets when they are first needed. No import of `vscode`.
import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ChatEvent, ServerList, SettingsReport } from "../protocol/types";
import { pythonOf } from "./find";
import { type Bundle, type Progress, PIP_INSTALL, removeAbandoned, step } from "./install";
import { packagesOf, trim } from "./trim";

/** Servers that people bring along, vendors of models, a model for embeddings, a database, other tokenizers. */
export const EXTRAS = ["mcp", "openai", "local", "postgresql", "tokenizer"] as const;
export type Extra = (typeof EXTRAS)[number];

/** The providers that are asked through OpenAI's package. */
const BY_OPENAI = ["openai", "gemini", "mistral", "xai", "groq"];

const MINUTE = 60_000;

/** What the settings in force need. */
export const neededBySettings = (settings: SettingsReport["settings"]): Extra[] => {
  const text = (key: string): string => {
    const value = settings[key]?.value;
    return typeof value === "string" ? value : "";
  };
  const needed: Extra[] = [];
  const reached = (name: string): boolean =>
    text("model.provider") === name || text(`model.providers.${name}.apiKey`) !== "";
  if (BY_OPENAI.some(reached)) needed.push("openai");
  if (text("embedding.provider") === "local") needed.push("local");
  if (/^postgres(ql)?:/.test(text("store.url"))) needed.push("postgresql");
  const model = text("model.name");
  if (model !== "" && !model.startsWith("claude")) needed.push("tokenizer");
  return needed;
};

/** What the servers need that may be started. */
export const neededByServers = ({ servers }: ServerList): Extra[] =>
  servers.some(({ state }) => state !== "needs_trust") ? ["mcp"] : [];

/** What something that happens in a chat needs. */
export const neededByEvent = (event: ChatEvent["event"]): Extra[] => {
  if (event.kind === "mcp" || (event.kind === "notice" && event.code === "mcp_failed")) return ["mcp"];
  return [];
};

const stampOf = (environment: string, extra: Extra): string => path.join(environment, `codelaw-extra-${extra}`);

/** Whether the environment has got this extra. */
export const hasExtra = (environment: string, extra: Extra): Promise<boolean> =>
  stat(stampOf(environment, extra)).then(
    () => true,
    () => false,
  );

/**
 * Add an extra to a private environment from which a server may run.
 *
 * The packages are installed beside it and moved in one by one, so that of two windows that do so both end well; the
 * installer never enters the environment.
 * @throws Refusal `cancelled`, or `install_failed` with what to do
 */
export const addExtra = async (
  environment: string,
  bundle: Bundle,
  extra: Extra,
  progress: Progress,
): Promise<void> => {
  const storage = path.dirname(environment);
  await removeAbandoned(storage);
  const draft = path.join(storage, `draft-${randomUUID()}`);
  const packages = path.join(draft, "packages");
  const lock = path.join(bundle.extras, `${extra}.lock`);
  const target = ["--target", packages, "--no-deps", "--require-hashes", "--prefer-binary", "-r", lock];
  try {
    await step(pythonOf(environment, process.platform), ["-I", "-m", "venv", draft], 3 * MINUTE, progress);
    await step(pythonOf(draft, process.platform), [...PIP_INSTALL, ...target], 20 * MINUTE, progress);
    await trim(packages);
    await moveAll(packages, await packagesOf(environment));
    await writeFile(stampOf(environment, extra), "");
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 3 });
  }
};

/** Move what is not there yet; scripts of the packages are of no use. */
const moveAll = async (from: string, to: string): Promise<void> => {
  const present = new Set(await readdir(to));
  for (const name of await readdir(from)) {
    if (name === "bin" || present.has(name)) continue;
    await rename(path.join(from, name), path.join(to, name)).catch(async (error: unknown) => {
      if (!(await readdir(to)).includes(name)) throw error; // another window was faster
    });
  }
};
