"""The editor's other language servers, asked through the client by `codelaw/editor/*` (E-6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import RootModel, ValidationError

from codelaw.domain.code import (
    CodePlace,
    DocumentFindings,
    Finding,
    Fix,
    NamedCode,
    Position,
    ProposedChange,
    ProposedEdits,
    Severity,
    Span,
    TerminalOutput,
    TextEdit,
)
from codelaw.domain.errors import ToolFailure
from codelaw.lsp.client import Client
from codelaw.lsp.documents.documents import EditorDocuments, path_of
from codelaw.lsp.documents.positions import exact_offset, line_starts, position_of
from codelaw.lsp.transport.errors import ClientError
from codelaw.lsp.transport.rpc import Rpc
from codelaw.protocol import services as wire
from codelaw.protocol.base import Payload
from codelaw.protocol.names import (
    EDITOR_DEFINITION,
    EDITOR_DIAGNOSTICS,
    EDITOR_OUTLINE,
    EDITOR_QUICK_FIX,
    EDITOR_REFERENCES,
    EDITOR_RENAME,
    EDITOR_SYMBOLS,
    EDITOR_TERMINAL,
)

log = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0
LONG_SECONDS = 30.0
"""For what goes through a whole project."""
MAX_TEXT = 20_000_000
"""Characters of all texts of one proposed change (S-6)."""
MESSAGE_CHARACTERS = 2_000
SEVERITIES: dict[int | None, Severity] = {1: "error", 2: "warning", 3: "information", 4: "hint", None: "error"}

KINDS = dict(
    enumerate(
        (
            *("file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum"),
            *("interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key"),
            *("null", "enum member", "struct", "event", "operator", "type parameter"),
        ),
        start=1,
    )
)
"""LSP's kinds of symbols, in words."""
NAME_CHARACTERS = 500
_TOP = Span(Position(0, 0), Position(0, 0))

R = TypeVar("R", bound=RootModel[Any])


class ClientServices:
    """Implements `LanguageServices` over one connection."""

    def __init__(self, rpc: Rpc, client: Client, documents: EditorDocuments) -> None:
        self._rpc = rpc
        self._client = client
        self._documents = documents

    @property
    def offered(self) -> frozenset[str]:
        return self._client.services

    async def diagnostics(
        self, uri: str | None = None, version: int | None = None, *, seconds: float = ANSWER_SECONDS
    ) -> Sequence[DocumentFindings]:
        """See `LanguageServices.diagnostics`."""
        params = wire.AskDiagnostics(uri=uri, version=version)
        reply = await self._ask(EDITOR_DIAGNOSTICS, params, wire.DiagnosticsReply, seconds)
        return [_findings(document) for document in reply.root or ()]

    async def definition(self, uri: str, at: Position) -> Sequence[CodePlace]:
        """See `LanguageServices.definition`."""
        params = wire.AskPlace(uri=uri, position=_spot(at))
        return _places(await self._ask(EDITOR_DEFINITION, params, wire.LocationsReply, ANSWER_SECONDS))

    async def references(self, uri: str, at: Position) -> Sequence[CodePlace]:
        """See `LanguageServices.references`."""
        params = wire.AskPlace(uri=uri, position=_spot(at))
        return _places(await self._ask(EDITOR_REFERENCES, params, wire.LocationsReply, LONG_SECONDS))

    async def rename(self, uri: str, at: Position, new_name: str) -> ProposedChange:
        """See `LanguageServices.rename`."""
        params = wire.AskRename(uri=uri, position=_spot(at), new_name=new_name)
        reply = await self._ask(EDITOR_RENAME, params, wire.RenameReply, LONG_SECONDS)
        return ProposedChange() if reply.root is None else _change(reply.root)

    async def fixes(self, uri: str, where: Span) -> Sequence[Fix]:
        """See `LanguageServices.fixes`."""
        params = wire.AskFixes(uri=uri, range=wire.SpanOut(start=_spot(where.start), end=_spot(where.end)))
        reply = await self._ask(EDITOR_QUICK_FIX, params, wire.QuickFixReply, ANSWER_SECONDS)
        return [Fix(" ".join(fix.title.split()), _change(fix.edit)) for fix in reply.root or () if fix.edit is not None]

    async def symbols(self, query: str, *, seconds: float = ANSWER_SECONDS) -> Sequence[NamedCode]:
        """See `LanguageServices.symbols`."""
        reply = await self._ask(EDITOR_SYMBOLS, wire.AskSymbols(query=query), wire.SymbolsReply, seconds)
        return [_symbol(item) for item in reply.root or ()]

    async def outline(self, uri: str) -> Sequence[NamedCode]:
        """See `LanguageServices.outline`."""
        reply = await self._ask(EDITOR_OUTLINE, wire.AskOutline(uri=uri), wire.OutlineReply, ANSWER_SECONDS)
        return _outline(uri, reply)

    async def terminal(self) -> TerminalOutput | None:
        """See `LanguageServices.terminal`."""
        said = (await self._ask(EDITOR_TERMINAL, wire.AskTerminal(), wire.TerminalReply, ANSWER_SECONDS)).root
        return said and TerminalOutput(said.output, said.name or "", said.command or "", said.exit_code)

    def offsets(self, text: str, places: Sequence[Position]) -> list[int | None]:
        """See `LanguageServices.offsets`."""
        starts, encoding = line_starts(text), self._documents.encoding
        return [exact_offset(text, starts, at.line, at.character, encoding) for at in places]

    def position(self, text: str, offset: int) -> Position:
        """See `LanguageServices.position`."""
        return Position(*position_of(text, line_starts(text), offset, self._documents.encoding))

    async def _ask(self, method: str, params: Payload, kind: type[R], seconds: float) -> R:
        try:
            # Running out of time cancels the request, and that withdraws it from the client.
            async with asyncio.timeout(seconds):
                answer = await self._rpc.request(method, params.wire())
        except TimeoutError:
            raise ToolFailure("TIMEOUT", f"The editor did not answer within {seconds:g} s.") from None
        except ClientError as error:
            raise ToolFailure("EXECUTION_ERROR", f"The editor could not do it: {error}") from None
        try:
            return await asyncio.to_thread(kind.model_validate, answer)
        except ValidationError as invalid:
            log.warning("The answer to %s makes no sense: %s", method, _first(invalid))
            raise ToolFailure("EXECUTION_ERROR", f"The editor's answer makes no sense: {_first(invalid)}.") from None


