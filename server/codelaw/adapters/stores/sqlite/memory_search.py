"""Searching memories in SQLite: by words with FTS5, by vectors in memory (B-6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from codelaw.adapters.stores.rows import memory_rows
from codelaw.adapters.stores.rows.codec import legible
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.memory_rows import COLUMNS, counting
from codelaw.domain.memories import Candidate, Category, Places
from codelaw.memory.words import asked, fused, likeness
from codelaw.ports.memories import Vector

if TYPE_CHECKING:
    from codelaw.adapters.stores.sqlite.vectors import Vectors

BY_WORDS = 100
SCORED = 3_000
"""Entries that FTS5 may score in one search: it takes microseconds for each."""
CHUNK = 20_000
"""Vectors that are read at once."""

Asked = tuple[str, Vector]
"""The name of an embedder, and the vector of the question."""


def candidates(  # noqa: PLR0917 - all that a search depends on
    session: Session,
    known: Vectors | None,
    places: Places,
    question: str,
    asked_by: Asked | None,
    category: Category | None,
    limit: int,
) -> list[Candidate]:
    """Entries that resemble the question, most alike first; `known` are vectors of the question's embedder."""
    terms = asked(question)
    positions = set(by_words(session, places, terms, category))
    cosine: dict[int, float] = {}
    if asked_by is not None and known is not None:
        _read_new(session, known, asked_by)
        cosine = _nearest(session, known, (places, category), asked_by[1], max(limit, BY_WORDS))
        nearest = set(cosine)
        cosine |= _cosines_of(session, asked_by, positions - nearest)
        positions |= nearest
    rows = _of_many(session, f"SELECT position, {COLUMNS} FROM memories WHERE position IN", positions)  # noqa: S608 - our own names
    here = _owners(places)  # once more: an entry may have changed since its vector was read
    alike = [
        (fused(likeness(terms, legible(row[2])), cosine.get(row[0])), row[1:], cosine.get(row[0]))
        for row in rows
        if category in (None, row[3]) and (row[4], row[5]) in here
    ]
    alike.sort(key=lambda one: (-one[0], -one[1][6], one[1][0]))
    found = ((similarity, memory_rows.memory(row), near) for similarity, row, near in alike)
    each = (Candidate(memory, similarity, near) for similarity, memory, near in found if memory is not None)
    return list(islice(each, limit))


def by_words(session: Session, places: Places, terms: Mapping[str, str], category: Category | None) -> list[int]:
    """The positions of entries that hold words of the question, which are given by their stems.

    The rare ones of them are looked for, since frequent ones tell little; where all are frequent, the newest entries
    with the rarest word are it.
    """
    frequency: list[tuple[int, str]] = []
    for term, word in terms.items():
        row = session.execute("SELECT doc FROM memory_vocabulary WHERE term = ?", (term,)).fetchone()
        if row is not None:
            frequency.append((row[0], word))
    if not frequency:
        return []
    frequency.sort()
    room = SCORED
    rare: list[str] = []
    for count, word in frequency:
        if count > room:
            break
        room -= count
        rare.append(word)
    where, parameters = counting(places)
    if category is not None:
        where, parameters = f"{where} AND category = ?", (*parameters, category)
    if rare:
        found = "SELECT rowid AS at, rank AS place FROM memory_words WHERE memory_words MATCH ?"
    else:
        rare = [frequency[0][1]]
        found = (
            "SELECT rowid AS at, -rowid AS place FROM memory_words WHERE memory_words MATCH ?"  # noqa: S608 - our own names
            f" ORDER BY rowid DESC LIMIT {SCORED}"
        )
    rows = session.execute(
        f"SELECT at FROM ({found}) JOIN memories ON position = at WHERE {where} ORDER BY place LIMIT ?",  # noqa: S608 - our own names
        (_either(rare), *parameters, BY_WORDS),
    )
    return [row[0] for row in rows]


def _read_new(session: Session, known: Vectors, asked_by: Asked) -> None:
    """Read the vectors that are new since the last look, a bounded number at a time."""
    embedder, vector = asked_by
    while True:
        rows = session.execute(
            "SELECT v.number, v.position, m.scope, m.belongs_to, m.category, v.vector FROM memory_vectors v"
            " CROSS JOIN memories m ON m.position = v.position"
            " WHERE v.embedder = ? AND v.size = ? AND v.number > ? ORDER BY v.number LIMIT ?",
            (embedder, len(vector), known.newest, CHUNK),
        ).fetchall()
        known.add(rows)
        if len(rows) < CHUNK:
            return


def _nearest(
    session: Session, known: Vectors, where: tuple[Places, Category | None], vector: Vector, wanted: int
) -> dict[int, float]:
    """The cosine of the nearest entries by their positions."""
    places, category = where
    while True:
        found = known.nearest(vector, _owners(places), category, wanted)
        numbers = [number for number, *_ in found]
        there = _of_many(session, "SELECT number FROM memory_vectors WHERE number IN", numbers)
        gone = set(numbers) - {row[0] for row in there}
        if not gone:
            return {position: cosine for _, position, cosine in found}
        known.drop(gone)


def _cosines_of(session: Session, asked_by: Asked, positions: Iterable[int]) -> dict[int, float]:
    from codelaw.adapters.stores.sqlite.vectors import cosines  # noqa: PLC0415 - numpy

    embedder, vector = asked_by
    rows = _of_many(session, "SELECT position, vector, embedder FROM memory_vectors WHERE position IN", positions)
    fitting = [row for row in rows if row[2] == embedder and len(row[1]) == len(vector)]
    return dict(zip([row[0] for row in fitting], cosines(vector, [row[1] for row in fitting]), strict=True))


def _owners(places: Places) -> set[tuple[str, str]]:
    """Scope and owner of all that counts here."""
    session = [("session", places.session)] if places.session is not None else []
    return {("user", places.user), *(("project", name) for name in places.projects), *session}


def _of_many(session: Session, select: str, keys: Iterable[int]) -> list[Any]:
    wanted = sorted(keys)
    if not wanted:
        return []
    return session.execute(f"{select} ({', '.join('?' * len(wanted))})", tuple(wanted)).fetchall()


def _either(words: Sequence[str]) -> str:
    """Any of these words, as FTS5 is asked; quoted, since a question may hold what is syntax there."""
    return " OR ".join(f'"{word}"' for word in words)
