"""What hygiene had to do to a history, in numbers, and what it makes up (H-1, H-2).

Ids for what had none, a result for each call that was left open (R-6, R-8), a mark for what the disk has altered (D-1).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

from codelaw.domain.messages import Call, Message, Metadata

Repairs = Counter[str]
"""Counts of one pass or of all together; none for a history that was well-formed.

`mended`: messages that had nothing to say, or an id or text of another. `moved`: results that stood elsewhere than
behind their calls. `dropped_empty` (repeated messages too), `dropped_duplicate`, `dropped_orphan`. `added`: results
made up for calls that had none, all of them errors. `opened`: turns whose question was lost. `limited`: messages beyond
the limit of user turns (H-5). `removed_calls`: malformed ones. `renamed_calls`: no vendor takes their id, or it was
used before.
"""
_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_BASE = 100


class Ids:
    """The ids in use, in the order of their use: none given out depends on one that comes later."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)
        self._last: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted` when it is free, else the first of `wanted_2`, `wanted_3` … that is."""
        free, number = wanted, self._last.get(wanted, 1)
        while free in self._used:
            number += 1
            free = f"{wanted}_{number}"
        self._last[wanted] = number
        self._used.add(free)
        return free

    def take_for_call(self, wanted: str, *origin: object) -> str:
        """`wanted` when it is free and vendors take it, else an id made of it and of where the call stands."""
        if _LEGAL.fullmatch(wanted) and wanted not in self._used:
            self._used.add(wanted)
            return wanted
        seed = "\0".join(map(str, (wanted, *origin))).encode(errors="surrogatepass")
        return self.take(f"{_ILLEGAL.sub('_', wanted)[:_LONGEST_BASE]}_{sha256(seed).hexdigest()[:8]}")


def legal(call_id: str) -> bool:
    """Whether vendors take it as the id of a call."""
    return _LEGAL.fullmatch(call_id) is not None


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
