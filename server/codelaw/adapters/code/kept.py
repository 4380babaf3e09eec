"""The index on the disk: two SQLite files for each workspace, shared by all servers; one is for vectors (X-5).

They hold nothing that cannot be made anew: what is damaged, or of another format, is thrown away. What cannot be
written is not kept, and the index goes on in memory. Vectors are valid for the very text and the embedder that they
were made of.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codelaw.adapters.code.yielding import spare
from codelaw.adapters.stores.sqlite.damage import Damaged, is_damage
from codelaw.ranking.code.digest import FORMAT, Digest, unpacked
from codelaw.ranking.code.hints import Halves
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


_VECTORS = """
CREATE TABLE IF NOT EXISTS vectors (
  path TEXT PRIMARY KEY, hash TEXT NOT NULL, embedder TEXT NOT NULL, digests BLOB NOT NULL, numbers BLOB NOT NULL
) WITHOUT ROWID
"""
DIGEST = 16
"""Bytes that stand for the text of a piece."""


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
                return dict(self._rows(self._opened()))
            except (sqlite3.Error, OSError) as error:
                self.close()
                if anew or not isinstance(error, sqlite3.Error) or not is_damage(error):
                    self._fail(error)
                    return {}
                _log.warning("the index %s is damaged and made anew: %s", self.path, error)
                _remove(self.path)
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
            _remove(self.path)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connection = _connected(self.path)
            if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.execute("DROP TABLE IF EXISTS files")
                    connection.execute(_SCHEMA)
                    connection.execute(f"PRAGMA user_version = {FORMAT}")
        return self._connection

    def _rows(self, connection: sqlite3.Connection) -> Iterator[tuple[str, Row]]:
        count = 0
        for path, mtime, size, hashed, skipped, parsed, packed in connection.execute("SELECT * FROM files"):
            if not skipped and bool(parsed) is not has_grammar(path):
                continue  # a grammar has come or gone since
            try:
                digest = None if packed is None else unpacked(packed)
            except ValueError as error:
                raise Damaged(f"{path}: {error}") from error
            yield path, Row(mtime, size, hashed, skipped, digest)
            count += 1
            spare(count)

    def _fail(self, error: Exception) -> None:
        self.failed = f"The index cannot be kept on the disk ({error}): it is made anew by every server."
        _log.warning("%s: %s", self.path, self.failed)


def _packed(row: Row) -> bytes | None:
    return None if row.digest is None else row.digest.packed()


def _plain(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True)
class Embedded:
    """A file's vectors."""

    hash: str
    """SHA-256 of the text that they were made of."""
    digests: tuple[bytes, ...]
    """What each piece was, so that pieces that stay the same keep their vectors."""
    rows: Halves


class KeptVectors:
    """Those of one workspace; to be used from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self, embedder: str) -> dict[str, Embedded]:
        """All that this embedder has made, by path."""
        found: dict[str, Embedded] = {}
        try:
            with closing(self._opened()) as connection:
                for path, hashed, digests, numbers in connection.execute(
                    "SELECT path, hash, digests, numbers FROM vectors WHERE embedder = ?", (embedder,)
                ):
                    parts = tuple(bytes(digests[at : at + DIGEST]) for at in range(0, len(digests), DIGEST))
                    rows = np.frombuffer(numbers, "<f2").reshape(len(parts), -1) if parts else np.zeros((0, 1), "<f2")
                    found[path] = Embedded(hashed, parts, rows)
            _check([one.rows for one in found.values() if one.digests])
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:
            _log.warning("the vectors in %s are made anew: %s", self._path, error)
            _remove(self._path)
            return {}
        return found

    def store(self, embedder: str, changed: Mapping[str, Embedded]) -> None:
        self._write(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)",
            [
                (path, one.hash, embedder, b"".join(one.digests), one.rows.astype("<f2").tobytes())
                for path, one in changed.items()
            ],
        )

    def forget(self, paths: list[str]) -> None:
        self._write("DELETE FROM vectors WHERE path = ?", [(path,) for path in paths])

    def _write(self, statement: str, values: list[tuple[object, ...]]) -> None:
        try:
            with closing(self._opened()) as connection, connection:
                connection.executemany(statement, values)
        except (sqlite3.Error, OSError, ValueError) as error:
            _log.warning("vectors cannot be kept in %s: %s", self._path, error)

    def _opened(self) -> sqlite3.Connection:
        connection = _connected(self._path)
        connection.execute(_VECTORS)
        return connection


def _check(vectors: Sequence[Halves]) -> None:
    """Nothing, unless something else than numbers is among them, or they have several sizes.

    Raises:
        ValueError: it is so.
    """
    if len({rows.shape[1] for rows in vectors}) > 1 or not all(np.isfinite(rows).all() for rows in vectors):
        raise ValueError("these are not vectors of one embedder")


def _connected(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _remove(path: Path) -> None:
    for side in _SIDES:
        try:
            Path(f"{path}{side}").unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be removed: %s", path, error)
