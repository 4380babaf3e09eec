"""Vectors of memories in memory, so that the nearest are found without reading them all again (B-6).

Imported lazily: it needs numpy.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.adapters.stores.rows.memory_rows import Embedded
from codelaw.domain.memories import Category, Places
from codelaw.ports.memories import Vector

MAX_BYTES = 192 * 2**20
"""Of the vectors that are kept, the newest; entries with older ones are found by their words only (S-6)."""

_OF_KIND = "FROM memory_vectors WHERE embedder = ? AND size = ?"


class MemoryVectors:
    """Those of one embedder and one size, as they are at one moment."""

    def __init__(self, session: SqlSession, state: tuple[Any, ...], last: MemoryVectors | None = None) -> None:
        """`state` as `state_of` gives it; only what is new is read where all of the `last` ones are there still."""
        self.state = state
        embedder, size, _, count = state
        most = max(1, MAX_BYTES // max(4, size))
        last = last if last is not None and last.state[:2] == (embedder, size) else None
        rows = _rows(session, state, most, after=0 if last is None else last.state[2])
        if last is not None and last.state[3] + len(rows) != count:
            last, rows = None, _rows(session, state, most, after=0)
        self._names: dict[Any, int] = {} if last is None else {**last._names}  # noqa: SLF001 - its own
        known = [(row[0], self._code(row[1:3]), self._code(row[3])) for row in rows]
        self._known = np.array(known, np.int64).reshape(len(rows), 3)
        """Position, and codes of the place and the category."""
        self._rows = np.frombuffer(b"".join(row[4] for row in rows), "<f4").reshape(len(rows), size // 4)
        if last is not None:
            self._known = np.concatenate((self._known, last._known))[:most]  # noqa: SLF001
            self._rows = np.concatenate((self._rows, last._rows))[:most]  # noqa: SLF001

    def nearest(
        self, vector: Vector, where: tuple[Places, Category | None], limit: int, positions: Collection[int]
    ) -> dict[int, float]:
        """The cosine of those at these places that are nearest to `vector`, and of those at `positions`."""
        places, category = where
        here = np.zeros(len(self._known), np.bool_)
        projects = [("project", name) for name in places.projects]
        for place in (("user", places.user), *projects, ("session", places.session)):
            here |= self._known[:, 1] == self._names.get(place, -1)
        if category is not None:
            here &= self._known[:, 2] == self._names.get(category, -1)
        among = np.flatnonzero(here)
        alike = (self._rows if len(among) == len(self._rows) else self._rows[among]) @ np.frombuffer(vector, "<f4")
        if len(among) > limit:
            chosen = np.isin(self._known[among, 0], np.array([*positions], np.int64), kind="table")
            chosen[np.argpartition(-alike, limit)[:limit]] = True
            among, alike = among[chosen], alike[chosen]
        return dict(zip(self._known[among, 0].tolist(), alike.tolist(), strict=True))

    def _code(self, name: Any) -> int:
        return self._names.setdefault(name, len(self._names))


def _rows(session: SqlSession, state: tuple[Any, ...], most: int, *, after: int) -> list[Any]:
    embedder, size, *_ = state
    return session.execute(
        "SELECT v.position, m.scope, m.belongs_to, m.category, v.vector FROM memory_vectors v"
        " JOIN memories m ON m.position = v.position WHERE v.embedder = ? AND v.size = ? AND v.number > ?"
        " ORDER BY v.number DESC LIMIT ?",
        (embedder, size, after, most),
    ).fetchall()


def state_of(session: SqlSession, embedded: Embedded) -> tuple[Any, ...]:
    """By what it is known whether vectors in memory are still those of the database: no number comes back."""
    embedder, vector = embedded
    newest = f"SELECT coalesce(max(number), 0), count(*) {_OF_KIND}"
    return (embedder, len(vector), *session.execute(newest, (embedder, len(vector))).fetchone())
