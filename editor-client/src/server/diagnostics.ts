// What the server reports of a file, shown anew only when it says something new.
import { type Uri, workspace } from "vscode";
import type { Middleware } from "vscode-languageclient/node";

/** The version of a document that has only been opened. */
const OPENED = 1;

/**
 * The middleware of one connection.
 * The server reports again when a file is opened. With every report the editor forgets the commands of the list of
 * fixes that it shows in the view of problems, and a click on one then does nothing.
 */
export function reported(): Pick<Middleware, "handleDiagnostics"> {
  const last = new Map<string, { version: number; words: string }>();
  return {
    handleDiagnostics: (uri, diagnostics, next) => {
      const name = uri.toString();
      const version = versionOf(uri);
      // The editor's own form of a diagnostic leaves out what is beside it.
      const words = JSON.stringify(diagnostics.map((one) => [one, one.relatedInformation, one.tags]));
      const before = last.get(name);
      if (diagnostics.length === 0) last.delete(name);
      else last.set(name, { version, words });
      if (before?.words !== words || before.version !== version) next(uri, diagnostics);
    },
  };
}

/** The version of the file's document; of one that is not open, that with which it will open. */
function versionOf(uri: Uri): number {
  const name = uri.toString();
  return workspace.textDocuments.find((document) => document.uri.toString() === name)?.version ?? OPENED;
}
