"""A thread of its own for a database, spoken to from the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    """Does work in the order in which it was given, one at a time."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._unfinished: dict[str, set[asyncio.Future[Any]]] = {}

    async def do(self, work: Callable[[], T], about: Collection[str] = ()) -> T:
        """Do `work`, which is about these things (`settled`).

        A cancelled caller leaves it running to its end; a failure that nobody hears is logged.
        """
        future = asyncio.wrap_future(self._thread.submit(work))
        for name in about:
            self._unfinished.setdefault(name, set()).add(future)
        if about:
            future.add_done_callback(lambda done: self._finish(done, about))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(log_unheard)
            raise

    async def settled(self, about: Collection[str]) -> None:
        """Wait for the work about these things that was given so far, however it ends."""
        if unfinished := {future for name in about for future in self._unfinished.get(name, ())}:
            await asyncio.wait(unfinished)

    @property
    def busy(self) -> bool:
        """Whether work about something waits or is being done."""
        return bool(self._unfinished)

    def end(self, last: Callable[[], None] | None = None) -> None:
        """Take no more work than `last`, for which nobody waits."""
        if last is not None:
            self._thread.submit(last)
        self._thread.shutdown(wait=False)

    def _finish(self, future: asyncio.Future[Any], about: Collection[str]) -> None:
        for name in about:
            waiting = self._unfinished.get(name, set())
            waiting.discard(future)
            if not waiting:
                self._unfinished.pop(name, None)


def log_unheard(future: asyncio.Future[Any]) -> None:
    """Nobody waits for this work any more; its failure must still be known."""
    if not future.cancelled() and (error := future.exception()) is not None:
        logging.getLogger(__name__).error("store: work given up by its caller failed: %s", error)
