"""Agents that a turn begins for a piece of its work (X-4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from codelaw.domain.results import ToolResult


@dataclass(frozen=True, slots=True)
class Order:
    """One `Task` call."""

    call_id: str
    kind: str
    prompt: str


class Subagents(Protocol):
    """Those of one turn."""

    def reads_only(self, kind: str) -> bool:
        """Whether a child of that kind can change nothing; so does one that there is not."""
        ...

    async def run(self, order: Order) -> ToolResult:
        """Run a child turn to its end and give its report. A cancel of the caller reaches the child and is raised.

        Raises:
            ToolFailure: INVALID_PARAM: there is no such kind.
        """
        ...
