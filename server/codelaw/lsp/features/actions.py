"""`textDocument/codeAction` and `textDocument/codeLens` (E-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.domain.errors import Refusal
from codelaw.lsp.features.contents import keep
from codelaw.lsp.transport.structuring import converter

if TYPE_CHECKING:
    from codelaw.lsp.features.features import Features
    from codelaw.transcript.chat_file.chat_file import ChatFile

LOOKED_AT = 20
"""The newest turns of a file that can be undone from it."""
REMEMBERED = 1000
"""Turns of which it is known how many files they changed."""
FIX = "quickfix"
"""Exactly that: some editors compare kinds letter by letter."""
ABOUT = "refactor.codelaw"
"""The kind of everything that is not a quick fix: a root of LSP's own, so that every editor lists it."""
CHAT = f"{ABOUT}.chat"
TITLE_CHARACTERS = 100
MOST_DIAGNOSTICS = 20


async def code_actions(context: Features, params: types.CodeActionParams) -> list[Any]:
    """What can be asked about a selection, or done in a chat file."""
    uri = params.text_document.uri
    file = context.chat_files.file(uri)
    literals = context.client.actions
    first, last = params.range.start.line, params.range.end.line
    if file is not None:
        return [
            _action(command, CHAT, literals=literals)
            for command, begin, end in await _commands(context, uri, file)
            if _wanted(params.context, CHAT) and begin <= last and first <= end
        ]
    buffer = context.documents.get(uri)
    base: dict[str, Any] = {"uri": uri, "range": converter().unstructure(params.range)}
    if buffer is not None:
        base["version"] = buffer.version
    found: list[Any] = []
    if _wanted(params.context, FIX):
        for diagnostic in params.context.diagnostics[:MOST_DIAGNOSTICS]:
            if diagnostic.message.strip():
                short, argument = _short(diagnostic.message), base | {"diagnostic": _diagnostic(diagnostic)}
                for verb in ("fix", "explain"):
                    title = f"codelaw: {verb} this diagnostic: {short}"
                    command = types.Command(title, f"codelaw.editor.{verb}", arguments=[argument])
                    found.append(_action(command, FIX, literals=literals, diagnostic=diagnostic))
    # A client that asks by itself shows a bulb wherever the cursor stands, unless something is selected.
    by_itself = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
    if by_itself and params.range.start == params.range.end:
        return found
    for verb, title in (("ask", "ask about this…"), ("explain", "explain"), ("test", "write a test for this")):
        if _wanted(params.context, f"{ABOUT}.{verb}"):
            command = types.Command(f"codelaw: {title}", f"codelaw.editor.{verb}", arguments=[base])
            found.append(_action(command, f"{ABOUT}.{verb}", literals=literals))
    return found


async def code_lenses(context: Features, params: types.CodeLensParams) -> list[types.CodeLens]:
    """What can be done in a chat file, above the lines it belongs to."""
    uri = params.text_document.uri
    file = context.chat_files.file(uri)
    if file is None:
        return []
    commands = await _commands(context, uri, file)
    places = [types.Position(first, 0) for _, first, _ in commands]
    return [
        types.CodeLens(types.Range(place, place), command)
        for place, (command, _, _) in zip(places, commands, strict=True)
    ]


async def _commands(context: Features, uri: str, file: ChatFile) -> list[tuple[types.Command, int, int]]:
    """What can be done in a chat file, with the lines that it belongs to, zero-based and inclusive."""
    found: list[tuple[types.Command, int, int]] = []

    def add(title: str, name: str, argument: dict[str, str], first: int, last: int) -> None:
        command = types.Command(title, f"codelaw.chatFile.{name}", arguments=[{"uri": uri, **argument}])
        found.append((command, first, last))

    running = context.chat_files.running(uri)
    end = file.text.count("\n")
    if running is not None:
        block = file.block(running.story.turn_id)
        add("■ Stop", "stop", {}, *((block.first, block.last) if block is not None else (0, end)))
    elif file.question is not None:
        add("▶ Send", "send", {}, file.question.line, end)
    chat_id = context.chat_files.chat_of(uri, file)
    if chat_id is None:
        return found
    for block in [block for block in file.blocks if block.kind == "turn" and not block.running][-LOOKED_AT:]:
        count = await _changed(context, chat_id, block.id)
        if count:
            files = "1 file" if count == 1 else f"{count} files"
            add(f"↩ Undo this turn ({files})", "undo", {"turnId": block.id}, block.first, block.last)
    return found


async def _changed(context: Features, chat_id: str, turn_id: str) -> int:
    """How many files a turn that has ended changed; remembered, as editors ask at every keystroke."""
    known = context.changed
    if (chat_id, turn_id) not in known:
        try:
            files = await context.session.files.changed_files(chat_id, turn_id)
        except Refusal:
            files = ()  # a block of another chat
        keep(known, (chat_id, turn_id), len(files), REMEMBERED)
    return known[chat_id, turn_id]


def _wanted(context: types.CodeActionContext, kind: str) -> bool:
    """Whether the client asks for that kind, by its name or that of a kind above it."""
    if context.only is None:
        return True
    names = [str(getattr(name, "value", name)) for name in context.only]
    return any(name in {"", kind} or kind.startswith(f"{name}.") for name in names)


def _action(
    command: types.Command, kind: str, *, literals: bool, diagnostic: types.Diagnostic | None = None
) -> types.Command | types.CodeAction:
    """A command as an action, for a client that takes such `literals`."""
    if not literals:
        return command
    diagnostics = [diagnostic] if diagnostic is not None else None
    return types.CodeAction(command.title, kind=kind, command=command, diagnostics=diagnostics)


def _diagnostic(value: types.Diagnostic) -> dict[str, Any]:
    """What the command needs of a diagnostic."""
    argument: dict[str, Any] = {"message": value.message[:20_000], "range": converter().unstructure(value.range)}
    if value.code is not None and str(value.code):
        argument["code"] = str(value.code)[:1000]
    if value.source:
        argument["source"] = value.source[:1000]
    return argument


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"
