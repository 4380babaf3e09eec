"""`textDocument/codeAction` and `textDocument/codeLens` (E-3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.lsp.features.features import Features
    from codelaw.transcript.chat_file.chat_file import ChatFile

LOOKED_AT = 20
"""The newest turns of a file that can be undone from it."""

REMEMBERED = 1000
"""Turns of which it is known how many files they changed."""


@dataclass(frozen=True, slots=True)
class FileCommand:
    """A command with the lines it belongs to; zero-based, inclusive."""

    title: str
    command: str
    argument: dict[str, Any]
    first: int
    last: int


async def offers(features: Features, uri: str, file: ChatFile) -> list[FileCommand]:
    """Send, stop, and undo what a turn changed."""
    found: list[FileCommand] = []
    running = features.chat_files.running(uri)
    end = file.text.count("\n")
    if running is not None:
        block = file.block(running.story.turn_id)
        first, last = (block.first, block.last) if block is not None else (0, end)
        found.append(FileCommand("■ Stop", "codelaw.chatFile.stop", {"uri": uri}, first, last))
    elif file.question is not None:
        last = max(file.question.line, file.text.count("\n", 0, file.question.end))
        found.append(FileCommand("▶ Send", "codelaw.chatFile.send", {"uri": uri}, file.question.line, max(last, end)))
    chat_id = features.chat_files.chat_of(uri, file)
    if chat_id is None:
        return found
    for block in [block for block in file.blocks if block.kind == "turn" and not block.running][-LOOKED_AT:]:
        count = await _changed(features, chat_id, block.id)
        if count:
            argument = {"uri": uri, "turnId": block.id}
            files = "1 file" if count == 1 else f"{count} files"
            found.append(
                FileCommand(f"↩ Undo this turn ({files})", "codelaw.chatFile.undo", argument, block.first, block.last)
            )
    return found


async def _changed(features: Features, chat_id: str, turn_id: str) -> int:
    """How many files a turn that has ended changed; remembered, as editors ask at every keystroke."""
    known = features.changed
    if (chat_id, turn_id) not in known:
        try:
            files = await features.context.session.files.changed_files(chat_id, turn_id)
        except Refusal:
            files = ()  # a block of another chat
        while len(known) >= REMEMBERED:
            del known[next(iter(known))]
        known[chat_id, turn_id] = len(files)
    return known[chat_id, turn_id]


FIX = "quickfix"
"""Exactly that: some editors compare kinds letter by letter."""
ABOUT = "refactor.codelaw"
"""The kind of everything that is not a quick fix: a root of LSP's own, so that every editor lists it."""
CHAT = f"{ABOUT}.chat"
KINDS = (FIX, f"{ABOUT}.ask", f"{ABOUT}.explain", f"{ABOUT}.test", CHAT)
TITLE_CHARACTERS = 100
MOST_DIAGNOSTICS = 20


async def code_actions(features: Features, params: types.CodeActionParams) -> list[Any]:
    """What can be asked about a selection, or done in a chat file."""
    uri = params.text_document.uri
    file = features.chat_files.file(uri)
    if file is not None:
        return [
            _action(features, offer.title, CHAT, offer.command, offer.argument)
            for offer in await offers(features, uri, file)
            if _wanted(params.context, CHAT)
            and offer.first <= params.range.end.line
            and params.range.start.line <= offer.last
        ]
    buffer = features.context.documents.get(uri)
    base: dict[str, Any] = {"uri": uri, "range": _range(params.range)}
    if buffer is not None:
        base["version"] = buffer.version
    found: list[Any] = []
    if _wanted(params.context, FIX):
        for diagnostic in params.context.diagnostics[:MOST_DIAGNOSTICS]:
            if diagnostic.message.strip():
                short, argument = _short(diagnostic.message), base | {"diagnostic": _diagnostic(diagnostic)}
                for verb in ("fix", "explain"):
                    title, command = f"codelaw: {verb} this diagnostic: {short}", f"codelaw.editor.{verb}"
                    found.append(_action(features, title, FIX, command, argument, diagnostic=diagnostic))
    # A client that asks by itself shows a bulb wherever the cursor stands, unless something is selected.
    by_itself = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
    if by_itself and params.range.start == params.range.end:
        return found
    for verb, title in (
        ("ask", "codelaw: ask about this…"),
        ("explain", "codelaw: explain"),
        ("test", "codelaw: write a test for this"),
    ):
        if _wanted(params.context, f"{ABOUT}.{verb}"):
            found.append(_action(features, title, f"{ABOUT}.{verb}", f"codelaw.editor.{verb}", base))
    return found


async def code_lenses(features: Features, params: types.CodeLensParams) -> list[types.CodeLens]:
    """What can be done in a chat file, above the lines it belongs to."""
    uri = params.text_document.uri
    file = features.chat_files.file(uri)
    if file is None:
        return []
    found: list[types.CodeLens] = []
    for offer in await offers(features, uri, file):
        place = types.Position(offer.first, 0)
        command = types.Command(offer.title, offer.command, arguments=[offer.argument])
        found.append(types.CodeLens(types.Range(place, place), command))
    return found


def _wanted(context: types.CodeActionContext, kind: str) -> bool:
    """Whether the client asks for that kind, by its name or that of a kind above it."""
    if context.only is None:
        return True
    names = [str(getattr(name, "value", name)) for name in context.only]
    return any(name in {"", kind} or kind.startswith(f"{name}.") for name in names)


def _action(
    features: Features,
    title: str,
    kind: str,
    command: str,
    argument: dict[str, Any],
    *,
    diagnostic: types.Diagnostic | None = None,
) -> Any:
    run = types.Command(title, command, arguments=[argument])
    if not features.context.client.actions:
        return run
    return types.CodeAction(title, kind=kind, command=run, diagnostics=[diagnostic] if diagnostic is not None else None)


def _range(value: types.Range) -> dict[str, Any]:
    return {
        "start": {"line": value.start.line, "character": value.start.character},
        "end": {"line": value.end.line, "character": value.end.character},
    }


def _diagnostic(value: types.Diagnostic) -> dict[str, Any]:
    """What the command needs of a diagnostic."""
    argument: dict[str, Any] = {"message": value.message[:20_000], "range": _range(value.range)}
    if value.code is not None and str(value.code):
        argument["code"] = str(value.code)[:1000]
    if value.source:
        argument["source"] = value.source[:1000]
    return argument


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"
