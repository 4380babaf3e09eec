"""PostgreSQL connections that only read (D-3)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock, Thread
from typing import Any

import psycopg
from psycopg import Connection

from codelaw.adapters.stores.postgres.place import is_crowded
from codelaw.domain.errors import Refusal

IDLE_SECONDS = 1.0
"""A connection not used for longer may have been cut meanwhile, and is tried before it is used."""
STOP_SECONDS = 2.0
"""What the request to stop a statement may take on its way."""


class Crowded(Exception):
    """The server gives no more connections."""


class ReadOnly:
    """How the connections that read are made. Who asked before an attempt failed shares its failure."""

    def __init__(self, connect: Callable[[], Connection[Any]]) -> None:
        self._connect = connect
        self._lock = Lock()
        self._failure: tuple[float, Refusal] | None = None

    def connect(self, asked: float) -> Connection[Any]:
        with self._lock:
            failure = self._failure
        if failure is not None and asked <= failure[0]:
            raise failure[1]
        try:
            return self._connect()
        except Refusal as refusal:
            if is_crowded(refusal):
                raise Crowded from refusal
            with self._lock:
                self._failure = (time.monotonic(), refusal)
            raise

    def interrupt(self, connection: Connection[Any]) -> None:
        """Ask the server to stop the statement; the request goes by a connection of its own, off the event loop."""
        Thread(target=_cancel, args=(connection,), name="codelaw-store-cancel", daemon=True).start()

    def usable(self, connection: Connection[Any], *, interrupted: bool) -> bool:
        """Not after a request to stop, which may come late and hit the next statement."""
        return not interrupted and not connection.closed and not connection.info.transaction_status

    def alive(self, connection: Connection[Any], idle_seconds: float) -> bool:
        """Whether a connection that was idle for so long can still be used."""
        if idle_seconds <= IDLE_SECONDS:
            return not connection.closed
        try:
            connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def disconnect(self, connection: Connection[Any]) -> None:
        connection.close()


def _cancel(connection: Connection[Any]) -> None:
    try:
        connection.cancel_safe(timeout=STOP_SECONDS)
    except psycopg.Error as error:  # it stops at the latest when the connection is noticed to be gone
        logging.getLogger(__name__).info("store: a query could not be stopped: %s", error)
