// Documents and parts of them, as they go along with a message.
import { type Range, type TextEditor, type Uri, workspace } from "vscode";
import type { Attachment } from "../messages";

type Span = Pick<Range, "start" | "end">;

/** A document, or with `span` the lines of it, under the name that people know it by. */
export function attachmentOf(uri: Uri, span?: Span): Attachment {
  const name = nameOf(uri);
  if (span === undefined) return { uri: uri.toString(), label: name };
  return { uri: uri.toString(), range: rangeOf(span), label: `${name}:${linesOf(span)}` };
}

/** What is selected in an editor; the whole document where nothing is. */
export function selectionOf(editor: TextEditor): Attachment {
  return attachmentOf(editor.document.uri, editor.selection.isEmpty ? undefined : editor.selection);
}

/** The path of a document in the workspace; with the folder's name in front where there are several. */
export function nameOf(uri: Uri): string {
  return workspace.asRelativePath(uri, (workspace.workspaceFolders?.length ?? 0) > 1);
}

/** `10-24`, or `10` for one line, from 1; a selection that ends before a line's first character ends above it. */
export function linesOf({ start, end }: Span): string {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return last === start.line ? `${start.line + 1}` : `${start.line + 1}-${last + 1}`;
}

/** The range as the server takes it. */
export function rangeOf({ start, end }: Span): NonNullable<Attachment["range"]> {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}
