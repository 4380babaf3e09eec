"""search_code: places in the workspace's code and documentation that answer a question (X-5)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.ports.code import CodeIndex, FoundPlaces, Place, PlaceKind
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.paths import is_top, starts

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
        data: dict[str, Any] = {"query": args.query, "total": len(found.places)}
        data["places"] = [_entry(place) for place in found.places]
        note = told(found)
        if note:
            data["note"] = note
        text = f"{len(found.places)} place{'s' * (len(found.places) != 1)}."
        if not found.places:
            text = "Nothing like it: try other words, or Grep."
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


def told(found: FoundPlaces) -> str:
    """What a reader of the places should know of the index."""
    state = found.state
    waiting = f"The index is being built: {state.pending} files wait." if state.pending else ""
    return " ".join(filter(None, (waiting, state.note)))


def _entry(place: Place) -> dict[str, Any]:
    """Lines numbered as Read does."""
    entry: dict[str, Any] = {"file": place.path, "line": place.start + 1, "end_line": place.end, "kind": place.kind}
    if place.symbol:
        entry["symbol"] = place.symbol
    return {**entry, "why": place.why, "lines": list(place.lines)}
