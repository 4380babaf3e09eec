"""The tools on offer, how they are described, and how their arguments are read (T-9, T-10, X-1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from codelaw.domain.chats import Mode
from codelaw.domain.errors import ToolFailure
from codelaw.domain.models import ToolSchema
from codelaw.domain.permissions import PathUse
from codelaw.domain.safety.unseen import title
from codelaw.domain.served import ServerState
from codelaw.ports.abilities import Web
from codelaw.tools.base import PATH_ARGUMENT, AnyTool, Arguments
from codelaw.tools.categories import offered_in
from codelaw.tools.changing.editing import Edit, MultiEdit, Write
from codelaw.tools.changing.workspace_edit import QuickFix, Rename
from codelaw.tools.code.diagnosing import Diagnostics
from codelaw.tools.code.search_code import Outline, SearchCode
from codelaw.tools.code.symbols import Definition, References
from codelaw.tools.commands.bash import Bash
from codelaw.tools.finding.find_tools import (
    CALL_TOOL,
    FIND_TOOLS,
    CallTool,
    Described,
    FindTools,
    manual_of,
    server_of,
)
from codelaw.tools.keeping.memory import MemorySave, MemorySearch
from codelaw.tools.keeping.todo_write import TodoWrite
from codelaw.tools.paths import misspelt
from codelaw.tools.reading.listing import LS, Glob, Grep
from codelaw.tools.reading.read import LoadSkill, Read
from codelaw.tools.reading.web_fetch import WebFetch
from codelaw.tools.served.names import PERHAPS_LATE, server_meant, why_missing
from codelaw.tools.tasks.task import Task

SERVED: dict[str, AnyTool] = {
    "diagnostics": Diagnostics(),
    "definition": Definition(),
    "references": References(),
    "rename": Rename(),
    "quickFix": QuickFix(),
}
"""Tools by the service of the editor that they need, in the order of the manual."""


FINDING: tuple[AnyTool, ...] = (SearchCode(), Outline())
REMEMBERING: tuple[AnyTool, ...] = (MemorySave(), MemorySearch())
_LONG, _LIKE = 100, 0.5
"""Characters of an unknown name that are compared with known ones, and how much of two is alike at least."""
ALIASES = {"search_knowledge_base": SearchCode.name}
"""Names under which a tool is called as well; they are not in the manual (X-5)."""


class Toolbox:
    """A fixed set of tools in a fixed order.

    Args:
        tools: Codelaw's own.
        brought: What people have brought along, behind them; one that has the name of another is left out.
        deferred: Whether the brought ones are neither named nor described: the model finds them (X-11).
    """

    def __init__(self, tools: Iterable[AnyTool], brought: Iterable[AnyTool] = (), *, deferred: bool = False) -> None:
        self._own = {tool.name: tool for tool in tools}
        others = {tool.name: tool for tool in reversed([*brought]) if tool.name not in self._own}
        others = dict(reversed(others.items()))
        self._all = self._own | others
        self._shown = self._own if deferred else self._all
        self._hidden = others if deferred else {}
        self._schemas: tuple[ToolSchema, ...] | None = None
        self.brought = tuple(others.values())
        self.tools = tuple(self._all.values())
        """All of them, those to be found too."""
        self.callable: AbstractSet[str] = self._all.keys()
        """Their names."""
        self.names = tuple(self._shown)
        """Of the tools that the model is told of."""
        self.deferred = len(self._hidden)
        """How many tools are to be found (X-11)."""
        self.servers = frozenset(map(server_of, others))
        """The names of the servers that bring tools (X-3)."""

    def get(self, name: str) -> AnyTool | None:
        return self._all.get(ALIASES.get(name, name))

    def for_mode(self, mode: Mode) -> Toolbox:
        """All tools for `agent`; for `ask` and `plan` what `tools/categories` says (X-1)."""
        if mode == "agent":
            return self
        offered = ((tool for tool in tools if offered_in(tool, mode)) for tools in (self._own.values(), self.brought))
        return Toolbox(*offered)

    def only(self, names: Collection[str]) -> Toolbox:
        """Those of these names; what is to be found is found among them alone (X-4)."""
        brought = [tool for tool in self.brought if tool.name in names]
        deferring = bool(brought and self._hidden) and FIND_TOOLS in names
        own: list[AnyTool] = []
        for tool in self._own.values():
            kept = tool.among(brought if deferring else ()) if isinstance(tool, FindTools) else tool
            if kept is not None and tool.name in names and (deferring or not isinstance(tool, CallTool)):
                own.append(kept)
        return Toolbox(own, brought, deferred=deferring)

    def searched(self, skills: Sequence[Described] = (), *, deferring: bool) -> Toolbox:
        """With what finds the brought tools, if those are `deferring`, and `skills`; itself where there is neither.

        Args:
            skills: Names and descriptions of the skills that the model is not told of.
            deferring: The brought tools are not described but found (X-11).
        """
        hidden = self.brought if deferring else ()
        if not hidden and not skills:
            return self
        return Toolbox((*self._own.values(), FindTools(hidden, tuple(skills))), self.brought, deferred=deferring)

    def calling(self) -> Toolbox:
        """What is found is called through `call_tool` (X-11); itself where that is so, or nothing is to be found."""
        known = not self._hidden or CALL_TOOL in self._own
        return self if known else Toolbox((*self._own.values(), CallTool()), self.brought, deferred=True)

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools for a vendor's tool use, in a stable order (L-3); the same tuple at every call."""
        if self._schemas is None:
            self._schemas = tuple(
                ToolSchema(tool.name, tool.description, tool.schema()) for tool in self._shown.values()
            )
        return self._schemas

    def manual(self) -> str:
        """The tools for a prompt: name, arguments, description (L-2)."""
        return "\n\n".join(tool.manual() for tool in self._shown.values())

    def unknown(self, name: str, servers: Sequence[ServerState] = ()) -> str:
        """What a call of a tool that there is not is answered with (R-3), by the states of the user's servers (X-3)."""
        server = server_meant(name, [one for one in servers if one.name not in self.servers])
        if server is not None and (why := why_missing(name, server)) is not None:
            return why
        said = f"There is no tool {title(name, 100)!r} in this mode. The tools are: {', '.join(self._shown)}."
        if server is not None:
            said = f"{said} {PERHAPS_LATE.format(server=server.name)}"
        like = get_close_matches(name[:_LONG], self._hidden, cutoff=_LIKE)
        if like:
            return f"{said} Names like it, of tools that {FIND_TOOLS} finds: {', '.join(like)}."
        return f"{said} {FIND_TOOLS} finds more." if self._hidden else said

    def parse(self, tool: AnyTool, arguments: Mapping[str, Any]) -> Arguments:
        """The arguments as the tool's model.

        Raises:
            ToolFailure: INVALID_PARAM naming each field, its value and the rule it breaks, at most five (T-9); of a
                tool that is to be found with its manual, which may not stand in the view any more (X-11).
        """
        lines: list[str] = []
        try:
            read = tool.arguments.model_validate(dict(arguments))
        except ValidationError as invalid:
            problems = invalid.errors(include_url=False, include_context=False)
            lines += [_problem(one["loc"], one["input"], one["type"], one["msg"]) for one in problems[:5]]
            if len(problems) > 5:
                lines.append(f"and {len(problems) - 5} more")
        else:
            if not (lines := [*_misspelt(read), *tool.invalid(read)]):
                return read
        expected = f"{{{tool.signature()}}}"
        if tool.name in self._hidden:
            expected = f"\n{manual_of(tool)}"
        raise ToolFailure("INVALID_PARAM", f"{tool.name}: {'; '.join(lines)}. Expected: {expected}")


