"""search_code and Outline: what the index and the grammars know of the workspace's code (X-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.ports.code import CodeIndex, FileOutline, FoundPlaces, Place, PlaceKind, Symbol
from codelaw.tools.base import Arguments, Tool, ToolEnvironment, applying, cut_result
from codelaw.tools.code.symbols import editor_uri
from codelaw.tools.paths import is_top, located, starts

_TITLE_CHARACTERS = 80


class SearchCodeArguments(Arguments):
    query: str = Field(min_length=1, max_length=4_000)
    path: str = "."
    kind: PlaceKind = "any"
    limit: int = Field(default=10, ge=1, le=30)


class SearchCode(Tool[SearchCodeArguments]):
    """Data: `query, total, places [{file, line, end_line, kind, symbol?, why, lines}], note?`."""

    name = "search_code"
    description = "Find code and documents by meaning, best first. Grep is for exact text."
    arguments = SearchCodeArguments
    effect = "read"
    paths = "reads"

    def title(self, args: SearchCodeArguments) -> str:
        query = " ".join(args.query.split())
        query = query if len(query) <= _TITLE_CHARACTERS else query[: _TITLE_CHARACTERS - 1] + "…"
        return f"Search the code for {query}" + ("" if is_top(args.path) else f" in {args.path}")

    async def run(self, args: SearchCodeArguments, env: ToolEnvironment) -> ToolResult:
        index = index_of(env)
        below = await tops(args.path, env)
        found = await index.search(env.workspace, args.query, below=below, kind=args.kind, limit=args.limit)
        note = reported(found)
        places = [_entry(place) for place in found.places]
        data = {"query": args.query, "total": len(places), "places": places, **applying(note=note)}
        text = (
            f"{len(places)} place{'s' * (len(places) != 1)}."
            if places
            else "Nothing like it: try other words, or Grep."
        )
        return ToolResult("success", data, " ".join(filter(None, (text, note))))


def index_of(env: ToolEnvironment) -> CodeIndex:
    """The workspace's index.

    Raises:
        ToolFailure: EXECUTION_ERROR where there is none.
    """
    if env.code is None:
        raise ToolFailure("EXECUTION_ERROR", "There is no index here: use Grep.")
    return env.code


async def tops(path: str, env: ToolEnvironment) -> tuple[str, ...]:
    """Where to look below, as shown; nothing for the whole workspace.

    Raises:
        ToolFailure: as `starts`.
    """
    return () if is_top(path) else tuple(place.shown for place in await starts(env.workspace, path))


def reported(found: FoundPlaces) -> str:
    """What a reader of the places should know of the index."""
    state = found.state
    waiting = f"The index is being built: {state.pending} files wait." if state.pending else ""
    return " ".join(filter(None, (waiting, state.note)))


def _entry(place: Place) -> dict[str, Any]:
    """Lines numbered as Read does."""
    where = {"file": place.path, "line": place.start + 1, "end_line": place.end, "kind": place.kind}
    return {**where, **applying(symbol=place.symbol), "why": place.why, "lines": list(place.lines)}


MOST_FILES = 100
MOST_SYMBOLS = 5_000
NAME_CHARACTERS = 200
OF_A_FILE = 12
"""Symbols of one file among several."""


class OutlineArguments(Arguments):
    path: str = "."
    limit: int = Field(default=150, ge=1, le=1_000)


class Outline(Tool[OutlineArguments]):
    """Data: `path, total, symbols [{file, line, end_line, kind, name, level}], truncated?`.

    `total` counts the symbols of a file; of a folder the files, and each gives its outer symbols only.
    """

    name = "Outline"
    description = "What a file or folder defines, with lines. Of a folder the files used most come first."
    arguments = OutlineArguments
    effect = "read"
    paths = "reads"

    def title(self, args: OutlineArguments) -> str:
        return f"Outline {args.path}"

    async def run(self, args: OutlineArguments, env: ToolEnvironment) -> ToolResult:
        index = index_of(env)
        below = await tops(args.path, env)
        lent = await _lent(below[0], env) if len(below) == 1 else None
        outlines, total = ([lent], 1) if lent else await index.outline(env.workspace, below, MOST_FILES)
        alone = len(outlines) == 1 and below == (outlines[0].path,)
        rows = [row for outline in outlines for row in _rows(outline, whole=alone)]
        cut = len(rows) > args.limit or total > len(outlines)
        data = {"path": args.path, "total": len(rows) if alone else total, "symbols": rows[: args.limit]}
        data |= applying(truncated=cut)
        what = "symbols" if alone else "files that define something"
        text = f"{data['total']} {what}" + (f", the first {len(rows[: args.limit])} symbols shown" if cut else "") + "."
        return cut_result(data, text, cut=cut)


async def _lent(path: str, env: ToolEnvironment) -> FileOutline | None:
    """A file's symbols by the editor's language server; None where it lends none, or knows nothing of the file."""
    if env.services is None or "outline" not in env.services.offered:
        return None
    place = await located(env.workspace, path)
    if await env.workspace.exists(place) != "file":
        return None
    try:
        found = await env.services.outline(editor_uri(place, env))
    except ToolFailure:
        return None  # it hangs, or failed: the grammar knows too
    symbols: list[Symbol] = []
    for one in found[:MOST_SYMBOLS]:
        span = one.place.span
        closed = span.end.character == 0 and span.end.line > span.start.line  # it ends before its last line
        end = span.end.line if closed else span.end.line + 1
        symbols.append(Symbol(" ".join(one.name.split())[:NAME_CHARACTERS], one.kind, span.start.line, end))
    return FileOutline(place.shown, tuple(symbols), parsed=True) if symbols else None


def _rows(outline: FileOutline, *, whole: bool) -> list[dict[str, Any]]:
    levels = list(zip(outline.symbols, _levels(outline.symbols), strict=True))
    chosen = [(symbol, level) for symbol, level in levels if whole or (level == 0 and symbol.kind != "variable")]
    return [
        {
            "file": outline.path,
            "line": symbol.start + 1,
            "end_line": symbol.end,
            "kind": symbol.kind,
            "name": symbol.name,
            "level": level,
        }
        for symbol, level in (chosen if whole else chosen[:OF_A_FILE])
    ]


def _levels(symbols: Sequence[Symbol]) -> list[int]:
    """How many symbols stand around each."""
    around: list[Symbol] = []
    levels: list[int] = []
    for symbol in symbols:
        while around and around[-1].end <= symbol.start:
            around.pop()
        levels.append(len(around))
        around.append(symbol)
    return levels
