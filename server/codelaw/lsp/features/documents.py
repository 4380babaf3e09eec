"""`workspace/textDocumentContent`, `textDocument/documentSymbol` and `textDocument/foldingRange` (E-4)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.lsp.documents.positions import units
from codelaw.lsp.features.contents import SCHEME
from codelaw.transcript.chat_file.chat_file import named_chat_file, normal
from codelaw.transcript.chat_file.outline import OutlineItem, folds, outline

if TYPE_CHECKING:
    from codelaw.lsp.features.features import Features

KINDS = {
    "title": types.SymbolKind.File,
    "round": types.SymbolKind.Event,
    "block": types.SymbolKind.Module,
    "heading": types.SymbolKind.String,
}


async def content(features: Features, params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
    """A document of ours."""
    return types.TextDocumentContentResult(await features.contents.text(params.uri))


async def symbols(features: Features, params: types.DocumentSymbolParams) -> list[Any]:
    """Rounds, steps and calls of a chat file or transcript; nothing of other documents."""
    uri = params.text_document.uri
    text = await _text(features, uri)
    if text is None:
        return []
    lines = text.split("\n")
    encoding = features.context.documents.encoding

    def span(entry: OutlineItem) -> types.Range:
        end = types.Position(entry.last, units(lines[entry.last], encoding))
        return types.Range(types.Position(entry.first, 0), end)

    def symbol(entry: OutlineItem) -> types.DocumentSymbol:
        line = types.Range(
            types.Position(entry.first, 0), types.Position(entry.first, units(lines[entry.first], encoding))
        )
        inside = [symbol(part) for part in entry.inside]
        return types.DocumentSymbol(entry.title, KINDS[entry.kind], span(entry), line, children=inside)

    found = await asyncio.to_thread(outline, text)
    if features.context.client.outlines:
        return [symbol(entry) for entry in found]
    flat: list[types.SymbolInformation] = []
    waiting = [(entry, None) for entry in reversed(found)]
    while waiting:
        entry, above = waiting.pop()
        flat.append(
            types.SymbolInformation(
                types.Location(uri, span(entry)), entry.title, KINDS[entry.kind], container_name=above
            )
        )
        waiting += [(part, entry.title) for part in reversed(entry.inside)]
    return flat


async def foldings(features: Features, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """What can be folded in a chat file or transcript."""
    text = await _text(features, params.text_document.uri)
    if text is None:
        return []
    return [types.FoldingRange(fold.first, fold.last) for fold in await asyncio.to_thread(folds, text)]


async def _text(features: Features, uri: str) -> str | None:
    buffer = features.context.documents.get(uri)
    if uri.startswith(f"{SCHEME}:"):
        return normal(buffer.text) if buffer is not None else await features.contents.text(uri)
    shown = f"{(features.context.home / 'shown').as_uri()}/"
    return normal(buffer.text) if buffer is not None and (named_chat_file(uri) or uri.startswith(shown)) else None