def default_toolbox(
    *,
    bash_timeout: float = 120.0,
    services: Collection[str] = (),
    code: bool = False,
    memory: bool = False,
    skills: bool = False,
    web: Web | None = None,
    kinds: Sequence[Described] = (),
    brought: Sequence[AnyTool] = (),
) -> Toolbox:
    """The nine built-in tools, then those of the editor's `services` (E-6), of index, memory, skills and the web.

    `bash_timeout` is Bash's default limit in seconds; `kinds` are those of subagents (X-4), `brought` is what people
    have brought along (X-3).
    """
    nine = (LS(), Glob(), Grep(), Read(), Edit(), MultiEdit(), Write(), Bash(bash_timeout), TodoWrite())
    served = (tool for service, tool in SERVED.items() if service in services)
    known = (
        *nine,
        *served,
        *(FINDING if code else ()),
        *(REMEMBERING if memory else ()),
        *((LoadSkill(),) if skills else ()),
        *(() if web is None else (WebFetch(web),)),
        *((Task(kinds),) if kinds else ()),
    )
    return Toolbox(known, brought)


def every_tool() -> tuple[AnyTool, ...]:
    """All of ours, offered now or not."""
    known = default_toolbox(services=SERVED, code=True, memory=True, skills=True, kinds=[("", "")]).tools
    return (*known, WebFetch(None))


def ruled_tools() -> dict[str, PathUse | None]:
    """Every tool that a permission rule may name, offered now or not, and what it does with paths (S-1)."""
    ruled: dict[str, PathUse | None] = {FIND_TOOLS: None}
    ruled |= {tool.name: tool.paths for tool in every_tool()}
    return ruled


def _misspelt(read: Arguments) -> list[str]:
    """Paths that cannot be meant as they are spelt."""
    named = ((name, getattr(read, name)) for name in type(read).model_fields if PATH_ARGUMENT.search(name))
    return [
        _problem((name,), path, "value_error", problem)
        for name, path in named
        if isinstance(path, str) and (problem := misspelt(path))
    ]


def _problem(location: tuple[int | str, ...], value: object, kind: str, message: str) -> str:
    field = (
        "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".") or "arguments"
    )
    if kind == "missing":
        return f"{field} is required"
    if kind == "extra_forbidden":
        return f"{field} is not an argument"
    shown = repr(value)
    return f"{field} = {shown if len(shown) <= 80 else shown[:79] + '…'}: {message.removeprefix('Value error, ')}"
