"""Large results as bytes, made beside the event loop.

The json module spells a value in one go, during which no other thread runs: here it is given one at a time of the
items of a large array, and a long text in parts. Meanwhile the garbage collector, which stops every thread while it
looks at everything, is paused: nearly all of these objects are freed without it.
"""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from codelaw.lsp.transport.rpc import Encoded
from codelaw.protocol.base import Payload

Given = TypeVar("Given")
Made = TypeVar("Made")


class _Collector:
    """What this process has done about its collector."""

    pauses = 0
    settled = False


def settle() -> None:
    """Everything is loaded: what there is now stays, and is not looked at again. Only the first call counts."""
    if not _Collector.settled:
        _Collector.settled = True
        gc.freeze()


@contextmanager
def paused() -> Generator[None]:
    """Without the collector, for work that makes very many objects and soon drops them. For the event loop's thread."""
    if not _Collector.pauses and not gc.isenabled():
        yield  # somebody else has switched it off
        return
    _Collector.pauses += 1
    gc.disable()
    try:
        yield
    finally:
        _Collector.pauses -= 1
        if not _Collector.pauses:
            gc.enable()


async def handed(work: Callable[[Given], Made], given: list[Given]) -> Made:
    """What a thread makes of the one value in `given`, which is taken out: where it was last used it is freed, too."""
    return await asyncio.to_thread(lambda: work(given.pop()))


TEXT_PART = 1 << 20
"""Characters of a text that are spelt at once."""
MANY = 50
"""Items of an array that is spelt item by item."""
_DEPTH = 3
"""Levels on which large arrays and texts are looked for: a result, its lists, their members."""


def encoded(payload: Payload) -> Encoded:
    """The result, spelt as `plain` spells it. For a thread: it may take seconds."""
    return Encoded("".join(_pieces(payload.wire(), _DEPTH)).encode("ascii"))


def plain(value: Any) -> str:
    """A value as JSON without blanks.

    Raises:
        ValueError: a number is not JSON.
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str) and len(value) > TEXT_PART:
        yield '"'
        for start in range(0, len(value), TEXT_PART):
            yield plain(value[start : start + TEXT_PART])[1:-1]
        yield '"'
    elif isinstance(value, dict) and depth and value:
        before = "{"
        for key, item in cast("dict[str, Any]", value).items():
            yield f"{before}{plain(key)}:"
            yield from _pieces(item, depth - 1)
            before = ","
        yield "}"
    elif isinstance(value, list) and depth and len(cast("list[Any]", value)) > MANY:
        before = "["
        for item in cast("list[Any]", value):
            yield before
            yield from _pieces(item, depth - 1)
            before = ","
        yield "]"
    else:
        yield plain(value)
