"""What gives way in the running turn when its view nears the window (C-5, W-6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from codelaw.context.demotion import demotable, demoted
from codelaw.context.observations import one_line
from codelaw.domain.messages import Message

Size = Callable[[Message], int]


def relieve(
    scratchpad: Sequence[Message], record: Sequence[Message], *, size: Size, to_free: int, all_of_it: bool = False
) -> Sequence[Message]:
    """The scratchpad with its oldest observations shortened, in one step, until `to_free` tokens are free (C-5).

    `record` holds the same messages as history keeps them. First the oldest observations fall back to that form, then
    they and the large arguments of old calls become one line each (C-6). The newest step's results are the last to give
    way, and become one line only with `all_of_it`. The same object when nothing helps.
    """
    shown = list(scratchpad)
    freed = 0
    order = _oldest_first(scratchpad)
    kept = dict(enumerate(record)) if len(record) == len(scratchpad) else {}
    refs = demoted(shown, {what for message in shown if (what := demotable(message)) is not None})
    lines = dict(enumerate(refs))
    newest = max((message.metadata.step or 0 for message in scratchpad), default=0)
    old = [place for place in order if all_of_it or (scratchpad[place].metadata.step or 0) < newest]
    for forms, places in ((kept, order), (lines, old)):
        for place in places:
            if freed >= to_free:
                break
            other = forms.get(place)
            if other is None or other.id != shown[place].id:
                continue
            gain = size(shown[place]) - size(other)
            if gain > 0:
                shown[place] = other
                freed += gain
    return shown if freed else scratchpad


def truncate(messages: Sequence[Message], *, size: Size, bound: int) -> Sequence[Message]:
    """The messages with every result of more than `bound` tokens cut to head and tail (W-6).

    The same object when none is that large, or none can be cut.
    """
    shown = [_truncated(message, size, bound) for message in messages]
    return messages if all(one is other for one, other in zip(shown, messages, strict=True)) else shown


def _oldest_first(messages: Sequence[Message]) -> list[int]:
    """Places of what may give way: old results and calls, then the newest step's results."""
    last = max((message.metadata.step or 0 for message in messages if message.role == "tool"), default=0)
    places = [place for place, message in enumerate(messages) if message.role in {"tool", "assistant"}]
    return sorted(places, key=lambda place: (messages[place].metadata.step or 0) >= last)


def _truncated(message: Message, size: Size, bound: int) -> Message:
    if message.role != "tool" or size(message) <= bound:
        return message
    try:
        body: Any = json.loads(message.content)
    except (ValueError, RecursionError):
        return message
    if not isinstance(body, dict) or "data" not in body:
        return message
    given = cast("dict[str, Any]", body)
    text = json.dumps(given["data"], ensure_ascii=False)
    limit = len(text)
    while limit > 200:
        limit = limit // 2
        head, tail = text[: limit * 3 // 5], text[-(limit * 2 // 5) :]
        data: dict[str, Any] = {"head": head, "tail": tail, "omitted_characters": len(text) - len(head) - len(tail)}
        data["truncated"] = True
        if message.metadata.ref:
            data["whole"] = f"result:{message.metadata.ref}"
        cut = replace(message, content=one_line({**given, "data": data}))
        if size(cut) <= bound:
            return cut if size(cut) < size(message) else message
    return message
