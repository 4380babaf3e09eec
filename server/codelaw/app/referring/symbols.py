"""`@symbol:NAME`: where it is defined, best first; nothing of the text (M-8)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.adapters.code.answering import parts_of
from codelaw.app.referring.bounds import attribute
from codelaw.context.escaping import one_name
from codelaw.domain.errors import ToolFailure
from codelaw.domain.messages import Fragment
from codelaw.templates.render import render
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.code import NamedCode
    from codelaw.domain.files import Located
    from codelaw.ports.code import CodeIndex
    from codelaw.ports.editor import LanguageServices
    from codelaw.ports.workspace import Workspace

MOST_PLACES = 8
"""Of one symbol."""
LOOKED_AT = 200
"""Answers of the editor that are looked through."""
EDITOR_SECONDS = 3.0
INDEX_SECONDS = 8.0
"""Also while the index is being built."""
_ARGUMENTS = re.compile(r"\(.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Defined:
    """Where a symbol is defined; lines count from 1, and `last` is part of it."""

    path: str
    """As shown."""
    uri: str
    first: int
    last: int
    kind: str
    name: str
    container: str = ""


async def defined(
    name: str, workspace: Workspace, services: LanguageServices | None, index: CodeIndex
) -> tuple[Defined, ...]:
    """The definitions of a name, by the editor's language servers where they are lent, else by the index of the code.

    Both are bounded in time. What a rule denies, or lies outside the workspace, is left out.
    """
    found: list[Defined] = []
    if services is not None and "symbols" in services.offered:
        found = await _by_editor(name, workspace, services)
    return tuple(found or await by_index(name, workspace, index, MOST_PLACES))


async def by_index(
    name: str,
    workspace: Workspace,
    index: CodeIndex,
    limit: int,
    *,
    begun: bool = False,
    seconds: float = INDEX_SECONDS,
) -> list[Defined]:
    """The same by the index alone; with `begun` what only begins so."""
    try:
        async with asyncio.timeout(seconds):
            named = await index.named(workspace, name, limit, begun=begun)
    except TimeoutError:
        return []
    found: list[Defined] = []
    for path, symbol in named:
        uri = (await located(workspace, path)).uri
        first, last = symbol.start + 1, max(symbol.start + 1, symbol.end)
        found.append(Defined(path, uri, first, last=last, kind=symbol.kind, name=symbol.name))
    return found


async def _by_editor(name: str, workspace: Workspace, services: LanguageServices) -> list[Defined]:
    parts = parts_of(name)
    if not parts:
        return []
    try:
        offered = await services.symbols(parts[-1], seconds=EDITOR_SECONDS)
    except ToolFailure:
        return []  # it hangs, or failed: the index knows too
    fitting = [one for one in offered[:LOOKED_AT] if _fits(one, parts)]
    fitting.sort(key=lambda one: _plain(one.name) != parts[-1])
    found: dict[Defined, None] = {}
    for one in fitting:
        if len(found) == MOST_PLACES:
            break
        try:
            place = await located(workspace, one.place.path)
        except ToolFailure:
            continue
        found[_placed(one, place)] = None
    return list(found)


def _placed(one: NamedCode, place: Located) -> Defined:
    span = one.place.span
    closed = span.end.character == 0 and span.end.line > span.start.line  # it ends before its last line
    last = span.end.line if closed else span.end.line + 1
    name, container = _plain(one.name), one.container
    return Defined(
        place.shown, place.uri, span.start.line + 1, last=last, kind=one.kind, name=name, container=container
    )


def _plain(name: str) -> str:
    """A name without the arguments that some language servers show behind it."""
    return _ARGUMENTS.sub("", name).strip()


def _fits(one: NamedCode, parts: Sequence[str]) -> bool:
    own = parts_of(_plain(one.name))
    if not own or own[-1].casefold() != parts[-1].casefold():
        return False
    around = [*parts_of(one.container), *own[:-1]]
    return len(parts) == 1 or parts[-2] in around


def fragment(name: str, places: Sequence[Defined]) -> Fragment:
    """The places in words for the model."""
    rows = [
        f"{one_name(one.path)}:{one.first}-{one.last} {one_name(one.kind)} {one_name(one.name)[:200]}"
        + (f" in {one_name(one.container)[:200]}" if one.container else "")
        for one in places
    ]
    return Fragment("symbol", render("symbol", label=attribute(name), rows=rows))
