"""One SQLite connection in one thread of its own, spoken to from the event loop."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from codelaw.adapters.stores import damage
from codelaw.adapters.stores.codec import legible, storable, text_or_bytes
from codelaw.adapters.stores.database import Dialect, Parameters, Session
from codelaw.adapters.stores.migrations import migrate, refuse_foreign
from codelaw.adapters.stores.owners import FileOwners, alone, living
from codelaw.adapters.stores.worker import Worker
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal

T = TypeVar("T")

BUSY_SECONDS = 5.0
ALONE_SECONDS = 45.0
"""How long another codelaw that opens the file is waited for: it may be saving what it can of a damaged one."""
LOG_BYTES = 16_000_000
"""Of the write-ahead log, from which on a writer waits for a gap between the readers to begin it anew."""
_KEPT_LOG_BYTES = 4_000_000
_TRIM_SECONDS = 10.0
"""Between two such waits, of which each takes a second at most."""

_DAMAGED = "Close every codelaw and start it again: the file is set aside then, and what can be read of it is saved."
_FOLDER = "Check the permissions of the folder and the space on its disk."
_ADVICE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and try again; nothing that was saved is lost."),
    sqlite3.SQLITE_BUSY: ("another program holds the database", "Close it, or try again in a moment."),
    sqlite3.SQLITE_LOCKED: ("another program holds the database", "Close it, or try again in a moment."),
    sqlite3.SQLITE_CORRUPT: ("the database is damaged", _DAMAGED),
    sqlite3.SQLITE_NOTADB: ("this is not a database", _DAMAGED),
    sqlite3.SQLITE_READONLY: ("the database cannot be written", "Check the permissions of the file and its folder."),
    sqlite3.SQLITE_PERM: ("the database cannot be written", "Check the permissions of the file and its folder."),
    sqlite3.SQLITE_CANTOPEN: ("the database cannot be opened", "Check the permissions of the file and its folder."),
    sqlite3.SQLITE_IOERR: ("the disk gave an error", "Check the disk; nothing that was saved before is touched."),
    sqlite3.SQLITE_TOOBIG: ("a text is too big for the database", "Send less text at once."),
}


class SqliteSession:
    """The connection as work in its thread sees it."""

    dialect: Dialect = "sqlite"
    row_lock = ""  # to write locks the whole file

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

    def __init__(self, path: Path, *, chosen: bool = False) -> None:
        """`chosen`: a setting named the file, so that what is no database may be anything but ours."""
        self.path = path
        self._chosen = chosen
        self._worker = Worker("codelaw-store")
        self._connection: sqlite3.Connection | None = None
        self._log = path.with_name(f"{path.name}-wal")
        self._trim_after = 0.0
        self._identity: tuple[int, int] | None = None
        """Of the file that was opened: the path may lead to another one since."""
        self.notices: tuple[Notice, ...] = ()
        """What came of a damaged file."""

    async def open(self) -> FileOwners:
        """Create or open the file, and bring its schema up to date; locks live in `owners/` beside it.

        A damaged file is set aside, and what can be read of it is saved, unless another codelaw has it open.

        Raises:
            Refusal: `store_unavailable`: not writable, foreign, newer, or damaged while another has it open. The file
                is left as it is.
        """
        try:
            return await self._in_thread(self._open)
        except BaseException:
            self._worker.end()
            raise

    async def run(self, work: Callable[[Session], T]) -> T:
        """Do `work` in the thread. A cancelled caller leaves it running to its end.

        Raises:
            Refusal: `store_unavailable`, or what `work` refused.
        """
        connection = self._connection
        if connection is None:
            raise Refusal("store_unavailable", f"{self.path}: the store is closed.")

        def present_work() -> T:
            self._refuse_moved()
            return work(SqliteSession(connection))

        return await self._in_thread(present_work)

    async def write(self, work: Callable[[Session], T]) -> T:
        """Do `work` in a transaction that writes: all of it or nothing."""

        def whole_work(session: Session) -> T:
            with session.transaction():
                done = work(session)
            self._trim_log(session)
            return done

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
        self._worker.end()
        return True

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await self._worker.do(lambda: self._guarded(work))

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except Refusal as refusal:
            if refusal.code == "store_unavailable":
                raise Refusal(refusal.code, f"{self.path}: {refusal.message}", refusal.hint) from refusal
            raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # An extended code carries the plain one in its low byte; errors of our own SQL have none of these.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code not in _ADVICE and not damage.is_damage(error):
                raise
            if damage.is_damage(error) and self._connection is not None:
                damage.suspect(self.path)
            reason, hint = _ADVICE.get(code, _ADVICE[sqlite3.SQLITE_CORRUPT])
            raise Refusal("store_unavailable", f"{self.path}: {reason} ({error}).", hint) from error
        except OSError as error:
            raise Refusal("store_unavailable", f"{self.path}: {error.strerror or error}.", _FOLDER) from error

    def _open(self) -> FileOwners:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        locks = self.path.parent / "owners"
        with alone(locks, ALONE_SECONDS):
            connection = self._sound(locks)
            try:
                owners = FileOwners(locks)
            except BaseException:
                connection.close()
                raise
        status = self.path.stat()
        self._identity = (status.st_dev, status.st_ino)
        self._connection = connection
        return owners

    def _sound(self, locks: Path) -> sqlite3.Connection:
        damage.finish(self.path)
        used = living(locks)
        try:
            connection = self._connect(thorough=not used)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if used or not damage.is_damage(error) or (self._chosen and not damage.is_ours(self.path)):
                raise
            self.notices = (damage.set_aside(self.path, error),)
            return self._connect(thorough=False)
        damage.opened(self.path)
        return connection

    def _refuse_moved(self) -> None:
        """SQLite would go on writing to a file that no path leads to any more."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            status = None
        if status is None or (status.st_dev, status.st_ino) != self._identity:
            raise Refusal(
                "store_unavailable",
                "the database was deleted, moved or replaced while codelaw had it open.",
                "Put it back, or restart codelaw to go on with what is there now.",
            )

    def _trim_log(self, session: Session) -> None:
        """Readers that follow each other closely would let the log grow for ever; never raises."""
        now = time.monotonic()
        if now < self._trim_after:
            return
        try:
            if self._log.stat().st_size < LOG_BYTES:
                return
            self._trim_after = now + _TRIM_SECONDS
            session.execute("PRAGMA busy_timeout = 1000")
            session.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            session.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")
        except (OSError, sqlite3.Error) as error:  # what was written is stored all the same
            logging.getLogger(__name__).warning("store: %s cannot be moved into the database: %s", self._log, error)

    def _connect(self, *, thorough: bool) -> sqlite3.Connection:
        if not self.path.exists():  # SQLite gives its side files the permissions of this one
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=256)
        try:
            refuse_foreign(connection)  # before anything is written to it
            _use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_KEPT_LOG_BYTES}")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.text_factory = text_or_bytes
            connection.create_function("holds", 2, _holds, deterministic=True)
            migrate(connection)
            damage.check(connection, self.path, thorough=thorough)
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


def _storable(parameters: Parameters) -> Parameters:
    return tuple(storable(value) if isinstance(value, str) else value for value in parameters)
