"""Requests that answer a cancel in their own way."""

from __future__ import annotations

import asyncio


def cancelled_by_others() -> bool:
    """Whether this task was asked to stop; that is then taken back, since the request will have its answer."""
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    while task.uncancel():
        pass
    return True
