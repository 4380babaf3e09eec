"""The index on the disk: a SQLite file for each workspace, shared by all servers (X-5).

It holds nothing that cannot be made anew: what is damaged, or of another format, is thrown away. What cannot be written
is not kept, and the index goes on in memory. Vectors are valid for the very text and the embedder that they were made
of.
"""

from __future__ import annotations

import gc
import hashlib
import logging
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from codelaw.adapters.stores.sqlite.damage import Damaged, is_damage
from codelaw.domain.files import Survey
from codelaw.domain.safety.key_files import keeps_keys
from codelaw.ranking.code.digest import FORMAT, Digest, unpacked
from codelaw.ranking.code.hints import Halves
from codelaw.ranking.code.symbols import has_grammar

if TYPE_CHECKING:
    from codelaw.ranking.code.digest import Digest

T = TypeVar("T")

_log = logging.getLogger(__name__)

_BUSY_SECONDS = 5.0
_SIDES = ("", "-wal", "-shm", "-journal")
_SCHEMA = f"""
BEGIN IMMEDIATE;
DROP TABLE IF EXISTS files;
DROP TABLE IF EXISTS vectors;
CREATE TABLE files (
  path TEXT PRIMARY KEY, mtime REAL NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL, skipped TEXT NOT NULL,
  parsed INTEGER NOT NULL, digest BLOB
) WITHOUT ROWID;
CREATE TABLE vectors (
  path TEXT PRIMARY KEY, hash TEXT NOT NULL, embedder TEXT NOT NULL, digests BLOB NOT NULL, numbers BLOB NOT NULL
) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
COMMIT;
"""
MANY = 5_000
"""Files whose rows and digests are worth being kept from the garbage collector."""
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


@dataclass(frozen=True, slots=True)
class Embedded:
    """A file's vectors."""

    hash: str
    """SHA-256 of the text that they were made of."""
    digests: tuple[bytes, ...]
    """What each piece was, so that pieces that stay the same keep their vectors."""
    rows: Halves


