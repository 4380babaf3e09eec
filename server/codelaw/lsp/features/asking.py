"""What the code actions do: a turn about a part of a document, in a chat that can be gone on with (E-3)."""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from codelaw.context.escaping import one_name
from codelaw.domain.errors import Refusal
from codelaw.domain.requests import EditorState, Enclosed, Snippet
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.documents import convert
from codelaw.lsp.documents.documents import path_of
from codelaw.lsp.features.chat_file_index import OWN_CHATS
from codelaw.protocol import editor as params
from codelaw.protocol.enclosed import AttachmentParams, Position, Range
from codelaw.templates.render import render
from codelaw.transcript.chat_file.chat_file import SUFFIX, YOU, block, escape_comments, header, normal
from codelaw.transcript.chat_file.fences import fenced
from codelaw.transcript.chat_file.story import Story, block_body, stories

if TYPE_CHECKING:
    from codelaw.agent.turn.running import TurnTask
    from codelaw.domain.chats import TurnResult
    from codelaw.lsp.features.features import Features

AROUND_LINES = 3
"""Lines before and after a diagnostic that go with it."""
_PLAIN_NAME = re.compile(r"[\w .+#()/-]{1,60}")
"""A diagnostic's source or code that stands in the question itself: it can name no file, address or server there."""
QUOTED_LINES = 200
"""Of a selection that is quoted in a new chat file."""


async def ask(context: Features, asked: params.AskInEditor) -> object:
    """Ask about a selection: at once where the question is known, else in a new chat file."""
    if asked.text is not None:
        return await _begin(context, asked, asked.text, asked.range)
    text = _question_file(context, asked)
    name = PurePosixPath(shown_path(context, asked.uri)).stem or "chat"
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    file = context.home / OWN_CHATS / f"{stamp}-{_plain(name)}{SUFFIX}"
    message = "codelaw: write your question at the end of this file, and send it from there."
    line = text.count("\n") - 1
    return params.Asked(uri=await context.ui.show(file, text, message=message, focus=True, line=line))


async def explain(context: Features, asked: params.AskInEditor) -> object:
    """Explain a selection, or the diagnostic that is named."""
    if asked.diagnostic is not None:
        return await _about(context, asked, asked.diagnostic, "explain_diagnostic")
    return await _begin(context, asked, _rendered(context, "explain_selection", asked), asked.range)


async def test(context: Features, asked: params.AskInEditor) -> object:
    """Write a test for a selection; where nothing is selected, for what the cursor stands in."""
    return await _begin(context, asked, _rendered(context, "test_selection", asked), asked.range)


async def fix(context: Features, asked: params.AskInEditor) -> object:
    """Fix a diagnostic.

    Raises:
        Refusal: none was named.
    """
    if asked.diagnostic is None:
        raise Refusal("invalid_text", "There is no diagnostic to fix", "Send it as `diagnostic`")
    return await _about(context, asked, asked.diagnostic, "fix_diagnostic")


def shown_path(context: Features, uri: str) -> str:
    """A document's path as a person and a mention know it: inside its workspace folder, or its name.

    With several folders the folder's name stands in front.
    """
    path = path_of(uri)
    if path is None:
        return one_name(uri)
    folders = context.folders.named()
    holding = [(folder, name) for name, folder, _ in folders if path.is_relative_to(folder)]
    if not holding:
        return one_name(path.name)
    folder, name = max(holding, key=lambda one: len(one[0].parts))
    inside = path.relative_to(folder).as_posix()
    return one_name(f"{name}/{inside}" if len(folders) > 1 else inside)


async def _about(context: Features, asked: params.AskInEditor, found: params.AskedDiagnostic, template: str) -> object:
    """Begin a turn about a diagnostic; what it says is somebody else's, and goes along as such (R-5)."""
    names = {"source": found.source or "", "code": found.code or ""}
    plain = {of: name if _PLAIN_NAME.fullmatch(name) else "" for of, name in names.items()}
    apart = [f"{of}: {name}" for of, name in names.items() if name != plain[of]]
    text = render(
        template,
        path=shown_path(context, asked.uri),
        line=found.range.start.line + 1,
        source=plain["source"],
        code=plain["code"],
    )
    message = Snippet("message of the diagnostic", "\n".join([*apart, found.message]))
    around = Range(
        start=Position(line=max(0, found.range.start.line - AROUND_LINES), character=0),
        end=Position(line=found.range.end.line + AROUND_LINES + 1, character=0),
    )
    return await _begin(context, asked, text, around, message)


