// The window that a model works in, raised to what it has.
import { ConfigurationTarget, workspace } from "vscode";
import type { Wire } from "../server/wire";

/** Set it for the user; how large it can be the server alone says. */
export async function raiseWindow(wire: Wire, name: string): Promise<void> {
  const { models } = await wire.request("codelaw/model/list", {});
  const contextWindow = models.find((one) => one.name === name)?.largestWindow;
  if (contextWindow === undefined) return;
  const settings = workspace.getConfiguration("codelaw");
  const before = settings.inspect<Record<string, object>>("models")?.globalValue ?? {};
  const raised = { ...before, [name]: { ...before[name], contextWindow } };
  await settings.update("models", raised, ConfigurationTarget.Global);
}
