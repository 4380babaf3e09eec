"""A reply's calls as they are judged, run and stored: under the names that their tools declare (T-11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.agent.dialects.base import InvalidCall
from codelaw.domain.messages import Call
from codelaw.tools.finding.call_tool import CALL_TOOL, unwrapped
from codelaw.tools.naming import named

if TYPE_CHECKING:
    from codelaw.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call that a reply asks for."""

    call: Call
    problem: str = ""
    """Why it cannot be read; such a call is answered with this and never run (R-6)."""
    told: str = ""
    """What the model is told about the names of its arguments, with the result."""


def planned(calls: Sequence[Call | InvalidCall], toolbox: Toolbox) -> tuple[PlannedCall, ...]:
    """The calls with their arguments' names as declared, so that nothing behind this sees another spelling.

    A call through `call_tool` is from here on the call of the tool that it names (X-11).
    """
    return tuple(_planned(item, toolbox) for item in calls)


def _planned(item: Call | InvalidCall, toolbox: Toolbox) -> PlannedCall:
    if isinstance(item, InvalidCall):
        return PlannedCall(item.call, item.problem)
    if item.tool == CALL_TOOL:
        inside = unwrapped(item.arguments)
        if inside.problem:
            return PlannedCall(item, inside.problem)
        item = replace(item, tool=inside.name, arguments=inside.arguments)
    tool = toolbox.get(item.tool)
    if tool is None:
        return PlannedCall(item)
    read = named(tool.arguments, item.arguments)
    item = item if item.tool == tool.name else replace(item, tool=tool.name)
    return PlannedCall(replace(item, arguments=read.arguments) if read.renamed else item, told=read.told)
