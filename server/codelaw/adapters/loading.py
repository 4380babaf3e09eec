"""Loading what is heavy, so that neither the event loop nor the end of the process waits for it."""

from __future__ import annotations

import asyncio
import gc
import ssl
import threading
from collections.abc import Callable
from functools import cache
from typing import TypeVar


@cache
def trusted() -> ssl.SSLContext:
    """Those of this machine, or of SSL_CERT_FILE or SSL_CERT_DIR; reads the disk.

    Raises:
        OSError: they cannot be read; the next call tries again.
    """
    from httpx2 import create_ssl_context  # noqa: PLC0415 - a tenth of a second, which clients load when they are needed

    return create_ssl_context()


T = TypeVar("T")
R = TypeVar("R")


async def load(work: Callable[[], T]) -> T:
    """Do `work` in a thread that may be left behind at the end of the process (V-3).

    For imports and for reading data into memory: nothing outside the process may be halfway changed by it. Nearly all
    that it makes stays, so that the garbage collector, which would look at it again and again, waits meanwhile.
    """
    loop = asyncio.get_running_loop()
    loaded: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            done = _uncollected(work)
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            _soon(loop, loaded, loaded.set_exception, error)
        else:
            _soon(loop, loaded, loaded.set_result, done)

    threading.Thread(target=run, name="codelaw-loading", daemon=True).start()
    return await loaded


def _uncollected(work: Callable[[], T]) -> T:
    collects = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if collects:
            gc.enable()


def _soon(loop: asyncio.AbstractEventLoop, loaded: asyncio.Future[T], settle: Callable[[R], None], come: R) -> None:
    def unless_given_up() -> None:
        if not loaded.done():
            settle(come)

    try:
        loop.call_soon_threadsafe(unless_given_up)
    except RuntimeError:
        return  # the loop is closed: nobody waits any more
