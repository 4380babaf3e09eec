"""Work that is to come to its end whoever is stopped meanwhile, however often (R-8)."""

from __future__ import annotations

import asyncio
from typing import Any


async def outlast(work: asyncio.Future[Any]) -> bool:
    """Wait until `work` is done, through every cancel of the caller; gives whether one came.

    A turn that is slow to end is cancelled again and again. What the work has come to is left for the caller to look
    at, who raises the cancel.
    """
    cancelled = False
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            cancelled = True
    return cancelled
