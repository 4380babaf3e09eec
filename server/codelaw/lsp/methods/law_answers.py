"""Hover in the law, and completion of `@paths` in it and in chat files (E-5, M-4)."""

from __future__ import annotations

import asyncio
import re
import time
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
    chat = buffer is not None and buffer.uri.casefold().endswith(CHAT_FILE)
    if buffer is None or not (chat or is_law(buffer.uri, context.configuration.law_files)):
        return None
    text, encoding, cursor = buffer.text, context.documents.encoding, params.position
    starts = line_starts(text)
    at = offset(text, starts, cursor.line, cursor.character, encoding)
    before = text[starts[min(cursor.line, len(starts) - 1)] : at]

    def back_to(place: int) -> types.Range:
        first, last = (types.Position(*position_of(text, starts, one, encoding)) for one in (place, at))
        return types.Range(first, last)

    begun = _BEGUN.search(before)
    if begun is None:
        return await _commands(context, back_to(at - len(before))) if chat and _CALLED.fullmatch(before) else None
    prefix = begun[2] if begun[1] is None else begun[1]
    found = await context.session.extensions.mentions(prefix, OFFERED, buffer.path)
    if not chat:  # a law names files; nothing else of it is looked up
        found = [item for item in found if item.kind in {"file", "folder"}]
    closed = begun[1] is not None and text[at : at + 1] == '"'
    span = back_to(at - len(begun[0]))
    items = [_item(item, begun, prefix, span, number, closed=closed) for number, item in enumerate(found)]
    # Below a folder everything was looked at; else names anywhere come in as more is typed.
    complete = "/" in prefix and len(items) < OFFERED
    return types.CompletionList(is_incomplete=not complete, items=items)


async def _commands(context: Context, span: types.Range) -> types.CompletionList:
    """Commands of the user's, and skills, where the question of a chat file begins with a slash (X-7, X-2)."""
    commands = await context.session.extensions.commands()
    names = {one.name for one in commands}
    skills = [one for one in await context.session.extensions.skills() if one.offered and one.name not in names]
    called = [*((one, one.arguments) for one in commands), *((one, "") for one in skills)]
    items = [
        types.CompletionItem(
            label=f"/{one.name}",
            label_details=types.CompletionItemLabelDetails(detail=f" {arguments}") if arguments else None,
            kind=types.CompletionItemKind.Function,
            detail=one.description or one.source,
            text_edit=types.TextEdit(span, f"/{one.name} "),
        )
        for one, arguments in called
    ]
    return types.CompletionList(is_incomplete=False, items=items)


_KINDS = {"file": types.CompletionItemKind.File, "folder": types.CompletionItemKind.Folder}


def _item(
    item: MentionItem, begun: re.Match[str], prefix: str, span: types.Range, number: int, *, closed: bool
) -> types.CompletionItem:
    """What is offered for a mention that is being typed; `closed`: its closing quote stands right after the cursor."""
    folder, other, quoted = item.kind == "folder", item.kind not in {"file", "folder"}, begun[1] is not None
    path = f"{item.path}/" if folder else item.path
    written = f"@{path}" if other else spell(path)
    if not other and (quoted or written.startswith('@"')):
        # A folder's quote stays open, so that what is in it can follow.
        written = f'@"{path}' if folder else f'@"{path}"'
    end = types.Position(span.end.line, span.end.character + (closed and not folder))
    fitting = item.path.casefold().startswith(prefix.casefold())
    return types.CompletionItem(
        label=path,
        kind=_KINDS.get(item.kind, types.CompletionItemKind.Reference),
        detail=item.detail,
        sort_text=f"{number:04}",
        # What was found by its name alone would not begin with what was typed, and be hidden.
        filter_text=(f'@"{path}' if quoted else f"@{path}") if fitting else begun[0],
        text_edit=types.TextEdit(types.Range(span.start, end), written),
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
