"""call_tool: how a found tool is called where vendors take only calls of declared tools (X-11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.naming import named

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
