"""When the garbage collector may look at everything, which stops every thread for as long as that takes.

A server's modules alone are hundreds of thousands of objects, and so are the messages of a long chat while it is read:
nearly all of them are freed without the collector.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


class _Held:
    """What this process has done about its collector."""

    pauses = 0
    settled = False


def settle() -> None:
    """Everything is loaded: what there is now stays, and is not looked at again. Only the first call counts."""
    if not _Held.settled:
        _Held.settled = True
        gc.freeze()


@contextmanager
def paused() -> Generator[None]:
    """Without the collector, for work that makes very many objects and soon drops them. For the event loop's thread."""
    if not _Held.pauses and not gc.isenabled():
        yield  # somebody else has switched it off
        return
    _Held.pauses += 1
    gc.disable()
    try:
        yield
    finally:
        _Held.pauses -= 1
        if not _Held.pauses:
            gc.enable()


async def handed(work: Callable[[Given], Made], given: list[Given]) -> Made:
    """What a thread makes of the one value in `given`, which is taken out: where it was last used it is freed, too."""
    return await asyncio.to_thread(lambda: work(given.pop()))