async def _begin(context: Features, asked: params.AskInEditor, text: str, span: Range, *more: Enclosed) -> object:
    """Begin a turn in the document's chat; while that is busy, in a new one."""
    chats = context.chats
    attachments: list[Enclosed] = [
        *more,
        convert.attachment(AttachmentParams(uri=asked.uri, range=span), context.documents),
    ]
    sent = partial(
        context.session.chats.send,
        text=text,
        attachments=attachments,
        editor=EditorState(asked.uri, asked.range.start.line),
        kind="inline",
        scope=(scope := SCOPE.get()),
    )
    try:
        turn = await sent(chats.get(asked.uri))
    except Refusal as refused:
        if refused.code not in {"chat_not_found", "chat_busy"} or asked.uri not in chats or scope.cancelled:
            raise
        turn = await sent(None)
    chats[asked.uri] = turn.chat_id
    if not context.client.events:
        context.spawn(show_end(context, turn, text))
    return turn.chat_id, turn.turn_id


async def show_end(context: Features, turn: TurnTask, text: str) -> None:
    """The answer as a chat file, in which the person can go on."""
    result = await turn.result()
    story = await _story(context, result)
    story.question = text
    body = block_body(story)
    parts = [header(turn.chat_id), YOU, escape_comments(text), block(turn.turn_id, body), YOU]
    file = context.home / OWN_CHATS / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{_plain(turn.turn_id)[:12]}{SUFFIX}"
    await context.chat_files.index.shown(turn.chat_id, file.as_uri())
    await context.ui.show(file, "\n\n".join(parts) + "\n\n", message=result.answer or body)


async def _story(context: Features, result: TurnResult) -> Story:
    try:
        record = await context.session.chats.read(result.chat_id, limit=0)
    except Refusal:  # deleted in that moment: what the turn itself says is enough
        return Story(result.turn_id, result=result)
    story = stories(event for event in record.events if event.turn_id == result.turn_id).get(result.turn_id)
    story = story if story is not None else Story(result.turn_id)
    story.result = story.result or result
    return story


def _rendered(context: Features, template: str, asked: params.AskInEditor) -> str:
    first, last = lines_of(asked.range)
    empty = asked.range.start == asked.range.end
    return render(template, path=shown_path(context, asked.uri), first=first, last=last, empty=empty)


def lines_of(span: Range) -> tuple[int, int]:
    """First and last line of a selection, from 1; one that ends before a line's first character ends above it."""
    last = span.end.line - 1 if span.end.character == 0 and span.end.line > span.start.line else span.end.line
    return span.start.line + 1, last + 1


def _question_file(context: Features, asked: params.AskInEditor) -> str:
    buffer = context.documents.get(asked.uri)
    first, last = lines_of(asked.range)
    path = shown_path(context, asked.uri)
    lines = normal(buffer.text).split("\n")[first - 1 : last] if buffer is not None else []
    kept = lines[:QUOTED_LINES]
    whole = fenced("\n".join(kept))
    quote = render(
        "ask_selection",
        mention=_mention(path),
        first=first,
        last=last,
        fence=whole[: len(whole) - len(whole.lstrip("`"))],
        language=Path(path).suffix.lstrip("."),
        text="\n".join(kept),
        cut=len(lines) > len(kept),
    )
    return f"{YOU}\n\n{escape_comments(quote)}\n\n\n"


def _mention(path: str) -> str:
    plain = all(character.isascii() and (character.isalnum() or character in "._-/") for character in path)
    return f"@{path}" if plain else f'@"{path}"'


def _plain(name: str) -> str:
    return "".join(character if character.isalnum() or character in "_-" else "-" for character in name)[:60]
