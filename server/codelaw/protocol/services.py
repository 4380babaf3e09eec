"""`codelaw/editor/*`, from server to client: what the editor's other language servers know (E-6).

The shapes are LSP's own. A client passes on what it got, so that members we do not use are ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from codelaw.protocol.base import Payload, Reply

MAX_PLACES = 20_000
"""Locations, edits or diagnostics of one answer (S-6)."""
MAX_DOCUMENTS = 2_000

Index = Annotated[int, Field(ge=0, le=2**31 - 1)]
Uri = Annotated[str, Field(min_length=1, max_length=8192)]
Version = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]


class SpotOut(Payload):
    line: int
    character: int


class SpanOut(Payload):
    start: SpotOut
    end: SpotOut


class SaveDocuments(Payload):
    """`codelaw/editor/save` (F-6)."""

    uris: list[str]


class AnyReply(RootModel[Any]):
    """That there is an answer is all that counts."""


class AskDiagnostics(Payload):
    """Of one document, or without `uri` of all that have some."""

    uri: str | None = None
    version: int | None = None


class AskPlace(Payload):
    """`codelaw/editor/definition` and `codelaw/editor/references`."""

    uri: str
    position: SpotOut


class AskRename(Payload):
    uri: str
    position: SpotOut
    new_name: str


class AskFixes(Payload):
    uri: str
    range: SpanOut


class AskSymbols(Payload):
    """Symbols of the whole project."""

    query: str


class AskOutline(Payload):
    uri: str


class AskTerminal(Payload):
    """The last output of a terminal: of the active one, where it has any."""


class Spot(Reply):
    line: Index
    character: Index


class SpanIn(Reply):
    start: Spot
    end: Spot


class EditorDiagnostic(Reply):
    range: SpanIn
    message: str
    severity: Literal[1, 2, 3, 4] | None = None
    code: int | str | None = None
    source: str | None = None


class DocumentDiagnostics(Reply):
    """`version` is that of the text which the diagnostics are about."""

    uri: Uri
    version: Version | None = None
    diagnostics: Annotated[list[EditorDiagnostic], Field(max_length=MAX_PLACES)]


class DiagnosticsReply(RootModel[Annotated[list[DocumentDiagnostics], Field(max_length=MAX_DOCUMENTS)] | None]):
    """None is an empty list."""


class EditorLocation(Reply):
    uri: Uri
    range: SpanIn


class EditorLocationLink(Reply):
    target_uri: Uri
    target_range: SpanIn
    target_selection_range: SpanIn | None = None


class LocationsReply(
    RootModel[
        EditorLocation
        | Annotated[list[EditorLocation], Field(max_length=MAX_PLACES)]
        | Annotated[list[EditorLocationLink], Field(max_length=MAX_PLACES)]
        | None
    ]
):
    """What LSP allows as the answer to a search for a definition or for references."""


SymbolKind = Annotated[int, Field(ge=1, le=1000)]
"""LSP's numbers; one that is not known yet is only a symbol."""
SymbolName = Annotated[str, Field(max_length=10_000)]


class BareLocation(Reply):
    """A location that may be without a range, as workspace symbols have it."""

    uri: Uri
    range: SpanIn | None = None


class EditorSymbol(Reply):
    """LSP's `SymbolInformation` or `WorkspaceSymbol`."""

    name: SymbolName
    kind: SymbolKind
    location: BareLocation
    container_name: SymbolName | None = None


class SymbolsReply(RootModel[Annotated[list[EditorSymbol], Field(max_length=MAX_PLACES)] | None]):
    """None is an empty list."""


class NestedSymbol(Reply):
    """LSP's `DocumentSymbol`."""

    name: SymbolName
    kind: SymbolKind
    range: SpanIn
    selection_range: SpanIn | None = None
    children: Annotated[list[NestedSymbol], Field(max_length=MAX_PLACES)] | None = None


class OutlineReply(
    RootModel[
        Annotated[list[NestedSymbol], Field(max_length=MAX_PLACES)]
        | Annotated[list[EditorSymbol], Field(max_length=MAX_PLACES)]
        | None
    ]
):
    """What LSP allows as the symbols of a document."""


class TerminalText(Reply):
    """What a terminal shows of its last command."""

    output: Annotated[str, Field(max_length=1_000_000)]
    name: Annotated[str, Field(max_length=1000)] | None = None
    command: Annotated[str, Field(max_length=100_000)] | None = None
    exit_code: Annotated[int, Field(ge=-(2**31), le=2**32)] | None = None


class TerminalReply(RootModel[TerminalText | None]):
    """None where nothing is known of any."""


class EditorTextEdit(Reply):
    range: SpanIn
    new_text: str


class EditedDocument(Reply):
    uri: Uri
    version: Version | None = None


class DocumentEdits(Reply):
    text_document: EditedDocument
    edits: Annotated[list[EditorTextEdit], Field(max_length=MAX_PLACES)]


class FileOperation(Reply):
    """A file that is to be made, moved or removed."""

    kind: Literal["create", "rename", "delete"]
    uri: Uri | None = None
    old_uri: Uri | None = None
    new_uri: Uri | None = None


class WorkspaceEditReply(Reply):
    """LSP's `WorkspaceEdit`; `documentChanges` count where both are there."""

    changes: dict[str, Annotated[list[EditorTextEdit], Field(max_length=MAX_PLACES)]] | None = None
    document_changes: Annotated[list[DocumentEdits | FileOperation], Field(max_length=MAX_DOCUMENTS)] | None = None


class RenameReply(RootModel[WorkspaceEditReply | None]):
    """None when there is nothing to rename."""


class QuickFix(Reply):
    title: Annotated[str, Field(min_length=1, max_length=1000)]
    edit: WorkspaceEditReply | None = None


class QuickFixReply(RootModel[Annotated[list[QuickFix], Field(max_length=MAX_DOCUMENTS)] | None]):
    """What is offered; one without an edit is left out."""
