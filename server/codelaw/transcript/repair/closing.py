"""Calls left open get one synthetic result each (R-6, R-8); what the disk has altered says so (D-1)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from codelaw.domain.messages import Call, Message, Metadata

CRASHED = "interrupted: codelaw stopped before this call ended; it may or may not have taken effect"
CANCELLED = "interrupted by the user before this call ended; it may or may not have taken effect"
STOPPED = "interrupted: the turn ended before this call's result was kept; it may or may not have taken effect"

_MARK = "[interrupted: "


def open_calls(messages: Sequence[Message]) -> list[tuple[Message, Call]]:
    """The calls without a result, each with the assistant message that made it, in order."""
    answered = {message.metadata.call_id for message in messages if message.role == "tool"}
    return [
        (message, call)
        for message in messages
        if message.role == "assistant"
        for call in message.metadata.calls
        if call.id not in answered
    ]


def result_message(
    caller: Message,
    call: Call,
    content: str,
    *,
    ref: str | None = None,
    mtime: float | None = None,
    as_text: bool = False,
) -> Message:
    """The tool message that answers `call`; its id follows from the call's, so that repair gives the same bytes."""
    metadata = Metadata(
        step=caller.metadata.step,
        tool_name=call.tool,
        call_id=call.id,
        ref=ref,
        mtime=mtime,
        as_text=as_text,
        parent=caller.metadata.parent,
    )
    return Message(f"result_{call.id}", caller.turn_id, "tool", content, metadata)


def final_message(
    turn_id: str, partial: str, why: str, answer: str | None = None, *, parent: str | None = None
) -> Message:
    """The last message of a turn, or of a call's child, that did not finish: what was said, marked (R-1a, R-8)."""
    content = f"{partial.rstrip()}\n{_MARK}{why}]".lstrip()
    metadata = Metadata(answer=answer, interrupted=True, parent=parent)
    return Message(f"end_{parent or turn_id}", turn_id, "assistant", content, metadata)


def unmarked(content: str) -> tuple[str, str]:
    """What an interrupted message had said, and its mark."""
    said, found, why = content.rpartition(_MARK)
    return (said, f"{found}{why}") if found else (content, "")


ALTERED = "[damaged on the disk: what follows is what can still be read of this message, and may be wrong]\n"
RESULT = "damaged on the disk: `damaged` is what can still be read of this result, and may be wrong"


def altered(message: Message) -> Message:
    """The message, marked in its content, in its answer, and for clients in its metadata."""
    facts = message.metadata
    marked = replace(facts, answer=None if facts.answer is None else ALTERED + facts.answer, damaged=True)
    if message.role == "tool":
        error = {"code": "EXECUTION_ERROR", "message": RESULT}
        content = json.dumps({"status": "error", "data": {"damaged": message.content}, "error": error})
        return replace(message, content=content.replace("<", "\\u003c"), metadata=marked)  # it opens no tag
    return replace(message, content=ALTERED + message.content, metadata=marked)
