"""Definition and References, and where in a file a model means (E-6)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import Field

from codelaw.domain.code import CodePlace, Position
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Located
from codelaw.domain.results import ToolResult
from codelaw.ports.editor import LanguageServices
from codelaw.tools.base import Arguments, Tool, ToolEnvironment, applying, cut_result
from codelaw.tools.paths import located

LINE_CHARACTERS = 300
"""Of a line of code that is shown beside its place."""


class SymbolArguments(Arguments):
    """A symbol where it stands in a file, its line numbered as Read does."""

    path: str = Field(min_length=1)
    line: int = Field(ge=1)
    symbol: str = Field(min_length=1, max_length=500)


def services_of(env: ToolEnvironment, service: str) -> LanguageServices:
    """The editor's services.

    Raises:
        ToolFailure: EXECUTION_ERROR when the editor does not offer this one (any more).
    """
    if env.services is None or service not in env.services.offered:
        raise ToolFailure("EXECUTION_ERROR", "The editor does not offer this.")
    return env.services


def editor_uri(place: Located, env: ToolEnvironment) -> str:
    """How the editor names the document: by its own uri when it is open."""
    buffer = env.workspace.buffers.at(place.path)
    return place.uri if buffer is None else buffer.uri


async def aimed(args: SymbolArguments, env: ToolEnvironment, services: LanguageServices) -> tuple[str, Position]:
    """The document, as the editor names it, and the symbol's place; of several on the line the first whole word.

    Raises:
        ToolFailure: INVALID_PARAM when the line or the symbol is not there; what reading raises.
    """
    place = await located(env.workspace, args.path)
    file = await env.workspace.read(place)
    start, line = line_of(file.text, args.line, place.shown)
    word = rf"(?<!\w){re.escape(args.symbol)}(?!\w)"
    found = re.search(word, line)
    column = found.start() if found else line.find(args.symbol)
    if column < 0:
        shown = line.strip()[:LINE_CHARACTERS]
        raise ToolFailure(
            "INVALID_PARAM", f"symbol = {args.symbol!r} is not in line {args.line} of {place.shown}, which is: {shown}"
        )
    at = await asyncio.to_thread(services.position, file.text, start + column)
    return editor_uri(place, env), at


def line_of(text: str, number: int, shown: str) -> tuple[int, str]:
    """Where a line begins, and the line without its break; numbered as Read does.

    Raises:
        ToolFailure: INVALID_PARAM past the end.
    """
    lines = text.split("\n")
    if number > len(lines):
        raise ToolFailure("INVALID_PARAM", f"line = {number} is past the end: {shown} has {len(lines)} lines.")
    return sum(len(line) + 1 for line in lines[: number - 1]), lines[number - 1].removesuffix("\r")


MAX_DEFINITIONS = 20

A = TypeVar("A", bound=SymbolArguments)


class Locating(Tool[A]):
    """Data: `symbol, total, places [{file, line, text}], truncated?, withheld?`.

    `outside` marks a place beyond the workspace.
    """

    effect = "read"
    paths = "reads"
    what: str

    async def located(
        self, found: Sequence[CodePlace], args: A, limit: int, env: ToolEnvironment, services: LanguageServices
    ) -> ToolResult:
        """The first places with their lines, in the order of the editor's answer."""
        known: dict[str, Located | ToolFailure] = {}
        for path in dict.fromkeys(item.path for item in found):
            try:
                known[path] = await located(env.workspace, path)
            except ToolFailure as failure:
                known[path] = failure
        allowed = [item for item in found if getattr(known[item.path], "code", "") != "PERMISSION_DENIED"]
        texts: dict[str, str | None] = {}
        places: list[dict[str, Any]] = []
        for item in allowed:
            if len(places) == limit:
                break
            place = known[item.path]
            if item.path not in texts:
                texts[item.path] = await _text(place, env)
            name = item.path if isinstance(place, ToolFailure) else place.shown
            entry = {"file": name, **_lines(texts[item.path], item, services)}
            if entry not in places:
                places.append(entry)
        total = len(allowed)
        cut = total > len(places) and len(places) >= limit
        withheld = "Some lie in files that a permission rule keeps from you." if total < len(found) else ""
        data = {"symbol": args.symbol, "total": total, "places": places}
        data |= applying(truncated=cut, withheld=withheld)
        count = f"{total} {self.what}{'' if total == 1 else 's'} of {args.symbol}"
        text = f"{count}, the first {len(places)} shown." if cut else f"{count}."
        return cut_result(data, text, cut=cut)


async def _text(place: Located | ToolFailure, env: ToolEnvironment) -> str | None:
    """A file's text; None outside the workspace or where it cannot be read."""
    if isinstance(place, ToolFailure):
        return None
    try:
        return (await env.workspace.read(place)).text
    except ToolFailure:
        return None


def _lines(text: str | None, item: CodePlace, services: LanguageServices) -> dict[str, Any]:
    """The number of a line, and the line."""
    line = item.span.start.line + 1
    if text is None:
        return {"line": line, "outside": True}
    (offset,) = services.offsets(text, [item.span.start])
    if offset is None:
        return {"line": line}
    # As Read counts, for which a lone carriage return ends no line.
    end = text.find("\n", offset)
    shown = text[text.rfind("\n", 0, offset) + 1 : None if end < 0 else end]
    return {"line": text.count("\n", 0, offset) + 1, "text": shown.strip()[:LINE_CHARACTERS]}


class Definition(Locating[SymbolArguments]):
    name = "Definition"
    description = "Where a symbol is defined, by the editor's language server. `symbol` as it stands in that line."
    arguments = SymbolArguments
    what = "definition"

    def title(self, args: SymbolArguments) -> str:
        return f"Definition of {args.symbol}"

    async def run(self, args: SymbolArguments, env: ToolEnvironment) -> ToolResult:
        services = services_of(env, "definition")
        found = await services.definition(*await aimed(args, env, services))
        if not found:
            raise ToolFailure("NOT_FOUND", f"The editor knows no definition of {args.symbol}: try Grep.")
        return await self.located(found, args, MAX_DEFINITIONS, env, services)


class ReferencesArguments(SymbolArguments):
    limit: int = Field(50, ge=1, le=200)


class References(Locating[ReferencesArguments]):
    name = "References"
    description = "Where a symbol is used, by the editor's language server: other things of the same name are left out."
    arguments = ReferencesArguments
    what = "reference"

    def title(self, args: ReferencesArguments) -> str:
        return f"References to {args.symbol}"

    async def run(self, args: ReferencesArguments, env: ToolEnvironment) -> ToolResult:
        services = services_of(env, "references")
        found = await services.references(*await aimed(args, env, services))
        return await self.located(found, args, args.limit, env, services)
