"""find_tools: tools and skills that the prompt does not describe, by what they do or are called (X-11)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import Field

from codelaw.domain.results import ToolResult
from codelaw.domain.safety.unseen import title
from codelaw.ranking.catalogue import Catalogue, CatalogueEntry
from codelaw.tools.base import AnyTool, Arguments, Tool, ToolEnvironment
from codelaw.tools.manual import properties, remarks

if TYPE_CHECKING:
    from codelaw.tools.base import AnyTool
import json
from dataclasses import dataclass, field
from typing import cast

from codelaw.domain.errors import ToolFailure
from codelaw.tools.naming import named

DESCRIPTION = 1_500
"""Characters of a description."""
SIGNATURE = 1_500
REMARK = 200
"""Characters of what is said of one argument."""
REMARKS = 1_500
"""The same of all arguments."""


def manual_of(tool: AnyTool) -> str:
    """Name and arguments, description, what is said of single arguments, each cut where it is too long."""
    lines = [f"{tool.name}[{{{cut(tool.signature(), SIGNATURE)}}}]", cut(tool.description.strip(), DESCRIPTION)]
    room = REMARKS
    for argument, words in remarks(tool.schema()):
        line = f"  {argument}: {cut(' '.join(words[: 2 * REMARK].split()), REMARK)}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "\n".join(filter(None, lines))


def cut(text: str, most: int) -> str:
    """The beginning of a text, with a mark where it goes on."""
    return text if len(text) <= most else f"{text[: most - 2]} …"


FIND_TOOLS = "find_tools"
BEST = 5
"""Tools, and skills, in one answer."""
LONGEST_QUERY = 4_000
TITLE_CHARACTERS = 60
SKILL = 300
"""Characters of a skill's description."""
SERVERS = 300
"""Characters of the servers' names in the description."""
INDEXED = 600
"""Characters of a description that are searched."""

Described = tuple[str, str]
"""Name and description."""


class FindToolsArguments(Arguments):
    query: str = Field(min_length=1)


class FindTools(Tool[FindToolsArguments]):
    """Data: `query, total, tools: [{name, manual}], skills: [{name, description}]`."""

    name = FIND_TOOLS
    arguments = FindToolsArguments
    effect = "read"

    def __init__(self, tools: Sequence[AnyTool], skills: tuple[Described, ...] = ()) -> None:
        self._tools = tuple(tools)
        self._skills = skills
        self.description = _description(self._tools, skills)

    def among(self, tools: Sequence[AnyTool]) -> FindTools | None:
        """The same over these tools; None where nothing is left to be found."""
        return FindTools(tools, self._skills) if tools or self._skills else None

    def title(self, args: FindToolsArguments) -> str:
        return f"Find tools: {title(args.query[: 4 * TITLE_CHARACTERS], TITLE_CHARACTERS)}"

    async def run(self, args: FindToolsArguments, env: ToolEnvironment) -> ToolResult:  # noqa: ARG002
        half = LONGEST_QUERY // 2
        query = args.query if len(args.query) <= LONGEST_QUERY else f"{args.query[:half]} {args.query[-half:]}"
        return await asyncio.to_thread(self._found, query)

    def _found(self, query: str) -> ToolResult:
        tools = [self._tools[place] for place in _of_tools(self._tools).best(query, BEST)]
        skills = [self._skills[place] for place in _of_skills(self._skills).best(query, BEST)]
        data: dict[str, Any] = {
            "query": cut(query, 200),
            "total": len(self._tools),
            "tools": [{"name": tool.name, "manual": manual_of(tool)} for tool in tools],
        }
        if skills:
            data["skills"] = [{"name": name, "description": cut(words, SKILL)} for name, words in skills]
        return ToolResult("success", data, _said(len(tools), len(skills)))


def _said(tools: int, skills: int) -> str:
    if not tools and not skills:
        return "Nothing fits these words. Say in other words what the tool should do."
    found = f"{tools} tools and {skills} skills found."
    return f"{found} Load a skill with load_skill." if skills else found


