"""SQLite connections in threads of their own, one that writes and a few that read, spoken to from the event loop."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TypeVar

from codelaw.adapters.stores.migrations import migrate, refuse_foreign
from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.rows.codec import text_or_bytes
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.adapters.stores.sqlite import damage
from codelaw.adapters.stores.sqlite.damage import is_damage, lost_commits
from codelaw.adapters.stores.sqlite.log_keeping import BUSY_SECONDS, LogKeeper, leave_log, use_log
from codelaw.adapters.stores.sqlite.server_liveness import FileOwners, alone, living
from codelaw.adapters.stores.sqlite.session import SqliteSession, let_read
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal

T = TypeVar("T")

ALONE_SECONDS = 45.0
"""How long another codelaw that opens the file is waited for: it may be saving what it can of a damaged one."""

_TORN = "Could not decode to UTF-8"
"""How the error about a text begins that is not valid Unicode."""

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
    sqlite3.SQLITE_INTERRUPT: ("the work was broken off", "Nothing of it was saved; try again."),
    sqlite3.SQLITE_TOOBIG: ("a text is too big for the database", "Send less text at once."),
}


class SqliteDatabase(Database):
    """One file; locks live in `owners/` beside it.

    A damaged file is set aside when it is opened, and what can be read of it is saved, unless another codelaw has it
    open. One that cannot be written is only read.
    """

    failures = (sqlite3.Error, UnicodeDecodeError, OSError)
    cause_is_shown = True

    def __init__(self, path: Path, *, chosen: bool = False, report: Callable[[Notice], None] | None = None) -> None:
        """`chosen`: a setting named the file, so that what is not a database may be anything but ours."""
        self._locks = path.parent / "owners"
        super().__init__(str(path), FileOwners(self._locks), report)
        self.path = path
        self._chosen = chosen
        self._connection: sqlite3.Connection | None = None
        self._only_read: tuple[ReadOnlyFile, Refusal] | None = None
        """The file, where nothing can be written, and why."""
        self._log: LogKeeper | None = None
        self._identity: tuple[int, int] | None = None
        """Of the file that was opened: the path may lead to another one since."""
        self.notices: tuple[Notice, ...] = ()
        """What came of a damaged file."""

    def _begin(self) -> None:
        try:
            with self._explained():
                self._open_writable()
        except Refusal as refusal:
            if not unwritable(refusal) or not damage.is_ours(self.path):
                raise
            try:
                self._only_read = (ReadOnlyFile(self.path), refusal)
            except self.failures as error:
                raise _unreadable(refusal, error) from error
            message = f"{refusal.message} Chats can be read; nothing can be sent or changed. {HINT}"
            self.notices = (Notice("warning", "store_read_only", message),)

    def _open_writable(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with alone(self._locks, ALONE_SECONDS):
            self._connection = self._sound()
            try:
                self._log = LogKeeper(self.path)
                self.owners.begin()
            except BaseException:
                self._let_go()
                raise
        status = self.path.stat()
        self._identity = (status.st_dev, status.st_ino)

    def _sound(self) -> sqlite3.Connection:
        damage.finish(self.path)
        used = living(self._locks)
        try:
            return self._connect_writer(thorough=not used)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if used or not damage.is_damage(error) or (self._chosen and not damage.is_ours(self.path)):
                raise
            self.notices = (*self.notices, damage.set_aside(self.path, error))
            return self._connect_writer(thorough=False)

    def _let_go(self) -> None:
        if self._only_read is not None:
            self._only_read[0].close()
        if self._log is not None:
            self._log.close()
        if self._connection is not None:
            self._connection.close()  # the last one moves what is left of the log
            self._connection = None
        self.owners.end()

    def _work(self, work: Callable[[SqlSession], T], asked: float) -> T:
        del asked
        if self._connection is None:
            raise Refusal("store_unavailable", self._only_read[1].message if self._only_read else "", HINT)
        self._refuse_moved()
        return work(SqliteSession(self._connection))

    def _write(self, session: SqlSession, work: Callable[[SqlSession], T]) -> T:
        with session.transaction():
            done = work(session)
        if self._log is not None:
            self._log.written(session)
        return done

    def _read(self, connection: sqlite3.Connection, work: Callable[[SqlSession], T]) -> T:
        session = SqliteSession(connection)
        self._refuse_moved()
        # SQLite's module makes texts by itself some times faster than it asks us to make each.
        connection.text_factory = str
        try:
            with session.transaction(write=False):
                return work(session)
        except sqlite3.OperationalError as error:
            if not str(error).startswith(_TORN):
                raise
        connection.text_factory = text_or_bytes
        with session.transaction(write=False):
            return work(session)

    def _connect(self, asked: float) -> sqlite3.Connection:
        del asked
        if self._only_read is not None:
            return self._only_read[0].connect()
        self._refuse_moved()
        return opened_to_read(f"{self.path.absolute().as_uri()}?mode=ro")

    def _interrupt(self, connection: sqlite3.Connection) -> None:
        connection.interrupt()

    def _usable(self, connection: sqlite3.Connection, *, interrupted: bool) -> bool:
        del interrupted
        return self._only_read is None and not connection.in_transaction

    def _refuse_moved(self) -> None:
        """SQLite would go on with a file that no path leads to any more.

        Raises:
            Refusal: `store_unavailable`.
        """
        if self._only_read is not None:
            return
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

    def _refusal(self, error: Exception) -> Exception:
        damaged = damage.is_damage(error)
        if self._only_read is not None and not damaged:
            return _unreadable(self._only_read[1], error)
        if isinstance(error, OSError):
            return Refusal("store_unavailable", f"{self.path}: {error.strerror or error}.", _FOLDER)
        # An extended code carries the plain one in its low byte; errors of our own SQL have none of these.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code not in _ADVICE and not damaged:
            return error
        reason, hint = _ADVICE.get(code, _ADVICE[sqlite3.SQLITE_CORRUPT])
        if damaged and self._only_read is not None:
            hint = "Make it writable and start codelaw again: what can be read of it is saved then."
        elif damaged and self._open:
            damage.suspect(self.path)
            self._report_damage(error)
        return Refusal("store_unavailable", f"{self.path}: {reason} ({error}).", hint)

    def _report_damage(self, error: Exception) -> None:
        """Once, whatever else fails: nothing says by itself why new chats are refused and old ones are read."""
        report, self._report = self._report, None
        if report is not None:
            message = (
                f"{self.path} is damaged ({error}). What can still be read is shown, but nothing new may be saved. "
                f"{_DAMAGED}"
            )
            self._loop.call_soon_threadsafe(report, Notice("error", "store_damaged", message))

    def _connect_writer(self, *, thorough: bool) -> sqlite3.Connection:
        if not self.path.exists():  # SQLite gives its side files the permissions of this one
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=256)
        try:
            refuse_foreign(connection)  # before anything is written to it
            use_log(connection)
            if thorough and (lost := lost_commits(connection, self.path)) is not None:
                self.notices = (lost,)
            connection.execute("PRAGMA synchronous = NORMAL")
            leave_log(connection)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            let_read(connection)
            migrate(connection)
            damage.check(connection, self.path, thorough=thorough)
        except BaseException:
            connection.close()
            raise
        return connection


def _unreadable(refusal: Refusal, error: Exception) -> Refusal:
    return Refusal("store_unavailable", f"{refusal.message} It cannot be read either ({error}).", HINT)


HINT = "Make it and its folder writable (permissions, owner, space on the disk), then start codelaw again."

_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}
_UNWRITABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}


def unwritable(refusal: Refusal) -> bool:
    """Whether a file was not opened because nothing could be written, so that reading it may do."""
    cause = refusal.__cause__
    if isinstance(cause, OSError):
        return cause.errno in _FORBIDDEN
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & 0xFF in _UNWRITABLE


class ReadOnlyFile:
    """The file itself, where SQLite can share it; without a log as it lies there; else a copy of it.

    What others write meanwhile is seen by new connections.

    Raises:
        sqlite3.Error, UnicodeDecodeError, OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._lock = Lock()
        self._copy: tuple[object, TemporaryDirectory[str]] | None = None
        """With what the file and its log were when it was made."""
        try:
            self.connect().close()
        except BaseException:
            self.close()
            raise

    def connect(self) -> sqlite3.Connection:
        logged = self._log.exists() and self._log.stat().st_size > 0
        for options in ("mode=ro",) if logged else ("mode=ro", "mode=ro&immutable=1"):
            try:
                return opened_to_read(f"{self._path.absolute().as_uri()}?{options}")
            except sqlite3.OperationalError as error:
                if is_damage(error):
                    raise
        with self._lock:
            return opened_to_read(f"{self._copied().as_uri()}?mode=ro")

    def close(self) -> None:
        """Remove the copy, if there is one."""
        if self._copy is not None:
            self._copy[1].cleanup()

    def _copied(self) -> Path:
        files = (self._path, self._log)
        now = [(status.st_mtime_ns, status.st_size) for status in map(Path.stat, files)]
        if self._copy is None or self._copy[0] != now:
            self.close()
            self._copy = now, TemporaryDirectory(prefix="codelaw-")
            copy = Path(self._copy[1].name) / self._path.name
            try:
                for file in files:
                    shutil.copyfile(file, copy.with_name(file.name))
                with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                    migrate(connection)
            except BaseException:
                self.close()
                self._copy = None
                raise
        return Path(self._copy[1].name) / self._path.name


def opened_to_read(uri: str) -> sqlite3.Connection:
    """A connection that reads; one thread at a time uses it."""
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, cached_statements=256, check_same_thread=False
    )
    try:
        refuse_foreign(connection)
        let_read(connection)
        connection.execute("SELECT 1 FROM chats LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
