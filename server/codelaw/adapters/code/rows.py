"""What an index knows of each file, which ones are not worth it, and what a survey means for it (X-5, S-6).

What all files come to, and which of them differ from what was ranked last, is kept as they change: a question after an
edit costs what was edited, not what there is. Open documents stand in front of the disk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.adapters.code.kept import Row
from codelaw.domain.files import Survey

if TYPE_CHECKING:
    from codelaw.ranking.code.digest import Digest

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


@dataclass(frozen=True, slots=True)
class Taken:
    """What is to be done."""

    owed: dict[str, float]
    """Files that are to be read, with the times that were seen; the newest first where there are many."""
    gone: list[str]
    """Files that are to be forgotten."""
    note: str
    """Why the index is incomplete, in a sentence."""


def taken(survey: Survey, rows: Mapping[str, Row], owed: Mapping[str, float], most: int, note: str) -> Taken:
    """What is to be done, where these rows are there and these files are owed from before.

    No more than `most` files are held; `note` is what was said of that before.
    """
    times = survey.changed
    if survey.whole:
        newest = sorted(times, key=times.__getitem__, reverse=True)
        over = len(newest) - most
        due = {path: times[path] for path in newest[:most] if _differs(rows.get(path), times[path])}
        lost = () if survey.stopped else [path for path in rows if path not in times]
        note = f"The workspace is larger than its index: {over} files are left out." if over > 0 else ""
        return Taken(due, list(lost), survey.stopped or note)
    left = {path: time for path, time in owed.items() if path not in survey.gone}
    gone = [path for path in survey.gone if path in rows]
    room = most - len(rows) + len(gone) - sum(path not in rows for path in left)
    for path, time in times.items():
        if path not in rows and path not in left:
            if room <= 0:
                continue
            room -= 1
        left[path] = time
    return Taken(left, gone, survey.stopped or note)


def _differs(row: Row | None, time: float) -> bool:
    return row is None or row.mtime != time or time < 0
