"""A child turn's report: how it ended, told as it was, and what it said last (X-4). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from codelaw.domain.results import ToolError, ToolResult
from codelaw.tools.bounds import cut_middle

if TYPE_CHECKING:
    from codelaw.agent.turn.turn import Ending
    from codelaw.domain.chats import TurnStop
    from codelaw.domain.messages import Message
    from codelaw.domain.models import Usage
    from codelaw.domain.results import FileChange

LONGEST_REPORT = 24_000
"""Characters of a report; of a longer one the middle is left out."""
MOST_FILES = 100
"""Changed files that are named."""
_ENDED: dict[TurnStop, str] = {
    "finished": "finished",
    "step_limit": "step limit",
    "token_limit": "token limit",
    "refused": "refused",
    "failed": "failed",
    "cancelled": "cancelled",
}


def report(
    kind: str,
    ending: Ending,
    said: Sequence[Message],
    *,
    steps: int,
    usage: Usage,
    changes: Sequence[FileChange],
) -> ToolResult:
    """The result of the `Task` call; `said` is what the child said.

    A limit is no success: the result is `partial` then, and has the last that was said in place of an answer.
    """
    calls = Counter(call.tool for message in said for call in message.metadata.calls)
    finished = ending.stop == "finished"
    words = ending.answer if finished else ending.answer or last_said(said)
    data: dict[str, Any] = {
        "kind": kind,
        "ended": _ENDED[ending.stop],
        "steps": steps,
        "tokens": usage.total_tokens,
        "tools": dict(sorted(calls.items())),
    }
    changed = list(dict.fromkeys(change.path for change in changes))
    if changed:
        data["changed"] = changed[:MOST_FILES]
    data["report"] = cut_middle(words, LONGEST_REPORT)
    if len(words) > LONGEST_REPORT:
        data["truncated"] = True
    if finished:
        return ToolResult("partial" if "truncated" in data else "success", data, "The subagent has finished.")
    if ending.stop in {"step_limit", "token_limit"}:
        return ToolResult("partial", data, f"The subagent has not finished: {ending.why}. Its last words follow.")
    why = f"The subagent has not finished: {ending.why or ending.stop}."
    return ToolResult("error", data, "", ToolError("EXECUTION_ERROR", why))


def last_said(said: Sequence[Message]) -> str:
    """What a child said last with words of its own; empty where it said nothing."""
    spoken = (message.content.strip() for message in reversed(said) if message.role == "assistant")
    return next((text for text in spoken if text), "")
