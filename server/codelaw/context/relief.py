"""What gives way in the running turn when its view nears the window (C-5, W-6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from codelaw.context.compressor import bounded
from codelaw.context.demotion import demotable, demoted
from codelaw.context.observations import one_line
from codelaw.domain.messages import Message

Size = Callable[[Message], int]

SHORTEST = 200
"""Characters that are left of a string that is cut."""


def relieve(
    scratchpad: Sequence[Message], record: Sequence[Message], *, size: Size, to_free: int, all_of_it: bool = False
) -> Sequence[Message]:
    """The scratchpad with its oldest observations shortened, in one step, until `to_free` tokens are free (C-5).

    `record` holds the same messages as the history will have them. The oldest observations fall back to that form
    first; then they and the large arguments of their calls become one line each (C-6). The newest step is the last to
    give way, its results to their cut, and only with `all_of_it` to one line. The same object when nothing helps.
    """
    whole = record if len(record) == len(scratchpad) else scratchpad
    lines = demoted(whole, frozenset(what for message in whole if (what := demotable(message)) is not None))
    newest = max((message.metadata.step or 0 for message in scratchpad if message.role == "tool"), default=0)
    spoken = [place for place, message in enumerate(scratchpad) if message.role in {"tool", "assistant"}]
    old = [place for place in spoken if (scratchpad[place].metadata.step or 0) < newest]
    last = spoken[len(old) :]
    shown = list(scratchpad)
    freed = 0
    for places, forms in ((old, whole), (old, lines), (last, whole), (last if all_of_it else [], lines)):
        for place in places:
            if freed >= to_free:
                break
            gain = size(shown[place]) - size(forms[place])
            if gain > 0 and forms[place].id == shown[place].id:
                shown[place] = forms[place]
                freed += gain
    return shown if freed else scratchpad


def truncate(messages: Sequence[Message], *, size: Size, bound: int) -> Sequence[Message]:
    """The messages with every result of more than `bound` tokens cut to head and tail, and a word on how to read all.

    That is W-6's last measure. The same object when no result is that large, or none can be made smaller.
    """
    shown = [_truncated(message, size, bound) for message in messages]
    return messages if all(one is other for one, other in zip(shown, messages, strict=True)) else shown


def _truncated(message: Message, size: Size, bound: int) -> Message:
    """The message with its longest strings cut, as little as it takes."""
    before = size(message)
    if message.role != "tool" or before <= bound:
        return message
    try:
        body: Any = json.loads(message.content)
    except (ValueError, RecursionError):
        return message
    if not isinstance(body, dict) or "data" not in body:
        return message
    given = cast("dict[str, Any]", body)
    ref = message.metadata.ref
    smallest = message
    limit = len(message.content) // 2
    while limit >= SHORTEST and size(smallest) > bound:
        for data in (_cut(given["data"], limit, ref), bounded(given["data"], limit)):
            marked = {**_object(data), "truncated": True, **({"whole": f"result:{ref}"} if ref else {})}
            shorter = replace(message, content=one_line({**given, "data": marked}))
            if size(shorter) < size(smallest):
                smallest = shorter
            if size(smallest) <= bound:
                break
        limit //= 2
    return smallest


def _object(data: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {"text": data}


def _cut(value: Any, limit: int, ref: str | None) -> Any:
    """The JSON value with head and tail of every string of more than `limit` characters."""
    if isinstance(value, str):
        if len(value) <= limit:
            return value
        head, tail = value[: limit * 3 // 5], value[-(limit * 2 // 5) :]
        where = f", Read result:{ref} has them" if ref else ""
        return f"{head}\n… {len(value) - len(head) - len(tail)} characters left out{where} …\n{tail}"
    if isinstance(value, Mapping):
        return {name: _cut(item, limit, ref) for name, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list):
        return [_cut(item, limit, ref) for item in cast("list[Any]", value)]
    return value
