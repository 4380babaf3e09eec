"""A SQLite file that cannot be written, nor its folder: it is read all the same, and nothing is sent (D-1)."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from codelaw.adapters.stores.migrations import migrate, refuse_foreign
from codelaw.adapters.stores.sqlite.damage import is_damage
from codelaw.adapters.stores.sqlite.log_keeping import BUSY_SECONDS
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


def unwritable(refusal: Refusal) -> bool:
    """Whether a file was not opened because nothing could be written, so that reading it may do."""
    cause = refusal.__cause__
    if isinstance(cause, OSError):
        return cause.errno in _FORBIDDEN
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & 0xFF in _UNWRITABLE


class ReadOnlyFile:
    """The file itself, where SQLite can share it; without a log as it lies there; else a copy of it.

    Raises:
        sqlite3.Error, UnicodeDecodeError, OSError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._copy: TemporaryDirectory[str] | None = None
        log = path.with_name(f"{path.name}-wal")
        logged = log.exists() and log.stat().st_size > 0
        for options in ("mode=ro",) if logged else ("mode=ro", "mode=ro&immutable=1"):
            self._uri = f"{path.absolute().as_uri()}?{options}"
            try:
                self.connect().close()
            except sqlite3.OperationalError as error:
                if is_damage(error):
                    raise
            else:
                return
        self._copy = TemporaryDirectory(prefix="codelaw-")
        try:
            for file in (path, log):
                shutil.copyfile(file, Path(self._copy.name) / file.name)
            copy = Path(self._copy.name) / path.name
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                migrate(connection)
            self._uri = f"{copy.as_uri()}?mode=ro"
            self.connect().close()
        except BaseException:
            self.close()
            raise

    def connect(self) -> sqlite3.Connection:
        return opened_to_read(self._uri)

    def close(self) -> None:
        """Remove the copy, if there is one."""
        if self._copy is not None:
            self._copy.cleanup()


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
