"""A thread of its own for a database, spoken to from the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    """Does work in the order in which it was given, one at a time."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def do(self, work: Callable[[], T]) -> T:
        """Do `work`. A cancelled caller leaves it running to its end; a failure that nobody hears is logged."""
        future = asyncio.wrap_future(self._thread.submit(work))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(_log_unheard)
            raise

    def end(self, last: Callable[[], None] | None = None) -> None:
        """Take no more work than `last`, for which nobody waits."""
        if last is not None:
            self._thread.submit(last)
        self._thread.shutdown(wait=False)


def _log_unheard(future: asyncio.Future[Any]) -> None:
    """Nobody waits for this work any more; its failure must still be known."""
    if not future.cancelled() and (error := future.exception()) is not None:
        logging.getLogger(__name__).error("store: work given up by its caller failed: %s", error)
