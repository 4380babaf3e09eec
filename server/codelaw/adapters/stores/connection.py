"""One SQLite connection in one thread of its own, spoken to from the event loop."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from codelaw.adapters.stores.codec import legible, storable
from codelaw.adapters.stores.database import Dialect, Parameters, Session
from codelaw.adapters.stores.migrations import migrate
from codelaw.domain.errors import Refusal

T = TypeVar("T")

BUSY_SECONDS = 5.0

_ADVICE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and try again; nothing that was saved is lost."),
    sqlite3.SQLITE_BUSY: ("another program holds the database", "Close it, or try again in a moment."),
    sqlite3.SQLITE_LOCKED: ("another program holds the database", "Close it, or try again in a moment."),
    sqlite3.SQLITE_CORRUPT: ("the database is damaged", "Move the file away to start anew, or restore a copy of it."),
    sqlite3.SQLITE_NOTADB: ("this is not a database", "Move the file away to start anew, or restore a copy of it."),
    sqlite3.SQLITE_READONLY: ("the database cannot be written", "Check the permissions of the file and its folder."),
    sqlite3.SQLITE_PERM: ("the database cannot be written", "Check the permissions of the file and its folder."),
    sqlite3.SQLITE_CANTOPEN: ("the database cannot be opened", "Check the permissions of the file and its folder."),
    sqlite3.SQLITE_IOERR: ("the disk gave an error", "Check the disk; nothing that was saved before is touched."),
    sqlite3.SQLITE_TOOBIG: ("a text is too big for the database", "Send less text at once."),
}


class SqliteSession:
    """The connection as work in its thread sees it."""

    dialect: Dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Run one statement; text that is not valid Unicode is bound as bytes."""
        try:
            return self._connection.execute(sql, parameters)
        except UnicodeEncodeError:
            return self._connection.execute(sql, _storable(parameters))

    def execute_many(self, sql: str, rows: list[Parameters]) -> None:
        for row in rows:
            self.execute(sql, row)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Generator[None]:
        """All or nothing. To write takes the lock at once, so that what is read inside stays true."""
        self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


class SqliteDatabase:
    """The thread and its connection. Work is done in the order in which it was given."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="codelaw-store")
        self._connection: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Create or open the file, and bring its schema up to date.

        Raises:
            Refusal: `store_unavailable`; the file is left as it is.
        """
        try:
            self._connection = await self._in_thread(self._connect)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise

    async def run(self, work: Callable[[Session], T]) -> T:
        """Do `work` in the thread. A cancelled caller leaves it running to its end.

        Raises:
            Refusal: `store_unavailable`, or what `work` refused.
        """
        connection = self._connection
        if connection is None:
            raise Refusal("store_unavailable", f"{self.path}: the store is closed.")
        return await self._in_thread(lambda: work(SqliteSession(connection)))

    async def write(self, work: Callable[[Session], T]) -> T:
        """Do `work` in a transaction that writes: all of it or nothing."""

        def whole_work(session: Session) -> T:
            with session.transaction():
                return work(session)

        return await self.run(whole_work)

    async def read(self, work: Callable[[Session], T]) -> T:
        """Do `work` in a deferred transaction: all that one answer is made of is seen at the same moment."""

        def whole_work(session: Session) -> T:
            with session.transaction(write=False):
                return work(session)

        return await self.run(whole_work)

    async def close(self) -> bool:
        """Finish the work given so far and let go of the file; False when that was done before."""
        connection, self._connection = self._connection, None
        if connection is None:
            return False
        await self._in_thread(connection.close)
        self._thread.shutdown(wait=False)
        return True

    async def _in_thread(self, work: Callable[[], T]) -> T:
        future = asyncio.wrap_future(self._thread.submit(self._guarded, work))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(_log_unheard)
            raise

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except Refusal as refusal:
            if refusal.code == "store_unavailable":
                raise Refusal(refusal.code, f"{self.path}: {refusal.message}", refusal.hint) from refusal
            raise
        except sqlite3.Error as error:
            # An extended code carries the plain one in its low byte; errors of our own SQL have none of these.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code not in _ADVICE:
                raise
            reason, hint = _ADVICE[code]
            raise Refusal("store_unavailable", f"{self.path}: {reason} ({error}).", hint) from error
        except OSError as error:
            hint = "Check the permissions of the folder and the space on its disk."
            raise Refusal("store_unavailable", f"{self.path}: {error.strerror or error}.", hint) from error

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.path.exists():  # SQLite gives its side files the permissions of this one
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=256)
        try:
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.text_factory = _text
            connection.create_function("holds", 2, _holds, deterministic=True)
            migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log; SQLite does not wait by itself when two servers do so at once."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


def _holds(text: str | bytes, folded: str | bytes) -> bool:
    """The SQL function `holds`: LIKE knows only the case of ASCII and stops at a NUL.

    It is given BLOBs, because a TEXT that is torn cannot be handed to a function.
    """
    return legible(folded) in legible(text).casefold()


def _text(stored: bytes) -> str | bytes:
    """A text column, or its bytes where they are torn: one damaged row must not hide the others."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


def _storable(parameters: Parameters) -> Parameters:
    return tuple(storable(value) if isinstance(value, str) else value for value in parameters)


def _log_unheard(future: asyncio.Future[Any]) -> None:
    """Nobody waits for this work any more; its failure must still be known."""
    if not future.cancelled() and (error := future.exception()) is not None:
        logging.getLogger(__name__).error("store: work given up by its caller failed: %s", error)
