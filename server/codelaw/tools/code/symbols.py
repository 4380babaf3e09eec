"""Definition and References, and where in a file a model means (E-6)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from codelaw.domain.code import CodePlace, Position
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located
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


@dataclass(frozen=True, slots=True)
class Aim:
    """A place in a file that the editor is asked about."""

    place: Located
    file: FileText
    uri: str
    """As the editor names the document."""
    at: Position


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


async def aimed(args: SymbolArguments, env: ToolEnvironment, services: LanguageServices) -> Aim:
    """The symbol's place; of several on the line the first whole word.

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
    return Aim(place, file, editor_uri(place, env), at)


def line_of(text: str, number: int, shown: str) -> tuple[int, str]:
    """Where a line begins, and the line without its break; numbered as Read does.

    Raises:
        ToolFailure: INVALID_PARAM past the end.
    """
    lines = text.split("\n")
    if number > len(lines):
        raise ToolFailure("INVALID_PARAM", f"line = {number} is past the end: {shown} has {len(lines)} lines.")
    return sum(len(line) + 1 for line in lines[: number - 1]), lines[number - 1].removesuffix("\r")


@dataclass(frozen=True, slots=True)
class ShownPlaces:
    """Places as a model is shown them."""

    places: list[dict[str, Any]]
    """`file, line, text`; without `text` outside the workspace."""
    total: int
    withheld: int
    """Places in files that a rule keeps from the model (S-1)."""


async def shown_places(
    found: Iterable[CodePlace], limit: int, env: ToolEnvironment, services: LanguageServices
) -> ShownPlaces:
    """The first places with their lines, in the order of the editor's answer."""
    every = list(found)
    denied = {path for path in {item.path for item in every} if await _denied(path, env)}
    allowed = [item for item in every if item.path not in denied]
    texts: dict[str, tuple[str, str | None]] = {}
    shown: list[dict[str, Any]] = []
    for item in allowed:
        if len(shown) == limit:
            break
        if item.path not in texts:
            texts[item.path] = await _text(item.path, env)
        name, text = texts[item.path]
        entry: dict[str, Any] = {"file": name, "line": item.span.start.line + 1}
        if text is None:
            entry["outside"] = True
        else:
            (offset,) = services.offsets(text, [item.span.start])
            if offset is not None:
                # As Read counts, for which a lone carriage return ends no line.
                entry["line"] = text.count("\n", 0, offset) + 1
                end = text.find("\n", offset)
                line = text[text.rfind("\n", 0, offset) + 1 : None if end < 0 else end]
                entry["text"] = line.strip()[:LINE_CHARACTERS]
        if entry not in shown:
            shown.append(entry)
    return ShownPlaces(shown, len(allowed), len(every) - len(allowed))


async def _denied(path: str, env: ToolEnvironment) -> bool:
    try:
        await located(env.workspace, path)
    except ToolFailure as failure:
        return failure.code == "PERMISSION_DENIED"
    return False


async def _text(path: str, env: ToolEnvironment) -> tuple[str, str | None]:
    """A file's name and text; no text outside the workspace or where it cannot be read."""
    try:
        place = await located(env.workspace, path)
    except ToolFailure:
        return path, None
    try:
        return place.shown, (await env.workspace.read(place)).text
    except ToolFailure:
        return place.shown, None


MAX_DEFINITIONS = 20


class DefinitionArguments(SymbolArguments):
    pass


class Definition(Tool[DefinitionArguments]):
    """Data: `symbol, total, places [{file, line, text}], withheld?`; `outside` marks a place beyond the workspace."""

    name = "Definition"
    description = "Where a symbol is defined, by the editor's language server. `symbol` as it stands in that line."
    arguments = DefinitionArguments
    effect = "read"
    paths = "reads"

    def title(self, args: DefinitionArguments) -> str:
        return f"Definition of {args.symbol}"

    async def run(self, args: DefinitionArguments, env: ToolEnvironment) -> ToolResult:
        services = services_of(env, "definition")
        aim = await aimed(args, env, services)
        found = await services.definition(aim.uri, aim.at)
        if not found:
            raise ToolFailure("NOT_FOUND", f"The editor knows no definition of {args.symbol}: try Grep.")
        return _result(args, await shown_places(found, MAX_DEFINITIONS, env, services), "definition")


class ReferencesArguments(SymbolArguments):
    limit: int = Field(50, ge=1, le=200)


class References(Tool[ReferencesArguments]):
    """Data: `symbol, total, places [{file, line, text}], truncated?, withheld?`."""

    name = "References"
    description = "Where a symbol is used, by the editor's language server: other things of the same name are left out."
    arguments = ReferencesArguments
    effect = "read"
    paths = "reads"

    def title(self, args: ReferencesArguments) -> str:
        return f"References to {args.symbol}"

    async def run(self, args: ReferencesArguments, env: ToolEnvironment) -> ToolResult:
        services = services_of(env, "references")
        aim = await aimed(args, env, services)
        found = await services.references(aim.uri, aim.at)
        return _result(args, await shown_places(found, args.limit, env, services), "reference")


def _result(args: SymbolArguments, shown: ShownPlaces, what: str) -> ToolResult:
    cut = shown.total > len(shown.places) and len(shown.places) >= getattr(args, "limit", MAX_DEFINITIONS)
    withheld = "Some lie in files that a permission rule keeps from you." if shown.withheld else ""
    data = {"symbol": args.symbol, "total": shown.total, "places": shown.places}
    data |= applying(truncated=cut, withheld=withheld)
    count = f"{shown.total} {what}{'' if shown.total == 1 else 's'} of {args.symbol}"
    text = f"{count}, the first {len(shown.places)} shown." if cut else f"{count}."
    return cut_result(data, text, cut=cut)
