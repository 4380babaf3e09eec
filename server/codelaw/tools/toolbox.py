"""The tools on offer, how they are described, and how their arguments are read (T-9, T-10, X-1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from codelaw.domain.chats import Mode
from codelaw.domain.errors import ToolFailure
from codelaw.domain.models import ToolSchema
from codelaw.domain.permissions import PathUse
from codelaw.tools.base import PATH_ARGUMENT, AnyTool, Arguments
from codelaw.tools.changing.edit import Edit
from codelaw.tools.changing.multi_edit import MultiEdit
from codelaw.tools.changing.renaming import QuickFix, Rename
from codelaw.tools.changing.write import Write
from codelaw.tools.code.diagnosing import Diagnostics
from codelaw.tools.code.navigating import Definition, References
from codelaw.tools.commands.bash import Bash
from codelaw.tools.keeping.memory_save import MemorySave
from codelaw.tools.keeping.memory_search import MemorySearch
from codelaw.tools.keeping.todo_write import TodoWrite
from codelaw.tools.manual import argument_schema, signature
from codelaw.tools.paths import misspelt
from codelaw.tools.reading.glob import Glob
from codelaw.tools.reading.grep import Grep
from codelaw.tools.reading.ls import LS
from codelaw.tools.reading.read import Read

SERVED: dict[str, AnyTool] = {
    "diagnostics": Diagnostics(),
    "definition": Definition(),
    "references": References(),
    "rename": Rename(),
    "quickFix": QuickFix(),
}
"""Tools by the service of the editor that they need, in the order of the manual."""


REMEMBERING: tuple[AnyTool, ...] = (MemorySave(), MemorySearch())


class Toolbox:
    """A fixed set of tools in a fixed order."""

    def __init__(self, tools: Iterable[AnyTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._schemas: tuple[ToolSchema, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def get(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def for_mode(self, mode: Mode) -> Toolbox:
        """All tools for `agent`; for `ask` and `plan` only those that read (X-1)."""
        if mode == "agent":
            return self
        return Toolbox(tool for tool in self._tools.values() if tool.effect == "read")

    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools for a vendor's tool use, in a stable order (L-3); the same tuple at every call."""
        if self._schemas is None:
            self._schemas = tuple(
                ToolSchema(tool.name, tool.description, argument_schema(tool.arguments))
                for tool in self._tools.values()
            )
        return self._schemas

    def manual(self) -> str:
        """The tools for a prompt: name, arguments, description (L-2)."""
        return "\n\n".join(
            f"{tool.name}[{{{signature(tool.arguments)}}}]\n{tool.description}" for tool in self._tools.values()
        )

    def parse(self, tool: AnyTool, arguments: Mapping[str, Any]) -> Arguments:
        """The arguments as the tool's model.

        Raises:
            ToolFailure: INVALID_PARAM naming each field, its value and the rule it breaks, at most five (T-9).
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
            if not (lines := _misspelt(read)):
                return read
        raise ToolFailure(
            "INVALID_PARAM", f"{tool.name}: {'; '.join(lines)}. Expected: {{{signature(tool.arguments)}}}"
        )


def default_toolbox(*, bash_timeout: float = 120.0, services: Collection[str] = (), memory: bool = False) -> Toolbox:
    """The nine built-in tools, behind them those of the editor's `services` (E-6), and last those of memory (T-8).

    `bash_timeout` is Bash's default limit in seconds.
    """
    nine = (LS(), Glob(), Grep(), Read(), Edit(), MultiEdit(), Write(), Bash(bash_timeout), TodoWrite())
    served = (tool for service, tool in SERVED.items() if service in services)
    return Toolbox((*nine, *served, *(REMEMBERING if memory else ())))


def ruled_tools() -> dict[str, PathUse | None]:
    """Every tool that a permission rule may name, offered now or not, and what it does with paths (S-1)."""
    every = default_toolbox(services=SERVED, memory=True)
    return {name: tool.paths for name in every.names if (tool := every.get(name)) is not None}


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
