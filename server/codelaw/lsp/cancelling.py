"""Requests whose work a cancel stops, and which are answered all the same (R-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from codelaw.ports.cancelling import Cancelled, Scope

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
