"""Work of a library that cancels tasks by itself, kept in a task of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

LEFT_SECONDS = 0.5
"""After which work that does not end after a cancel is left behind."""
_AGAIN_SECONDS = 0.05

_log = logging.getLogger(__name__)


class Abandoned(Exception):
    """The work was cancelled, and not by its caller."""


async def apart(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives. A cancel of the caller ends it, however often that takes.

    The HTTP library cancels the task that it runs in to end its own scopes, as when it connects. In the caller's task
    that would be taken for a cancel of the user's, or take one for its own (R-8).

    Raises:
        Abandoned: the library has cancelled it and not taken that back.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait([task])
    except asyncio.CancelledError:
        await _ended(task)
        raise
    if task.cancelled():
        raise Abandoned
    return task.result()


async def _ended(task: asyncio.Task[Any]) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + LEFT_SECONDS
    while not task.done() and loop.time() < until:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait([task], timeout=_AGAIN_SECONDS)
    if task.done():
        _heard(task)
    else:
        _log.warning("a request to the model does not end after its cancel; it is left behind")
        task.add_done_callback(_heard)


def _heard(task: asyncio.Task[Any]) -> None:
    """Nobody waits for what it has come to."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.debug("a cancelled request had failed: %s", type(error).__name__)
