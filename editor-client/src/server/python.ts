// Which Python the user works with: what the Python extension has selected, else its setting.
import os from "node:os";
import path from "node:path";
import { extensions, workspace } from "vscode";
import { t } from "../language";
import type { Interpreter } from "./find";

const PYTHON_EXTENSION = "ms-python.python";
/** So long is waited for another extension. */
const PATIENCE = 5_000;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** The interpreters of this window, best first. None in a folder that is not trusted: they may lie in it. */
export const interpreters = async (): Promise<Interpreter[]> => {
  if (!workspace.isTrusted) return [];
  const selected = await within(selectedInterpreter());
  const set = fromSetting();
  const found: Interpreter[] = [];
  if (selected !== undefined) found.push({ path: selected, from: t.server.fromPython });
  if (set !== undefined && set !== selected) found.push({ path: set, from: "python.defaultInterpreterPath" });
  return found;
};

const selectedInterpreter = async (): Promise<string | undefined> => {
  const extension = extensions.getExtension<unknown>(PYTHON_EXTENSION);
  if (extension === undefined) return undefined;
  const api: unknown = extension.isActive ? extension.exports : await extension.activate();
  const environments = isRecord(api) ? api["environments"] : undefined;
  if (!isRecord(environments)) return undefined;
  const active = await call(environments, "getActiveEnvironmentPath", workspace.workspaceFolders?.[0]?.uri);
  const resolved = await call(environments, "resolveEnvironment", active);
  const executable = isRecord(resolved) ? resolved["executable"] : undefined;
  const uri = isRecord(executable) ? executable["uri"] : undefined;
  const file = isRecord(uri) ? uri["fsPath"] : undefined;
  return typeof file === "string" && path.isAbsolute(file) ? file : undefined;
};

/** Another extension's API is called as it is found, and may be of any age. */
const call = async (api: Record<string, unknown>, name: string, argument: unknown): Promise<unknown> => {
  const method = api[name];
  const result: unknown = typeof method === "function" ? Reflect.apply(method, api, [argument]) : undefined;
  return await result;
};

const fromSetting = (): string | undefined => {
  const set = workspace.getConfiguration("python").inspect<unknown>("defaultInterpreterPath");
  // Whoever has the Python extension lets a folder choose; nobody else has been asked whether it may.
  const known = extensions.getExtension(PYTHON_EXTENSION) !== undefined;
  const value = (known ? set?.workspaceValue : undefined) ?? set?.globalValue;
  if (typeof value !== "string" || value === "") return undefined;
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const file = value
    .replace(/^~(?=[\\/]|$)/, os.homedir())
    .replace(/\$\{(workspaceFolder|workspaceRoot)\}/g, folder)
    .replace(/\$\{env:(\w+)\}/g, (_all, name: string) => process.env[name] ?? "")
    .replace(/\$\{userHome\}/g, os.homedir());
  return path.isAbsolute(file) ? file : undefined;
};

const within = async (work: Promise<string | undefined>): Promise<string | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), PATIENCE)));
  try {
    return await Promise.race([work, late]);
  } catch {
    return undefined; // another extension's failure is told by that extension; the search goes on
  } finally {
    clearTimeout(timer);
  }
};
