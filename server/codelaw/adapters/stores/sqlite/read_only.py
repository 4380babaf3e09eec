"""A SQLite file that cannot be written, nor its folder: it is read all the same, and nothing is sent (D-1)."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from codelaw.adapters.stores import damage
from codelaw.adapters.stores.migrations import migrate, migrations, refuse_foreign
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.sqlite.server_liveness import ReadingOwners
from codelaw.adapters.stores.worker import Worker
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal

T = TypeVar("T")
Wrap = Callable[[sqlite3.Connection], Session]

_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}
_UNWRITABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}
_ROOM = 3
"""How many times its size must be free where a file is copied to."""

HINT = "Make it and its folder writable (permissions, owner, space on the disk), then start codelaw again."


def unwritable(refusal: Refusal) -> bool:
    """Whether a file was not opened because nothing could be written, so that reading it may do."""
    cause = refusal.__cause__
    if isinstance(cause, OSError):
        return cause.errno in _FORBIDDEN
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & 0xFF in _UNWRITABLE


class ReadOnlyDatabase:
    """A `Database` that refuses to write, and says why. What others write meanwhile is seen at the next look."""

    def __init__(self, path: Path, why: Refusal, session: Wrap, prepare: Callable[[sqlite3.Connection], None]) -> None:
        """`session` wraps a connection for the rows, which `prepare` has made ready."""
        self.path = path
        self._why = why
        self._session = session
        self._prepare = prepare
        self._worker = Worker("codelaw-store")
        self._connection: sqlite3.Connection | None = None
        self._copy: Path | None = None
        self._seen: list[tuple[int, int]] | None = None

    @property
    def notice(self) -> Notice:
        """What the user is told."""
        message = f"{self._why.message} Chats can be read; nothing can be sent or changed. {HINT}"
        return Notice("warning", "store_read_only", message)

    async def open(self) -> ReadingOwners:
        """Open the file for reading.

        Raises:
            Refusal: `store_unavailable`: it cannot be read either.
        """
        try:
            await self._worker.do(lambda: self._guarded(self._open))
        except BaseException:
            self._worker.end()
            raise
        return ReadingOwners(self.path.parent / "owners")

    async def run(self, work: Callable[[Session], T]) -> T:
        """Do `work`, which may only read."""
        return await self._worker.do(lambda: self._guarded(lambda: work(self._session(self._current()))))

    @property
    def busy(self) -> bool:
        """Nobody waits for a write."""
        return False

    async def read(self, work: Callable[[Session], T], about: Collection[str] = (), *, slow: bool = False) -> T:  # noqa: ARG002 - the port has them
        """Do `work` in a transaction that only reads."""

        def whole_work(session: Session) -> T:
            with session.transaction(write=False):
                return work(session)

        return await self.run(whole_work)

    async def write(self, work: Callable[[Session], T], about: Collection[str] = ()) -> T:  # noqa: ARG002 - the port has it
        """Refuse.

        Raises:
            Refusal: `store_unavailable`.
        """
        raise Refusal("store_unavailable", self._why.message, HINT)

    async def close(self) -> bool:
        """Let go of the file; False when that was done before."""
        connection, self._connection = self._connection, None
        if connection is None:
            return False
        await self._worker.do(lambda: self._forget(connection))
        self._worker.end()
        return True

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if damage.is_damage(error):
                hint = "Make it writable and start codelaw again: what can be read of it is saved then."
                raise Refusal("store_unavailable", f"{self.path}: the database is damaged ({error}).", hint) from error
            raise self._unreadable(error) from error
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> Refusal:
        return Refusal("store_unavailable", f"{self._why.message} It cannot be read either ({error}).", HINT)

    def _current(self) -> sqlite3.Connection:
        """The connection; a new one where the file has changed, which an unguarded look at it would not notice."""
        if self._connection is None:
            raise Refusal("store_unavailable", f"{self.path}: the store is closed.")
        if self._seen != self._state():
            self._forget(self._connection)
            self._seen = None  # until it is open again, which may fail
            self._open()
        return self._connection

    def _open(self) -> None:
        seen = self._state()
        self._connection = self._reading()
        self._seen = seen

    def _reading(self) -> sqlite3.Connection:
        """The file itself, where SQLite can share it; without side files as it lies there; else a copy of it."""
        whole = not self._size("-wal")
        for options in ("mode=ro", "mode=ro&immutable=1") if whole else ("mode=ro",):
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?{options}", uri=True, isolation_level=None)
            try:
                if refuse_foreign(connection) == migrations()[-1][0]:
                    self._prepare(connection)
                    connection.execute("SELECT 1 FROM chats LIMIT 1").fetchone()
                    return connection
            except sqlite3.OperationalError as error:
                if damage.is_damage(error):
                    connection.close()
                    raise
            except BaseException:
                connection.close()
                raise
            connection.close()
        return self._copied()

    def _copied(self) -> sqlite3.Connection:
        """A private copy, brought up to date: of what an earlier codelaw wrote, or of a log that cannot be shared."""
        folder = Path(tempfile.mkdtemp(prefix="codelaw-"))
        try:
            connection = self._copied_into(folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._copy = folder
        return connection

    def _copied_into(self, folder: Path) -> sqlite3.Connection:
        size = self._size("") + self._size("-wal")
        if shutil.disk_usage(folder).free < _ROOM * size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
        for suffix in ("", "-wal"):
            if self._size(suffix):
                shutil.copyfile(self._file(suffix), folder / f"{self.path.name}{suffix}")
        connection = sqlite3.connect(folder / self.path.name, isolation_level=None)
        try:
            migrate(connection)
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _forget(self, connection: sqlite3.Connection) -> None:
        connection.close()
        copy, self._copy = self._copy, None
        if copy is not None:
            shutil.rmtree(copy, ignore_errors=True)

    def _state(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for suffix in ("", "-wal"):
            with suppress(FileNotFoundError):
                status = self._file(suffix).stat()
                found.append((status.st_mtime_ns, status.st_size))
        return found

    def _size(self, suffix: str) -> int:
        with suppress(FileNotFoundError):
            return self._file(suffix).stat().st_size
        return 0

    def _file(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)
