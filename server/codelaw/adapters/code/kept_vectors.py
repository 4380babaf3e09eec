"""Vectors of the index's pieces on the disk, in a SQLite file of their own beside the index (X-5).

They are valid for the very text and the embedder that they were made of. What is damaged is made anew; what cannot be
written is not kept.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codelaw.ranking.code.nearness import Halves

_log = logging.getLogger(__name__)

DIGEST = 16
"""Bytes that stand for the text of a piece."""
_BUSY_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
  path TEXT PRIMARY KEY, hash TEXT NOT NULL, embedder TEXT NOT NULL, digests BLOB NOT NULL, numbers BLOB NOT NULL
) WITHOUT ROWID
"""


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
            self._remove()
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
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _remove(self) -> None:
        for side in ("", "-wal", "-shm", "-journal"):
            try:
                Path(f"{self._path}{side}").unlink(missing_ok=True)
            except OSError as error:
                _log.warning("%s cannot be removed: %s", self._path, error)


def _check(vectors: Sequence[Halves]) -> None:
    """Nothing, unless something else than numbers is among them, or they have several sizes.

    Raises:
        ValueError: it is so.
    """
    if len({rows.shape[1] for rows in vectors}) > 1 or not all(np.isfinite(rows).all() for rows in vectors):
        raise ValueError("these are not vectors of one embedder")
