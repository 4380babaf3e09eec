"""Task: a piece of work for a subagent, whose report is the result (X-4, T-8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.domain.safety.unseen import title
from codelaw.ports.abilities import Order
from codelaw.tools.base import Arguments, Tool, ToolEnvironment

TASK = "Task"
TITLE = 100
"""Characters of a title."""
LONGEST_PROMPT = 100_000
"""Characters (S-6)."""
LONGEST_LINE = 160
"""Characters of a kind's description in the manual."""
LONGEST_LIST = 3_000
"""Characters of all of them; of the kinds beyond it only the names are told."""
NESTED = "A subagent cannot begin another one: do the work yourself, or report what is left."

Described = tuple[str, str]
"""Name and description of a kind."""


class TaskArguments(Arguments):
    kind: str
    prompt: str = Field(min_length=1)
    description: str = ""


class Task(Tool[TaskArguments]):
    """Data: `kind, ended, steps, tokens, tools: {name: calls}, changed: [path], report`.

    The call itself changes nothing: each call of the child is judged like the turn's own.

    Args:
        kinds: Those that can be begun.
    """

    name = TASK
    arguments = TaskArguments
    effect = "read"

    def __init__(self, kinds: Sequence[Described] = ()) -> None:
        self.description = (
            "Hand work, such as a wide search, to a subagent that sees the prompt alone; its report comes back. "
            f"Kinds: {_listed(kinds)}."
        )

    def invalid(self, args: TaskArguments) -> Sequence[str]:
        if len(args.prompt) <= LONGEST_PROMPT:
            return ()
        return [f"prompt has {len(args.prompt)} characters: at most {LONGEST_PROMPT} are taken, name files instead"]

    def title(self, args: TaskArguments) -> str:
        return f"{title(args.kind, TITLE)}: {title(args.description or args.prompt, TITLE)}"

    def alone(self, given: Mapping[str, Any], env: ToolEnvironment) -> bool:
        kind = given.get("kind")
        return env.subagents is not None and isinstance(kind, str) and not env.subagents.reads_only(kind)

    async def run(self, args: TaskArguments, env: ToolEnvironment) -> ToolResult:
        if env.subagents is None:
            raise ToolFailure("PERMISSION_DENIED", NESTED)
        return await env.subagents.run(Order(env.call_id, args.kind, args.prompt))


def _listed(kinds: Sequence[Described]) -> str:
    """The kinds on one line, those beyond its bound by their names."""
    lines: list[str] = []
    taken = 0
    for name, words in kinds:
        line = f"{name} ({words[:LONGEST_LINE]})" if words else name
        taken += len(line)
        lines.append(line if taken <= LONGEST_LIST else name)
    return ", ".join(lines) or "none"
