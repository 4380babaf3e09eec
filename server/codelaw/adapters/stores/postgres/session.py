"""A PostgreSQL connection as work in its thread sees it, and what lives by it (D-3, D-4).

A NUL and lone surrogates, which the database refuses, are spelt by two characters; the loader of the same connection
undoes the spelling, so that what is read equals what was written. All else is stored as it is. A server lives as long
as its connection holds an advisory lock.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import lru_cache
from threading import local
from typing import Any

import psycopg
from psycopg import Connection, Cursor
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format, TransactionStatus

from codelaw.adapters.stores.rows.database import Dialect, Parameters

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
        """Live by this new connection."""
        if self._connection is not None:
            self._regained = time.monotonic()
        self._connection = connection
        self.begin()

    def begin(self) -> None:
        # The lock may still be held by our own lost connection, which the database has not noticed yet; then this
        # owner lives by that one, and the next look of `keep` takes the lock when it is free.
        if self._connection is not None:
            self._connection.execute("SELECT pg_try_advisory_lock(%s)", (_key(self.id),))

    def keep(self) -> None:
        """See that the lock is held."""
        if self._connection is not None and not self._is_held(self._connection, self.id):
            self.begin()

    def end(self) -> None:
        """Give the lock back before the connection ends, which the database may notice late."""
        if self._connection is not None:
            with suppress(psycopg.Error):  # it was lost before its end
                self._connection.execute("SELECT pg_advisory_unlock_all()")

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

    def _is_held(self, connection: Connection[Any], owner: str) -> bool:
        key = _key(owner) & 0xFFFF_FFFF_FFFF_FFFF
        return connection.execute(_HELD, (key >> 32, key & 0xFFFF_FFFF)).fetchone() is not None


def _key(owner: str) -> int:
    """64 bits with a sign, as the database numbers advisory locks."""
    return int.from_bytes(bytes.fromhex(owner[:16]), signed=True)


_ESCAPE = "\x10"
"""DLE, the data link escape; itself written twice."""
_REFUSED = re.compile("[\0\x10\ud800-\udfff]")
_SPELT = re.compile("\x10[\x10\U000f0000-\U000f0800]")
# In a private use area; the escape character stands before it, so that text from there keeps its meaning.
_SPELLING = {
    **{chr(0xD800 + number): f"{_ESCAPE}{chr(0xF0000 + number)}" for number in range(0x800)},
    "\0": f"{_ESCAPE}\U000f0800",
    _ESCAPE: _ESCAPE * 2,
}
_READING = {spelling: character for character, spelling in _SPELLING.items()}


def spelt(text: str) -> str:
    """`text` without what PostgreSQL refuses."""
    return _REFUSED.sub(lambda match: _SPELLING[match[0]], text)


def unspelt(text: str) -> str:
    """What `spelt` was given."""
    return _SPELT.sub(lambda match: _READING[match[0]], text) if _ESCAPE in text else text


def speak(connection: Connection[Any]) -> None:
    """Let all text of the connection be spelt so."""
    connection.adapters.register_dumper(str, _TextDumper)
    for name in ("text", "varchar"):
        connection.adapters.register_loader(name, _TextLoader)


class _TextDumper(Dumper):
    """Sent without a type, so that the database takes it as what stands at its place."""

    format = Format.TEXT

    def dump(self, obj: str) -> Buffer:
        return spelt(obj).encode()


class _TextLoader(Loader):
    format = Format.TEXT

    def load(self, data: Buffer) -> str:
        return unspelt(str(data, "utf-8"))


_MARKS = re.compile(r"'(?:[^']|'')*'|\?|%")


class PostgresSession:
    """Statements with `?`, in transactions.

    A transaction that writes is READ COMMITTED: each statement sees what was committed before it. What is read of a
    chat stays true all the same, because everybody who writes to a chat locks its row first (`row_lock`), so that
    writers of one chat wait for each other and writers of different chats do not. SERIALIZABLE would need no lock, and
    would undo and repeat most work of servers that write at once, as small tables are locked whole.
    """

    dialect: Dialect = "postgresql"

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self.row_lock = ""

    def execute(self, sql: str, parameters: Parameters = ()) -> Cursor[Any]:
        return self._connection.execute(translated(sql), parameters)

    def execute_many(self, sql: str, rows: list[Parameters]) -> None:
        if rows:
            with self._connection.cursor() as cursor:
                cursor.executemany(translated(sql), rows)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Generator[None]:
        """All or nothing; one that only reads sees one moment."""
        self._connection.execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
        self.row_lock = " FOR NO KEY UPDATE" if write else ""
        try:
            yield
            self._commit()
        except BaseException:
            if self._connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self.row_lock = ""

    def _commit(self) -> None:
        # After a statement that failed COMMIT means ROLLBACK, and says so nowhere else.
        if self._connection.execute("COMMIT").statusmessage != "COMMIT":
            raise RuntimeError("a statement had failed, and its transaction was to be committed")


@lru_cache(512)
def translated(sql: str) -> bytes:
    """`?` outside of quotes as psycopg writes it."""
    return _MARKS.sub(_mark, sql).encode()


def _mark(match: re.Match[str]) -> str:
    return "%s" if match[0] == "?" else match[0].replace("%", "%%")
