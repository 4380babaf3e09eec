"""Loading what is heavy, so that neither the event loop nor the end of the process waits for it."""

from __future__ import annotations

import asyncio
import gc
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import Future
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


async def load(work: Callable[[], T]) -> T:
    """Do `work` in a thread that may be left behind at the end of the process (V-3).

    For imports and for reading data into memory: nothing outside the process may be halfway changed by it. Nearly all
    that it makes stays, so that the garbage collector, which would look at it again and again, waits meanwhile.
    """
    loaded: Future[T] = Future()
    loaded.set_running_or_notify_cancel()  # from here on nobody else ends it

    def run() -> None:
        try:
            loaded.set_result(_uncollected(work))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            loaded.set_exception(error)

    threading.Thread(target=run, name="codelaw-loading", daemon=True).start()
    return await asyncio.wrap_future(loaded)


def _uncollected(work: Callable[[], T]) -> T:
    collects = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if collects:
            gc.enable()
