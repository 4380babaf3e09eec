"""Hover in the law, and completion of `@paths` in it and in chat files (E-5, M-4)."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from codelaw.context.mentions import BEFORE, PathMention, spell
from codelaw.context.system.law import is_law_name
from codelaw.context.system.law_check import LawBlock, paths, rule_at, shadowed
from codelaw.context.tokens import estimate
from codelaw.domain.files import Buffer
from codelaw.domain.laws import LawFile, LawState, NamedPath
from codelaw.domain.reports import MentionItem
from codelaw.lsp.documents.positions import line_starts, offset, position_of
from codelaw.lsp.law import is_law

if TYPE_CHECKING:
    from codelaw.lsp.context import Context

CHAT_FILE = ".chat.md"
OFFERED = 50
"""Completions of one answer."""
TITLE_CHARACTERS = 80
# A bare mention that is being typed may have letters that only the quoted form can hold: it becomes that one.
_BEGUN = re.compile(rf'{BEFORE}@(?:"([^"\r\n]{{0,1000}})|([\w/.-]{{0,1000}}))\Z')

_CALLED = re.compile(r"/[^\s/]{0,100}")


async def hover(context: Context, params: types.HoverParams) -> types.Hover | None:
    """What is known of the rule, or of the `@path`, that is pointed at; nothing outside the law."""
    buffer = context.documents.get(params.text_document.uri)
    if buffer is None or not is_law(buffer.uri, context.configuration.law_files):
        return None
    state = await context.session.laws.state()
    file = next((one for one in state.files if buffer.path is not None and Path(one.path) == buffer.path), None)
    if file is None:
        return _beaten(context, buffer, state)
    text, encoding = buffer.text, context.documents.encoding
    starts = line_starts(text)
    at = offset(text, starts, params.position.line, params.position.character, encoding)
    mention = next((one for one in await asyncio.to_thread(paths, text) if one.start <= at < one.end), None)
    if mention is not None:
        (named,) = await context.session.laws.named_paths([mention.path], counted=True)
        return _hover(context, text, starts, _path_reported(named), mention)
    block = await asyncio.to_thread(rule_at, text, at)
    return _hover(context, text, starts, _law_reported(file, state, block), block)


async def completion(context: Context, params: types.CompletionParams) -> types.CompletionList | None:
    """Paths for a mention that was begun before the cursor; nothing outside the law and chat files."""
    buffer = context.documents.get(params.text_document.uri)
    if buffer is None or not (
        is_law(buffer.uri, context.configuration.law_files) or buffer.uri.casefold().endswith(CHAT_FILE)
    ):
        return None
    begun = _begun(buffer, params.position, context)
    if begun is None:
        return await _commands(buffer, params.position, context)
    found = await context.session.extensions.mentions(begun.prefix, OFFERED, buffer.path)
    if not buffer.uri.casefold().endswith(CHAT_FILE):  # a law names files; nothing else of it is looked up
        found = [item for item in found if item.kind in {"file", "folder"}]
    items = [_item(item, begun, number) for number, item in enumerate(found)]
    # Below a folder everything was looked at; else names anywhere come in as more is typed.
    complete = "/" in begun.prefix and len(items) < OFFERED
    return types.CompletionList(is_incomplete=not complete, items=items)


async def _commands(buffer: Buffer, position: types.Position, context: Context) -> types.CompletionList | None:
    """Commands of the user's, and skills, where the question of a chat file begins with a slash (X-7, X-2)."""
    if not buffer.uri.casefold().endswith(CHAT_FILE):
        return None
    text, encoding = buffer.text, context.documents.encoding
    starts = line_starts(text)
    at = offset(text, starts, position.line, position.character, encoding)
    start = starts[min(position.line, len(starts) - 1)]
    if not _CALLED.fullmatch(text[start:at]):
        return None
    span = types.Range(types.Position(*position_of(text, starts, start, encoding)), position)
    commands = await context.session.extensions.commands()
    names = {one.sheet.name for one in commands}
    skills = [one for one in await context.session.extensions.skills() if one.offered and one.sheet.name not in names]
    called = [*((one, one.arguments) for one in commands), *((one, "") for one in skills)]
    items = [
        types.CompletionItem(
            label=f"/{one.sheet.name}",
            label_details=types.CompletionItemLabelDetails(detail=f" {arguments}") if arguments else None,
            kind=types.CompletionItemKind.Function,
            detail=one.description or one.sheet.shown,
            text_edit=types.TextEdit(span, f"/{one.sheet.name} "),
        )
        for one, arguments in called
    ]
    return types.CompletionList(is_incomplete=False, items=items)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A mention that is being typed."""

    prefix: str
    typed: str
    """With the `@` and the quote."""
    quoted: bool
    start: types.Position
    cursor: types.Position
    closed: types.Position | None
    """Behind the closing quote, when it stands right after the cursor."""


def _begun(buffer: Buffer, position: types.Position, context: Context) -> _Begun | None:
    text, encoding = buffer.text, context.documents.encoding
    starts = line_starts(text)
    at = offset(text, starts, position.line, position.character, encoding)
    line = text[starts[min(position.line, len(starts) - 1)] : at]
    match = _BEGUN.search(line)
    if match is None:
        return None
    quoted, plain = match.groups()

    def place(where: int) -> types.Position:
        return types.Position(*position_of(text, starts, where, encoding))

    closed = place(at + 1) if quoted is not None and text[at : at + 1] == '"' else None
    prefix = plain if quoted is None else quoted
    return _Begun(
        prefix=prefix,
        typed=match[0],
        quoted=quoted is not None,
        start=place(at - len(match[0])),
        cursor=place(at),
        closed=closed,
    )


_KINDS = {"file": types.CompletionItemKind.File, "folder": types.CompletionItemKind.Folder}


def _item(item: MentionItem, begun: _Begun, number: int) -> types.CompletionItem:
    folder, other = item.kind == "folder", item.kind not in {"file", "folder"}
    path = f"{item.path}/" if folder else item.path
    written = f"@{path}" if other else spell(path)
    quoted = not other and (begun.quoted or written.startswith('@"'))
    if quoted:
        # A folder's quote stays open, so that what is in it can follow.
        written = f'@"{path}' if folder else f'@"{path}"'
    end = begun.closed if begun.closed is not None and not folder else begun.cursor
    fitting = item.path.casefold().startswith(begun.prefix.casefold())
    return types.CompletionItem(
        label=path,
        kind=_KINDS.get(item.kind, types.CompletionItemKind.Reference),
        detail=item.detail,
        sort_text=f"{number:04}",
        # What was found by its name alone would not begin with what was typed, and be hidden.
        filter_text=(f'@"{path}' if begun.quoted else f"@{path}") if fitting else begun.typed,
        text_edit=types.TextEdit(types.Range(begun.start, end), written),
    )


def _hover(
    context: Context, text: str, starts: list[int], reported: list[str], where: LawBlock | PathMention | None
) -> types.Hover:
    markdown = context.client.markdown
    value = ("\n\n" if markdown else "\n").join(reported)
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    span: types.Range | None = None
    if where is not None:
        encoding = context.documents.encoding
        first, last = (position_of(text, starts, place, encoding) for place in (where.start, where.end))
        span = types.Range(types.Position(*first), types.Position(*last))
    return types.Hover(types.MarkupContent(kind, value), span)


def _beaten(context: Context, buffer: Buffer, state: LawState) -> types.Hover | None:
    """What is known of a file that another of its folder keeps from counting."""
    same = (Path(one.path).name for one in state.files if buffer.path and Path(one.path).parent == buffer.path.parent)
    winner = next((name for name in same if not is_law_name(name, ())), None)
    return None if winner is None else _hover(context, "", [0], [shadowed(winner).message], None)


def _path_reported(named: NamedPath) -> list[str]:
    if named.kind == "missing":
        return [f"There is no `{named.path}` in the workspace."]
    if named.kind == "folder":
        return [f"`{named.path}` is a folder."]
    tokens = "" if named.tokens is None else f", about {named.tokens} tokens"
    return [f"`{named.path}`: {_bytes(named.size)}{tokens}."]


def _law_reported(file: LawFile, state: LawState, block: LawBlock | None) -> list[str]:
    reported: list[str] = []
    if block is not None:
        what = "This rule" if block.rule else "This part"
        reported.append(f"{what} takes about {estimate(block.text)} tokens.")
    share = 100 * file.tokens / max(1, state.window)
    name = Path(file.path).name
    reported.append(f"{name} takes about {file.tokens} tokens, {share:.1f} % of the window of {state.window}.")
    if block is None or not block.rule:
        reported.append(_cost_reported(file, state))
    if file.used is None:
        reported.append("No turn has been shown this text since the server was started.")
    else:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(file.used.at))
        title = " ".join(file.used.title.split())[:TITLE_CHARACTERS] or "untitled"
        reported.append(f"A turn was last shown this text at {when}, in the chat “{title}”.")
    return reported


def _cost_reported(file: LawFile, state: LawState) -> str:
    """What a turn pays for the whole of it."""
    when = "Each step of a turn that has touched its folder" if file.nested else "Each step of a turn"
    if state.prices is None:
        return f"{when} sends it again: about {file.tokens} tokens."
    read, written = (file.tokens * price / 1e6 for price in (state.prices.cache_read, state.prices.cache_write))
    return (
        f"{when} sends it again: about {file.tokens} tokens, {read:.5f} USD where they are read from the vendor's "
        f"cache and {written:.5f} USD where they are written to it."
    )


def _bytes(size: int) -> str:
    return f"{size} bytes" if size < 10_000 else f"{size / 1000:.0f} kB" if size < 10**6 else f"{size / 10**6:.1f} MB"
