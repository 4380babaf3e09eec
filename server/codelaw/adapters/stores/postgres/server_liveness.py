"""Which server instances live: each holds an advisory lock of its database session, given back by its death (D-4)."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager
from threading import local
from typing import Any

from psycopg import Connection

_ID = re.compile(r"[0-9a-f]{24}")
GRACE_SECONDS = 15.0
"""For so long after our own connection was lost others are believed alive: what cut ours may have cut theirs."""

_HELD = (
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND mode = 'ExclusiveLock'"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND classid::bigint = %s AND objid::bigint = %s"
)


class PostgresOwners:
    """The living owners of a database; this one lives from its first connection until the last is closed."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(12)
        self._connection: Connection[Any] | None = None
        self._lent = local()
        self._regained = float("-inf")

    def take(self, connection: Connection[Any]) -> None:
        """Live by this new connection. To be called in the database's thread."""
        if self._connection is not None:
            self._regained = time.monotonic()
        # The lock may still be held by our own lost connection, which the database has not noticed yet; then this
        # owner lives by that one, and the next look of `keep` takes the lock when it is free.
        connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(self.id),))
        self._connection = connection

    def keep(self, connection: Connection[Any]) -> None:
        """See that the lock is held. To be called in the database's thread."""
        if not self._is_held(connection, self.id):
            connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(self.id),))

    @contextmanager
    def lent(self, connection: Connection[Any]) -> Generator[None]:
        """Let this thread ask by a connection of its own meanwhile."""
        self._lent.connection = connection
        try:
            yield
        finally:
            self._lent.connection = None

    def is_alive(self, owner: str) -> bool:
        """Whether `owner` holds its lock. To be asked in a thread of the database."""
        if owner == self.id:
            return True
        connection = getattr(self._lent, "connection", None) or self._connection
        if connection is None or not _ID.fullmatch(owner):
            return False
        if self._is_held(connection, owner) or time.monotonic() - self._regained < GRACE_SECONDS:
            return True
        return not self._is_held(connection, self.id)  # cut off just now, and not noticed yet

    async def leave(self) -> None:
        """Nothing is left to do: the database gives the lock back with the connection."""

    def _is_held(self, connection: Connection[Any], owner: str) -> bool:
        key = _key(owner) & 0xFFFF_FFFF_FFFF_FFFF
        return connection.execute(_HELD, (key >> 32, key & 0xFFFF_FFFF)).fetchone() is not None


def _key(owner: str) -> int:
    """64 bits with a sign, as the database numbers advisory locks."""
    return int.from_bytes(bytes.fromhex(owner[:16]), signed=True)
