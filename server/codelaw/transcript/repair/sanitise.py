"""Messages of damaged records become sendable ones; nothing that a user wrote is lost (H-1)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from codelaw.domain.listing import as_object
from codelaw.domain.messages import Message
from codelaw.transcript.repair.repairs import Ids, Repairs

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
