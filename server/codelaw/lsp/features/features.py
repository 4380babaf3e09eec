"""What a connection holds of this package, and the answers that are about chat files and documents (E-3, E-4)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.domain.errors import Refusal
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.context import Context
from codelaw.lsp.documents.positions import units
from codelaw.lsp.features.chat_files import ChatFiles
from codelaw.lsp.features.contents import SCHEME, ChatAddress, Contents
from codelaw.transcript.chat_file.chat_file import named_chat_file, normal
from codelaw.transcript.chat_file.outline import OutlineItem, folds, outline

if TYPE_CHECKING:
    from codelaw.agent.turn.running import TurnTask
    from codelaw.protocol import editor as wire

KINDS = {
    "title": types.SymbolKind.File,
    "round": types.SymbolKind.Event,
    "block": types.SymbolKind.Module,
    "heading": types.SymbolKind.String,
}


@dataclass(frozen=True, slots=True)
class BegunProposal:
    """A turn that was begun to propose something."""

    turn: TurnTask
    text: str
    """What was asked."""
    uri: str = ""
    """Of the document; empty for the message of a commit."""
    first: int = 0
    """The first of the lines that are to be replaced, zero-based."""
    before: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Features(Context):
    """With chat files, documents that follow a chat, and the chats that code actions talk to."""

    chat_files: ChatFiles = field(init=False)
    contents: Contents = field(init=False)
    chats: dict[str, str] = field(default_factory=dict[str, str])
    """By uri: the chat in which a document was last asked about."""
    proposals: dict[tuple[str, str], BegunProposal] = field(default_factory=dict[tuple[str, str], "BegunProposal"])
    """By chat and turn: those that were begun to propose something, the newest last."""
    changed: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """By chat and turn: how many files it changed."""

    def __post_init__(self) -> None:
        self.chat_files, self.contents = ChatFiles(self), Contents(self)


async def send(context: Features, params: wire.ChatFileRef) -> object:
    """Send the question at the end of a chat file; the answer is written below it."""
    turn = await context.chat_files.send(params.uri, SCOPE.get())
    return turn.chat_id, turn.turn_id


async def stop(context: Features, params: wire.ChatFileRef) -> object:
    """Stop what runs in a chat file."""
    return await context.chat_files.stop(params.uri)


async def undo(context: Features, params: wire.UndoInChatFile) -> object:
    """Undo what a turn of a chat file did to files, and say what could not be undone (E-2)."""
    files = context.chat_files
    file = files.file(params.uri)
    chat_id = files.chat_of(params.uri, file) if file is not None else None
    if file is None or chat_id is None:
        raise Refusal(
            "chat_not_found", f"{params.uri} is not an open chat file", "Open the file in which the turn was begun"
        )
    turns = [block.id for block in file.blocks if block.kind == "turn"]
    turn_id = params.turn_id or (turns[-1] if turns else None)
    if turn_id is None:
        raise Refusal("turn_not_found", "There is no turn in this file", "Send a question first")
    report = await context.session.files.revert(chat_id, turn_id)
    count = len(report.reverted)
    parts = [f"{count} files undone" if count != 1 else "1 file undone"]
    parts += [f"{conflict.uri.rsplit('/', 1)[-1]}: {conflict.reason}" for conflict in report.conflicts]
    message = "codelaw: " + "; ".join(parts)
    context.ui.message("warning" if report.conflicts else "info", message)
    context.chat_files.refresh_lenses()
    return message


async def show_chat(context: Features, params: wire.ShowChat) -> object:
    """Show a transcript, a context, or a file as it was before a turn (E-4)."""
    if params.what == "before" and not (params.turn_id and params.path):
        raise Refusal("turn_not_found", "A turn and a file are needed", "Send `turnId` and `path`")
    wanted = ChatAddress(params.chat_id, params.what, params.turn_id or "", params.path or "")
    return await context.contents.show(wanted)


async def content(context: Features, params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
    """A document of ours."""
    return types.TextDocumentContentResult(await context.contents.text(params.uri))


async def symbols(context: Features, params: types.DocumentSymbolParams) -> list[Any]:
    """Rounds, steps and calls of a chat file or transcript; nothing of other documents."""
    uri = params.text_document.uri
    text = await _text(context, uri)
    if text is None:
        return []
    lines = text.split("\n")
    encoding = context.documents.encoding

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
    if context.client.outlines:
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


async def foldings(context: Features, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """What can be folded in a chat file or transcript."""
    text = await _text(context, params.text_document.uri)
    if text is None:
        return []
    return [types.FoldingRange(fold.first, fold.last) for fold in await asyncio.to_thread(folds, text)]


async def _text(context: Features, uri: str) -> str | None:
    buffer = context.documents.get(uri)
    if uri.startswith(f"{SCHEME}:"):
        return normal(buffer.text) if buffer is not None else await context.contents.text(uri)
    shown = f"{(context.home / 'shown').as_uri()}/"
    return normal(buffer.text) if buffer is not None and (named_chat_file(uri) or uri.startswith(shown)) else None
