// Opens what is wrong with the settings, where it is wrong.
import { commands, Position, Range, type TextDocumentShowOptions, Uri } from "vscode";
import type { Server } from "../server/server";

/** Open the settings file that cannot be read, at its line; the editor's own settings where it is no file. */
export async function mendSettings(server: Pick<Server, "request">): Promise<void> {
  const { faults } = await server.request("codelaw/settings/read", {});
  const fault = faults?.find(({ uri }) => uri !== undefined);
  if (fault?.uri === undefined) {
    await commands.executeCommand("codelaw.openSettings");
    return;
  }
  const options: TextDocumentShowOptions = { preview: false };
  if (fault.line !== undefined) {
    const start = new Position(fault.line - 1, 0);
    options.selection = new Range(start, start);
  }
  await commands.executeCommand("vscode.open", Uri.parse(fault.uri, true), options);
}
