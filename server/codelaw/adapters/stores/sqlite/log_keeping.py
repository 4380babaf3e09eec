"""SQLite's write-ahead log, moved into the database beside the thread that writes.

By itself SQLite moves the log inside every commit that makes it longer than 4 MB, and that commit waits for the disk.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from codelaw.adapters.stores.rows.database import SqlSession

BUSY_SECONDS = 5.0
"""How long a lock of another server is waited for."""
LOG_BYTES = 16_000_000
"""Of the log, from which on a writer waits for a gap between the readers to begin it anew."""
GAP_SECONDS = 0.1
"""How long such a gap is waited for."""
_TRIM_SECONDS = 10.0
"""Between two such waits, where none was found."""
_KEPT_LOG_BYTES = 4_000_000
_MOVED_BYTES = 1_000_000
"""By which the log has grown when it is moved."""

_moving = threading.Lock()
"""SQLite refuses at once to move a log that is being moved, however long one would wait."""
_log = logging.getLogger(__name__)


class LogKeeper:
    """Moves the log of the database at `path` in a thread of its own; `written` and `close` belong to the writer's."""

    def __init__(self, path: Path) -> None:
        """Raises `sqlite3.Error`: the file cannot be opened."""
        self._path = path.with_name(f"{path.name}-wal")
        self._connection = sqlite3.connect(
            path,
            timeout=0,  # whoever moves it just now does the same
            isolation_level=None,
            check_same_thread=False,  # made here, used by the thread alone
        )
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="codelaw-log")
        self._size = 0
        """Of the log when it was moved last."""
        self._trim_after = 0.0

    def written(self, session: SqlSession) -> None:
        """A commit has been made: see to it that the log is moved now and then, and does not grow for ever.

        Never raises: what was written is stored all the same.
        """
        try:
            size = self._path.stat().st_size
            if size >= LOG_BYTES and time.monotonic() >= self._trim_after:
                # Readers that follow each other closely would keep it from being begun anew.
                if not empty_log(session, "RESTART"):
                    self._trim_after = time.monotonic() + _TRIM_SECONDS
            elif not self._size <= size < self._size + _MOVED_BYTES:  # a log that was begun anew is smaller
                self._thread.submit(self._move)
            else:
                return
            self._size = size
        except (OSError, sqlite3.Error) as error:
            self._failed(error)

    def close(self) -> None:
        """Finish the move that is under way, and let go of the file."""
        self._thread.shutdown(cancel_futures=True)
        self._connection.close()

    def _move(self) -> None:
        try:
            with _moving:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        _log.warning("store: %s cannot be moved into the database: %s", self._path, error)


def use_log(connection: sqlite3.Connection) -> None:
    """Switch to the log; SQLite does not wait by itself when two servers do so at once."""
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


def leave_log(connection: sqlite3.Connection) -> None:
    """Have a connection that writes leave it to a keeper to move the log."""
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"PRAGMA journal_size_limit = {_KEPT_LOG_BYTES}")


def empty_log(session: SqlSession, mode: Literal["RESTART", "TRUNCATE"]) -> bool:
    """Move the log into the database and begin it anew; False where it was read all the time meanwhile."""
    session.execute(f"PRAGMA busy_timeout = {GAP_SECONDS * 1000:.0f}")
    try:
        with _moving:
            (busy, *_) = session.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    finally:
        session.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000:.0f}")
    return not busy
