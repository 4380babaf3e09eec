"""Requests whose work a cancel stops, and which are answered all the same (R-8); and work that nobody waits for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from codelaw.ports.cancelling import Cancelled, Scope

log = logging.getLogger(__name__)


class Spawner:
    """Runs work on the side; a failure is logged."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def close(self) -> None:
        """Stop what is still going on."""
        for task in [*self._tasks]:
            task.cancel()


async def _logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("Work on the side failed")


T = TypeVar("T")

SCOPE: ContextVar[Scope] = ContextVar("SCOPE")
"""What a cancel of the request that is being answered stops; of those in `names.BEGINNING`."""


async def carried(scope: Scope, answering: Coroutine[Any, Any, T]) -> T:
    """The answer to a request whose work is in `scope`: whoever cancels the request cancels that, and is answered."""
    SCOPE.set(scope)
    work = asyncio.ensure_future(answering)
    while True:
        try:
            return await asyncio.shield(work)
        except Cancelled:  # there is nothing to tell of it
            raise asyncio.CancelledError from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if work.cancelled() or task is None or not task.cancelling():
                raise
            while task.uncancel():
                pass
            scope.cancel()
