// What VS Code's language services give, in LSP's shapes. Both count characters in UTF-16.
import {
  type Diagnostic,
  DiagnosticSeverity,
  type DocumentSymbol,
  type Location,
  type LocationLink,
  Position,
  Range,
  type SymbolInformation,
  type TextDocument,
  type TextEdit,
  Uri,
  type WorkspaceEdit,
} from "vscode";
import type {
  DocumentEdits,
  EditorDiagnostic,
  EditorLocation,
  EditorSymbol,
  EditorTextEdit,
  FileOperation,
  NestedSymbol,
  SpanIn,
  SpanOut,
  SpotOut,
  WorkspaceEditReply,
} from "../protocol/types";

const SEVERITIES = {
  [DiagnosticSeverity.Error]: 1,
  [DiagnosticSeverity.Warning]: 2,
  [DiagnosticSeverity.Information]: 3,
  [DiagnosticSeverity.Hint]: 4,
} as const;

export const positionOf = ({ line, character }: SpotOut): Position => new Position(line, character);
export const rangeFrom = ({ start, end }: SpanOut): Range => new Range(positionOf(start), positionOf(end));

export function spanOf({ start, end }: Pick<Range, "start" | "end">): SpanIn {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}

export function diagnosticOf({ range, message, severity, code, source }: Diagnostic): EditorDiagnostic {
  const value = typeof code === "object" ? code.value : code;
  return {
    range: spanOf(range),
    message,
    severity: SEVERITIES[severity],
    ...(value === undefined ? {} : { code: value }),
    ...(source === undefined ? {} : { source }),
  };
}

/** A place, whichever of the two ways a provider has of saying it. */
export function locationOf(place: Location | LocationLink): EditorLocation {
  if ("targetUri" in place) {
    return { uri: place.targetUri.toString(), range: spanOf(place.targetSelectionRange ?? place.targetRange) };
  }
  return { uri: place.uri.toString(), range: spanOf(place.range) };
}

/** VS Code counts the kinds of symbols from zero, LSP from one. */
export function symbolOf({ name, kind, location, containerName }: SymbolInformation): EditorSymbol {
  const container = containerName === "" ? {} : { containerName };
  return {
    name,
    kind: kind + 1,
    location: { uri: location.uri.toString(), range: spanOf(location.range) },
    ...container,
  };
}

export function nestedOf({ name, kind, range, selectionRange, children }: DocumentSymbol): NestedSymbol {
  return {
    name,
    kind: kind + 1,
    range: spanOf(range),
    selectionRange: spanOf(selectionRange),
    ...(children.length === 0 ? {} : { children: children.map(nestedOf) }),
  };
}

/** The edit, pinned to the versions of documents that are open; what it does to files is named, not left out. */
export function workspaceEditOf(edit: WorkspaceEdit, documents: readonly TextDocument[]): WorkspaceEditReply {
  const versions = new Map(documents.map((document) => [document.uri.toString(), document.version]));
  const texts = edit.entries().map(([uri, edits]): DocumentEdits => {
    const name = uri.toString();
    return { textDocument: { uri: name, version: versions.get(name) ?? null }, edits: edits.map(textEditOf) };
  });
  return { documentChanges: [...operationsOf(edit), ...texts] };
}

const textEditOf = ({ range, newText }: TextEdit): EditorTextEdit => ({ range: spanOf(range), newText });

/**
 * Files that an edit makes, moves or removes. VS Code lists only texts in public, and keeps the rest in
 * `_allEntries()`, which is asked with care: without it an edit looks as if it were of texts alone.
 */
function operationsOf(edit: WorkspaceEdit): FileOperation[] {
  const every: unknown = Reflect.get(edit, "_allEntries");
  if (typeof every !== "function") return [];
  const entries: unknown = Reflect.apply(every, edit, []);
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown): FileOperation[] => {
    if (typeof entry !== "object" || entry === null) return [];
    const from: unknown = Reflect.get(entry, "from");
    const to: unknown = Reflect.get(entry, "to");
    if (from instanceof Uri && to instanceof Uri) {
      return [{ kind: "rename", oldUri: from.toString(), newUri: to.toString() }];
    }
    if (to instanceof Uri) return [{ kind: "create", uri: to.toString() }];
    return from instanceof Uri ? [{ kind: "delete", uri: from.toString() }] : [];
  });
}
