"""The index on the disk: a SQLite file for each workspace folder, shared by all servers (X-5).

It holds nothing that cannot be made anew: what is damaged, or of another format, is thrown away. What cannot be written
is not kept, and the index goes on in memory.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codelaw.adapters.code.yielding import spare
from codelaw.adapters.stores.sqlite.damage import Damaged, is_damage
from codelaw.ranking.code.digest import FORMAT, Digest, unpacked
from codelaw.ranking.code.symbols import has_grammar

_log = logging.getLogger(__name__)

_BUSY_SECONDS = 5.0
_SIDES = ("", "-wal", "-shm", "-journal")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
  path TEXT PRIMARY KEY, mtime REAL NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL, skipped TEXT NOT NULL,
  parsed INTEGER NOT NULL, digest BLOB
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A file as it was read last."""

    mtime: float
    size: int
    hash: str
    """SHA-256 of its text; empty where it was not read."""
    skipped: str
    """Why it has no digest."""
    digest: Digest | None


class IndexFile:
    """The rows of one workspace; to be used from one thread at a time."""

    def __init__(self, folder: Path, roots: Iterable[Path]) -> None:
        """`folder` holds the files of all workspaces, `roots` are this one's folders."""
        name = hashlib.sha256("\0".join(map(str, roots)).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self.path = folder / f"{name}.db"
        self.failed = ""
        """Why nothing is kept; empty where it is."""
        self._connection: sqlite3.Connection | None = None

    def load(self) -> dict[str, Row]:
        """All rows by path; none where there is nothing that can be read."""
        for anew in (False, True):
            try:
                return self._loaded(self._opened())
            except (sqlite3.Error, OSError) as error:
                self.close()
                if anew or not isinstance(error, sqlite3.Error) or not is_damage(error):
                    self._fail(error)
                    return {}
                _log.warning("the index %s is damaged and made anew: %s", self.path, error)
                self._remove()
        return {}

    def store(self, changed: dict[str, Row], gone: Iterable[str] = ()) -> None:
        """Make rows durable, and forget those of files that are gone; what fails is told once and for all."""
        if self.failed:
            return
        try:
            connection = self._opened()
            with connection:
                connection.executemany("DELETE FROM files WHERE path = ?", [(_plain(path),) for path in gone])
                connection.executemany(
                    "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        (_plain(path), row.mtime, row.size, row.hash, row.skipped, has_grammar(path), _packed(row))
                        for path, row in changed.items()
                    ),
                )
        except (sqlite3.Error, OSError) as error:
            self.close()
            self._fail(error)

    def throw_away(self) -> None:
        """Forget everything; the next `store` begins a new file."""
        self.failed = ""
        try:
            with self._opened() as connection:
                connection.execute("DELETE FROM files")
        except (sqlite3.Error, OSError):
            self.close()
            self._remove()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, check_same_thread=False)
            self._connection = connection
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("DROP TABLE IF EXISTS files")
                    connection.execute(_SCHEMA)
                    connection.execute(f"PRAGMA user_version = {FORMAT}")
        return self._connection

    def _loaded(self, connection: sqlite3.Connection) -> dict[str, Row]:
        rows: dict[str, Row] = {}
        for path, row in self._rows(connection):
            rows[path] = row
            spare(len(rows))
        return rows

    def _rows(self, connection: sqlite3.Connection) -> Iterator[tuple[str, Row]]:
        for path, mtime, size, hashed, skipped, parsed, packed in connection.execute("SELECT * FROM files"):
            if not skipped and bool(parsed) is not has_grammar(path):
                continue  # a grammar has come or gone since
            try:
                digest = None if packed is None else unpacked(packed)
            except ValueError as error:
                raise Damaged(f"{path}: {error}") from error
            yield path, Row(mtime, size, hashed, skipped, digest)

    def _remove(self) -> None:
        for side in _SIDES:
            try:
                Path(f"{self.path}{side}").unlink(missing_ok=True)
            except OSError as error:
                _log.warning("the index %s cannot be removed: %s", self.path, error)

    def _fail(self, error: Exception) -> None:
        self.failed = f"The index cannot be kept on the disk ({error}): it is made anew by every server."
        _log.warning("%s: %s", self.path, self.failed)


def _packed(row: Row) -> bytes | None:
    return None if row.digest is None else row.digest.packed()


def _plain(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