def _description(tools: Iterable[AnyTool], skills: Sequence[Described]) -> str:
    servers = ", ".join(dict.fromkeys(server_of(tool.name) for tool in tools))
    kinds = [f"tools of {cut(servers, SERVERS)}" if servers else "", "skills" if skills else ""]
    return (
        f"Search what is not described here, by what it should do: {' and '.join(filter(None, kinds))}. "
        f"The manuals of the best {BEST} come back, which can then be called."
    )


def server_of(name: str) -> str:
    """The server of a tool, by its name `mcp__server__tool`; its name where there is none."""
    parts = name.split("__", 2)
    return parts[1] if len(parts) == 3 and parts[0] == "mcp" else name


@lru_cache(maxsize=2)
def _of_tools(tools: tuple[AnyTool, ...]) -> Catalogue:
    """The tools as they are searched; made once, because that takes longer than a search."""
    return Catalogue(_entry(tool) for tool in tools)


@lru_cache(maxsize=2)
def _of_skills(skills: tuple[Described, ...]) -> Catalogue:
    return Catalogue(CatalogueEntry(name, description=words[:INDEXED]) for name, words in skills)


def _entry(tool: AnyTool) -> CatalogueEntry:
    server = server_of(tool.name)
    name = tool.name.split("__", 2)[-1]
    return entry("" if server == tool.name else server, name, tool.description, tool.schema())


def entry(server: str, name: str, description: str, schema: Mapping[str, Any]) -> CatalogueEntry:
    """What is searched of a tool."""
    return CatalogueEntry(
        name=name,
        server=server,
        description=description[:INDEXED],
        arguments=" ".join(properties(schema))[:INDEXED],
        remarks=" ".join(words[:INDEXED] for _, words in remarks(schema))[:INDEXED],
    )


CALL_TOOL = "call_tool"
BROUGHT = "mcp__"
"""What the names of brought tools begin with."""


class CallToolArguments(Arguments):
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class CallTool(Tool[CallToolArguments]):
    """Declares the form of the call only: a call of it is unwrapped before it is judged, stored or run."""

    name = CALL_TOOL
    description = "Call a tool that find_tools has found, with the arguments of its manual."
    arguments = CallToolArguments
    effect = "read"

    def title(self, args: CallToolArguments) -> str:
        return args.name

    async def run(self, args: CallToolArguments, env: ToolEnvironment) -> ToolResult:  # noqa: ARG002
        raise ToolFailure("INVALID_PARAM", f"{CALL_TOOL} does nothing itself.")


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The call inside a call of `call_tool`."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problem: str = ""
    """Why there is none, for the model to read."""


def unwrapped(arguments: Mapping[str, Any]) -> Wrapped:
    """The call that is meant by these arguments of `call_tool`.

    Taken as well, because only one thing can be meant: arguments that are the text of a JSON object, and ones that
    stand beside the name.
    """
    read = dict(named(CallToolArguments, arguments).arguments)
    name = read.pop("name", None)
    if not isinstance(name, str) or not name.strip():
        return Wrapped(CALL_TOOL, problem=f"{CALL_TOOL}: name is required, the name of a tool. {_FORM}")
    name = name.strip()
    if name == CALL_TOOL:
        return Wrapped(CALL_TOOL, problem=f"{CALL_TOOL} calls another tool, not itself. {_FORM}")
    inner = read.pop("arguments", read)
    if isinstance(inner, str):
        try:
            inner = json.loads(inner or "{}")
        except (ValueError, RecursionError):
            inner = None
    if not isinstance(inner, Mapping) or (read and inner is not read):
        return Wrapped(CALL_TOOL, problem=f"{CALL_TOOL}: arguments must be one object, those of {name[:80]}. {_FORM}")
    return Wrapped(name, cast("Mapping[str, Any]", inner))


_FORM = 'Expected: {"name": "…", "arguments": {…}}'