class IndexFile:
    """What is kept of one workspace; each call opens the file, off the event loop."""

    def __init__(self, folder: Path, roots: Iterable[Path]) -> None:
        """`folder` holds the files of all workspaces, `roots` are this one's folders."""
        name = hashlib.sha256("\0".join(map(str, roots)).encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self.path = folder / f"{name}.db"
        self.failed = ""
        """Why nothing is kept any more; empty where it is."""

    def load(self) -> dict[str, Row]:
        """All rows by path; none where there is nothing that can be read."""
        return self._attempt(lambda connection: dict(_rows(connection))) or {}

    def store(self, changed: Mapping[str, Row], gone: Iterable[str] = ()) -> None:
        """Make rows durable, and forget those of files that are gone; what fails is reported once and for all."""
        packed = {path: None if row.digest is None else row.digest.packed() for path, row in changed.items()}
        rows = [
            (_plain(path), row.mtime, row.size, row.hash, row.skipped, has_grammar(path), packed[path])
            for path, row in changed.items()
        ]
        self._write("files", rows, gone)

    def vectors(self, embedder: str) -> dict[str, Embedded]:
        """All that this embedder has made, by path."""
        return self._attempt(lambda connection: _vectors(connection, embedder)) or {}

    def store_vectors(self, embedder: str, changed: Mapping[str, Embedded], gone: Iterable[str] = ()) -> None:
        """The same for vectors."""
        rows = [
            (_plain(path), one.hash, embedder, b"".join(one.digests), one.rows.astype("<f2").tobytes())
            for path, one in changed.items()
        ]
        self._write("vectors", rows, gone)

    def throw_away(self) -> None:
        """Forget everything."""
        self.failed = ""
        self._attempt(lambda connection: connection.executescript("DELETE FROM files; DELETE FROM vectors"))

    def _write(self, table: str, rows: Sequence[tuple[object, ...]], gone: Iterable[str]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(f"DELETE FROM {table} WHERE path = ?", [(_plain(path),) for path in gone])  # noqa: S608 - ours
            for row in rows:
                connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608

        if not self.failed:
            self._attempt(write)

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` gives; None where the file cannot be used. A damaged one is made anew."""
        for anew in (False, True):
            try:
                with closing(self._opened()) as connection, connection:
                    return work(connection)
            except (sqlite3.Error, OSError) as error:
                if anew or not isinstance(error, sqlite3.Error) or not is_damage(error):
                    self.failed = f"The index cannot be kept on the disk ({error}): it is made anew by every server."
                    _log.warning("%s: %s", self.path, self.failed)
                    return None
                _log.warning("the index %s is damaged and made anew: %s", self.path, error)
                for side in _SIDES:
                    with suppress(OSError):  # then the next attempt says what is wrong
                        Path(f"{self.path}{side}").unlink()
        return None

    def _opened(self) -> sqlite3.Connection:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if connection.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                connection.executescript(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[str, Row]]:
    rows = enumerate(connection.execute("SELECT * FROM files"), 1)
    for count, (path, mtime, size, hashed, skipped, parsed, packed) in rows:
        if not skipped and bool(parsed) is not has_grammar(path):
            continue  # a grammar has come or gone since
        try:
            digest = None if packed is None else unpacked(packed)
        except ValueError as error:
            raise Damaged(f"{path}: {error}") from error
        yield path, Row(mtime, size, hashed, skipped, digest)
        spare(count)


def _vectors(connection: sqlite3.Connection, embedder: str) -> dict[str, Embedded]:
    found: dict[str, Embedded] = {}
    try:
        for path, hashed, digests, numbers in connection.execute(
            "SELECT path, hash, digests, numbers FROM vectors WHERE embedder = ?", (embedder,)
        ):
            parts = tuple(bytes(digests[at : at + DIGEST]) for at in range(0, len(digests), DIGEST))
            rows = np.frombuffer(numbers, "<f2").reshape(len(parts), -1) if parts else np.zeros((0, 1), "<f2")
            found[path] = Embedded(hashed, parts, rows)
    except (ValueError, TypeError) as error:
        raise Damaged(f"vectors: {error}") from error
    vectors = [one.rows for one in found.values() if one.digests]
    if len({rows.shape[1] for rows in vectors}) > 1 or not all(np.isfinite(rows).all() for rows in vectors):
        raise Damaged("these are not vectors of one embedder")
    return found


_spared = [0]


def spare(files: int) -> None:
    """What there is of so many files stays, and the garbage collector need not visit it, which stops every thread.

    Does something each time there are `MANY` more than ever before, as what else is there stays with them. What is held
    of a file is in no circle, so that it is freed without the collector.
    """
    if files >= _spared[0] + MANY:
        _spared[0] = files
        gc.freeze()


def _plain(path: str) -> str:
    return path.encode("utf-8", "replace").decode()


LARGEST = 1_500_000
"""Bytes of a file that is indexed."""
_LONG_LINE, _MEAN_LINE, _LOOKED_AT = 20_000, 400, 200_000
_BINARY = frozenset(
    """
    7z a avi bin bmp bz2 class db dll dylib ear eot exe flac gif gz ico iso jar jpeg jpg lib mo mov mp3 mp4 o obj ogg
    otf pack pdf png pyc pyd pyo rar rlib so sqlite svgz tar tgz tif tiff ttf war wasm wav webm webp woff woff2 xz zip
    zst
    """.split()  # noqa: SIM905 - a list of quoted words is nothing to read
)
_DATA = frozenset("csv tsv log lock map svg ipynb jsonl ndjson parquet npy pkl po pot snap".split())  # noqa: SIM905
_LOCKS = frozenset({"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "go.sum", "composer.lock"})
_GENERATED = re.compile(
    r"@generated\b|\bDO NOT EDIT\b|\bdo not modify\b.*\bgenerated\b|\bauto-?generated\b", re.IGNORECASE
)
_HEAD = 1_000


def skipped_by_name(path: str) -> str:
    """Why a file of this name is left out; empty where it is not."""
    name = path.rsplit("/", 1)[-1].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if keeps_keys(name):
        return "keys"
    if suffix in _BINARY:
        return "binary"
    if suffix in _DATA or name in _LOCKS:
        return "data"
    return "minified" if ".min." in name else ""


def skipped_by_text(text: str) -> str:
    """Why a file with this text is left out."""
    if len(text) > LARGEST:
        return "too large"
    part = text[:_LOOKED_AT]
    longest = max(map(len, part.split("\n")))
    if longest > _LONG_LINE or (len(part) > 2_000 and len(part) / (part.count("\n") + 1) > _MEAN_LINE):
        return "minified"
    return "generated" if _GENERATED.search(text[:_HEAD]) else ""


Version = tuple[str, int]
"""The uri and the version of an open document."""


class IndexRows:
    """By path; changed on the event loop alone."""

    def __init__(self, disk: dict[str, Row] | None = None) -> None:
        self.disk = {} if disk is None else disk
        """To be changed by `put` alone."""
        self._open: dict[str, tuple[Version, Row]] = {}
        self.files = self.chunks = 0
        self.skipped: Counter[str] = Counter()
        for row in self.disk.values():
            self._count(row, 1)
        self.edition = 0
        """Another one whenever something that is ranked has changed."""
        self._changed: set[str] = set()

    @property
    def opened(self) -> Mapping[str, Version]:
        return {path: version for path, (version, _) in self._open.items()}

    @property
    def changed(self) -> dict[str, Digest | None]:
        """What may be other than it was when `settle` was called; None: there is nothing now."""
        return {path: row.digest if (row := self.get(path)) is not None else None for path in self._changed}

    def settle(self) -> None:
        """From now on `changed` is what differs from this moment."""
        self._changed = set()

    def get(self, path: str) -> Row | None:
        held = self._open.get(path)
        return self.disk.get(path) if held is None else held[1]

    def all(self) -> dict[str, Row]:
        return {**self.disk, **{path: row for path, (_, row) in self._open.items()}}

    def put(self, rows: Mapping[str, Row | None]) -> None:
        """Take rows as the disk has them; None: there is none any more."""
        for path, row in rows.items():
            before = self.get(path)
            if row is None:
                del self.disk[path]
            else:
                self.disk[path] = row
            self._note(path, before)

    def open(self, path: str, shown: tuple[Version, Row] | None) -> None:
        """An open document stands in front of the disk, as it is now; None: the disk counts again."""
        before = self.get(path)
        if shown is None:
            del self._open[path]
        else:
            self._open[path] = shown
        self._note(path, before)

    def _note(self, path: str, before: Row | None) -> None:
        now = self.get(path)
        if before is now:
            return
        if before is not None:
            self._count(before, -1)
        if now is not None:
            self._count(now, 1)
        if (before and before.digest) is not (now and now.digest):
            self._changed.add(path)
            self.edition += 1

    def _count(self, row: Row, by: int) -> None:
        if row.digest is not None:
            self.files += by
            self.chunks += by * row.digest.size
        if row.skipped:
            self.skipped[row.skipped] += by


def taken(
    survey: Survey, rows: Mapping[str, Row], owed: Mapping[str, float], most: int, note: str
) -> tuple[dict[str, float], list[str], str]:
    """What is to be done, where these rows are there and these files are owed from before.

    Gives the files that are to be read, with the times that were seen, the newest first where there are many; those
    that are to be forgotten; and why the index is incomplete, in a sentence. No more than `most` files are held; `note`
    is what was said of that before.
    """
    times = survey.changed
    if survey.whole:
        newest = sorted(times, key=times.__getitem__, reverse=True)
        over = len(newest) - most
        due = {path: times[path] for path in newest[:most] if _differs(rows.get(path), times[path])}
        lost = () if survey.stopped else [path for path in rows if path not in times]
        note = f"The workspace is larger than its index: {over} files are left out." if over > 0 else ""
        return due, list(lost), survey.stopped or note
    left = {path: time for path, time in owed.items() if path not in survey.gone}
    gone = [path for path in survey.gone if path in rows]
    room = most - len(rows) + len(gone) - sum(path not in rows for path in left)
    for path, time in times.items():
        if path not in rows and path not in left:
            if room <= 0:
                continue
            room -= 1
        left[path] = time
    return left, gone, survey.stopped or note


def _differs(row: Row | None, time: float) -> bool:
    return row is None or row.mtime != time or time < 0
