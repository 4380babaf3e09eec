"""Vectors of memories in memory, so that the nearest are found without reading them all again (B-6).

Imported lazily: it needs numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codelaw.ports.memories import Vector

MAX_BYTES = 192 * 2**20
"""Of the vectors that are kept, the newest; entries with older ones are found by their words only (S-6)."""

Row = tuple[int, int, str | bytes, str | bytes, str | bytes, bytes]
"""Number, position, scope, owner, category and vector."""


class Vectors:
    """Those of one embedder and one size that were read so far, in the order of their numbers.

    Vectors that were deleted stay in it until somebody looks for them in vain and says so: no number comes back.
    """

    def __init__(self, size: int) -> None:
        self.newest = 0
        """The highest number that was read."""
        self._most = max(1, MAX_BYTES // max(4, size))
        self._names: dict[Any, int] = {}
        self._known = np.empty((0, 4), np.int64)
        """Number, position, and codes of the place and the category."""
        self._rows = np.empty((0, size // 4), np.float32)

    def add(self, rows: Sequence[Row]) -> None:
        """More of them, in the order of their numbers."""
        if rows:
            self.newest = rows[-1][0]
            known = [(row[0], row[1], self._code(row[2:4]), self._code(row[4])) for row in rows]
            vectors = np.frombuffer(b"".join(row[5] for row in rows), "<f4").reshape(len(rows), -1)
            self._known = np.concatenate((self._known, np.array(known, np.int64)))[-self._most :]
            self._rows = np.concatenate((self._rows, vectors))[-self._most :]

    def drop(self, numbers: Collection[int]) -> None:
        """These are gone."""
        kept = ~np.isin(self._known[:, 0], list(numbers))
        self._known, self._rows = self._known[kept], self._rows[kept]

    def nearest(
        self, vector: Vector, places: Iterable[tuple[str, str]], category: str | None, limit: int
    ) -> list[tuple[int, int, float]]:
        """Numbers, positions and cosines of those at `places`, scope and owner, that are nearest to `vector`."""
        here = np.zeros(len(self._known), np.bool_)
        for place in places:
            here |= self._known[:, 2] == self._names.get(place, -1)
        if category is not None:
            here &= self._known[:, 3] == self._names.get(category, -1)
        among = np.flatnonzero(here)
        rows = self._rows if len(among) == len(self._rows) else self._rows[among]
        alike = _products(rows, vector)
        if len(among) > limit:
            best = np.argpartition(-alike, limit)[:limit]
            among, alike = among[best], alike[best]
        found = zip(self._known[among].tolist(), alike.tolist(), strict=True)
        return [(known[0], known[1], cosine) for known, cosine in found]

    def _code(self, name: Any) -> int:
        return self._names.setdefault(name, len(self._names))


def cosines(vector: Vector, others: Sequence[Vector]) -> list[float]:
    """The cosine of a vector and each of `others`, all of one size and of length 1."""
    if not others:
        return []
    return _products(np.frombuffer(b"".join(others), "<f4").reshape(len(others), -1), vector).tolist()


def _products(rows: NDArray[np.float32], vector: Vector) -> NDArray[np.float32]:
    return rows @ np.frombuffer(vector, "<f4")
