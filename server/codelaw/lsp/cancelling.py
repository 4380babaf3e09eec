"""Requests that answer a cancel in their own way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codelaw.lsp.sessions import RunningTurn


def cancelled_by_others() -> bool:
    """Whether this task was asked to stop; that is then taken back, since the request will have its answer."""
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    while task.uncancel():
        pass
    return True


async def begun(sending: Coroutine[Any, Any, RunningTurn]) -> RunningTurn:
    """The turn that `Session.send` begins. It must not run on unwatched: cancelled, it begins and is then stopped."""
    beginning = asyncio.ensure_future(sending)
    try:
        return await asyncio.shield(beginning)
    except asyncio.CancelledError:
        if not cancelled_by_others():
            raise
        turn = await beginning
        turn.cancel()
        return turn
