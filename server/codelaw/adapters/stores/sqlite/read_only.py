"""A SQLite file that cannot be written, nor its folder: it is read all the same, and nothing is sent (D-1)."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from codelaw.adapters.stores.migrations import migrate, refuse_foreign
from codelaw.adapters.stores.sqlite.damage import is_damage
from codelaw.adapters.stores.sqlite.session import let_read
from codelaw.domain.errors import Refusal

HINT = "Make it and its folder writable (permissions, owner, space on the disk), then start codelaw again."

_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}
_UNWRITABLE = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
}

State = tuple[tuple[int, int], ...]
"""The times and sizes of a file and its log: by these a change is noticed, since nothing guards a look at them."""


def unwritable(refusal: Refusal) -> bool:
    """Whether a file was not opened because nothing could be written, so that reading it may do."""
    cause = refusal.__cause__
    if isinstance(cause, OSError):
        return cause.errno in _FORBIDDEN
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & 0xFF in _UNWRITABLE


class ReadOnlyFile:
    """The file at `path`. What others write to it meanwhile is seen by new connections."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._copy: tuple[State, TemporaryDirectory[str]] | None = None

    def connect(self) -> sqlite3.Connection:
        """The file itself, where SQLite can share it; without a log as it lies there; else a copy of it.

        Raises:
            sqlite3.Error, UnicodeDecodeError, OSError: it cannot be read.
        """
        state = self._state()
        logged = len(state) > 1 and state[1][1] > 0
        for options in ("mode=ro",) if logged else ("mode=ro", "mode=ro&immutable=1"):
            try:
                return _opened(self._path, options, state)
            except sqlite3.OperationalError as error:
                if is_damage(error):
                    raise
        with self._lock:
            return _opened(self._copied(state), "mode=ro", state)

    def alive(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is still as the connection sees it."""
        return isinstance(connection, _Reader) and connection.state == self._state()

    def close(self) -> None:
        """Remove the copy, if there is one."""
        copy, self._copy = self._copy, None
        if copy is not None:
            copy[1].cleanup()

    @property
    def _log(self) -> Path:
        return self._path.with_name(f"{self._path.name}-wal")

    def _state(self) -> State:
        found: list[tuple[int, int]] = []
        for file in (self._path, self._log):
            with suppress(FileNotFoundError):
                status = file.stat()
                found.append((status.st_mtime_ns, status.st_size))
        return tuple(found)

    def _copied(self, state: State) -> Path:
        """A private copy into which the log was played."""
        if self._copy is None or self._copy[0] != state:
            self.close()
            folder = TemporaryDirectory(prefix="codelaw-")
            try:
                copy = Path(folder.name) / self._path.name
                for file in (self._path, self._log):
                    shutil.copyfile(file, copy.with_name(file.name))
                connection = sqlite3.connect(copy, isolation_level=None)
                try:
                    migrate(connection)
                finally:
                    connection.close()
            except BaseException:
                folder.cleanup()
                raise
            self._copy = (state, folder)
        return Path(self._copy[1].name) / self._path.name


class _Reader(sqlite3.Connection):
    state: State = ()
    """Of the file when it was opened."""


def _opened(path: Path, options: str, state: State) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, factory=_Reader)
    try:
        refuse_foreign(connection)
        let_read(connection)
        connection.execute("SELECT 1 FROM chats LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    connection.state = state
    return connection
