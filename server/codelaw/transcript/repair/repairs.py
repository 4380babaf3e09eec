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
from typing import Any, cast

from codelaw.domain.listing import as_object
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


OMITTED = "…"
"""Stands where something was, and no words are left."""
_STATUSES = ("success", "partial", "error")
_BEGINNINGS = tuple(f'{{"status":{gap}"{status}"' for status in _STATUSES for gap in (" ", ""))
_WIDE_BREAKS = "\x85\u2028\u2029"
_ESCAPES = {mark: f"\\u{ord(mark):04x}" for mark in "\x7f<" + _WIDE_BREAKS}
"""What some reader takes for the end of a line, and what could open a tag of ours."""


def sanitised(messages: Sequence[Message]) -> tuple[Sequence[Message], Repairs]:
    """Every message with something to say, and an id of its own; results are one line of JSON."""
    if all(_mended(one) is one for one in messages) and len({one.id for one in messages}) == len(messages):
        return messages, Repairs()
    ids, kept, seen = Ids(), list[Message](), set[tuple[str, str]]()
    mended = dropped = 0
    for message in messages:
        good = _mended(message)
        if good is None or (good.role != "tool" and (good.id, good.content) in seen):
            dropped += 1
            continue
        seen.add((good.id, good.content))
        own = ids.take(good.id)
        if own != good.id:
            good = replace(good, id=own)
        mended += good is not message
        kept.append(good)
    return tuple(kept), +Repairs(mended=mended, dropped_empty=dropped)


def says_nothing(message: Message) -> bool:
    """Whether an assistant's message, without its calls, tells the model nothing."""
    facts = message.metadata
    return facts.answer is None and not facts.interrupted and not message.content.strip()


def _mended(message: Message) -> Message | None:
    """The message with something in it; None when nothing is."""
    facts, content = message.metadata, message.content
    if message.role == "tool":
        return message if is_observation(content) else replace(message, content=observation(content))
    if content and not content.isspace():
        return message
    if message.role == "assistant" and (facts.calls or facts.interrupted):
        return message
    if message.role == "user":
        instead = "" if facts.fragments else OMITTED
    elif message.role == "assistant" and facts.answer is not None:
        instead = facts.answer if facts.answer.strip() else content
    else:
        return None
    return message if instead == content else replace(message, content=instead)


def is_observation(content: str) -> bool:
    """Whether it is what a tool's result is kept as: one JSON object on one line, with a status (R-5)."""
    # What some reader takes for the end of a line: looked for one by one, which is quickest by far.
    for mark in "\n\r\v\f\x1c\x1d\x1e" if content.isascii() else "\n\r\v\f\x1c\x1d\x1e" + _WIDE_BREAKS:
        if mark in content:
            return False
    return (content.startswith(_BEGINNINGS) and content.endswith("}")) or _has_status(_read(content))


def observation(content: str) -> str:
    """A result's content as one line of JSON; what has no status of its own is data, as with any foreign tool."""
    value = _read(content)
    text = json.dumps(value if _has_status(value) else {"status": "success", "data": value}, ensure_ascii=False)
    for mark, escape in _ESCAPES.items():
        text = text.replace(mark, escape)
    return text


def _has_status(value: Any) -> bool:
    return as_object(value).get("status") in _STATUSES


def _read(text: str) -> Any:
    """The JSON object in a text, or the text itself."""
    try:
        value = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return cast("Any", value) if isinstance(value, dict) else text