def _first(invalid: ValidationError) -> str:
    detail = invalid.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, detail['loc'][:6])) or 'all of it'}: {detail['msg']}"


def _spot(at: Position) -> wire.SpotOut:
    return wire.SpotOut(line=at.line, character=at.character)


def _span(given: wire.SpanIn) -> Span:
    return Span(Position(given.start.line, given.start.character), Position(given.end.line, given.end.character))


def _path(uri: str) -> str:
    path = path_of(uri)
    return uri if path is None else str(path)


def _findings(document: wire.DocumentDiagnostics) -> DocumentFindings:
    findings = tuple(
        Finding(
            _span(item.range),
            SEVERITIES[item.severity],
            item.message[:MESSAGE_CHARACTERS],
            "" if item.code is None else str(item.code)[:100],
            (item.source or "")[:100],
        )
        for item in document.diagnostics
    )
    return DocumentFindings(document.uri, _path(document.uri), document.version, findings)


def _places(reply: wire.LocationsReply) -> list[CodePlace]:
    found = reply.root
    if found is None:
        return []
    places: list[CodePlace] = []
    for item in found if isinstance(found, list) else [found]:
        if isinstance(item, wire.EditorLocation):
            uri, span = item.uri, item.range
        else:
            uri, span = item.target_uri, item.target_selection_range or item.target_range
        places.append(CodePlace(uri, _path(uri), _span(span)))
    return list(dict.fromkeys(places))


def _symbol(item: wire.EditorSymbol) -> NamedCode:
    uri, kind = item.location.uri, KINDS.get(item.kind, "symbol")
    place = CodePlace(uri, _path(uri), _span(item.location.range) if item.location.range is not None else _TOP)
    return NamedCode(item.name[:NAME_CHARACTERS], kind, place, (item.container_name or "")[:NAME_CHARACTERS])


def _outline(uri: str, reply: wire.OutlineReply) -> list[NamedCode]:
    """The symbols of a document in the order of their places, outer ones first."""
    found: list[NamedCode] = []
    left = [(item, "") for item in reply.root or ()]
    while left and len(found) < wire.MAX_PLACES:
        item, container = left.pop()
        if isinstance(item, wire.EditorSymbol):
            found.append(_symbol(item))
            continue
        name, kind = item.name[:NAME_CHARACTERS], KINDS.get(item.kind, "symbol")
        found.append(NamedCode(name, kind, CodePlace(uri, _path(uri), _span(item.range)), container))
        left += [(child, name) for child in item.children or ()]
    found.sort(key=lambda one: (one.place.span.start.line, -one.place.span.end.line))
    return found


def _change(edit: wire.WorkspaceEditReply) -> ProposedChange:
    documents: list[ProposedEdits] = []
    operations: list[str] = []
    size = 0

    def add(uri: str, version: int | None, edits: Sequence[wire.EditorTextEdit]) -> None:
        nonlocal size
        size += sum(len(item.new_text) for item in edits)
        if edits:
            made = tuple(TextEdit(_span(item.range), item.new_text) for item in edits)
            documents.append(ProposedEdits(uri, _path(uri), version, made))

    if edit.document_changes is not None:
        for item in edit.document_changes:
            if isinstance(item, wire.DocumentEdits):
                add(item.text_document.uri, item.text_document.version, item.edits)
            else:
                operations.append(_operation(item))
    else:
        for uri, edits in (edit.changes or {}).items():
            add(uri, None, edits)
    if size > MAX_TEXT:
        raise ToolFailure("EXECUTION_ERROR", f"The change is over {MAX_TEXT} characters, which is too much.")
    return ProposedChange(tuple(documents), tuple(operations))


def _operation(item: wire.FileOperation) -> str:
    if item.kind == "rename":
        return f"rename {_name(item.old_uri)} to {_name(item.new_uri)}"
    return f"{item.kind} {_name(item.uri)}"


def _name(uri: str | None) -> str:
    return _path(uri).rpartition("/")[2] if uri else "a file"
