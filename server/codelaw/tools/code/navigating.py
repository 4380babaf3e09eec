"""Definition and References: the editor's language servers asked about a symbol (E-6)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Tool, ToolEnvironment
from codelaw.tools.code.symbols import Shown, SymbolArguments, aimed, services_of, shown_places

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


def _result(args: SymbolArguments, shown: Shown, what: str) -> ToolResult:
    data: dict[str, Any] = {"symbol": args.symbol, "total": shown.total, "places": shown.places}
    cut = shown.total > len(shown.places) and len(shown.places) >= getattr(args, "limit", MAX_DEFINITIONS)
    if cut:
        data["truncated"] = True
    if shown.withheld:
        data["withheld"] = "Some lie in files that a permission rule keeps from you."
    count = f"{shown.total} {what}{'' if shown.total == 1 else 's'} of {args.symbol}"
    text = f"{count}, the first {len(shown.places)} shown." if cut else f"{count}."
    return ToolResult("partial" if cut else "success", data, text)
