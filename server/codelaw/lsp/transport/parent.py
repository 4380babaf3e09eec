"""Noticing the death of the process that started us (V-3)."""

from __future__ import annotations

import asyncio
import os
import sys

POLL_SECONDS = 0.5


async def process_gone(process_id: int) -> None:
    """Wait until the process has ended; not at all when there is none.

    On Windows it waits for ever: there the end of standard input tells.
    """
    if sys.platform == "win32":
        await asyncio.Event().wait()
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):
        await _poll(process_id)
        return
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _poll(process_id: int) -> None:
    while True:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return
        except PermissionError:
            pass  # it lives, and is not ours
        await asyncio.sleep(POLL_SECONDS)
