"""Searching memories in PostgreSQL: by words with a GIN index over our own stems, by vectors with pgvector (B-6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from typing import Any

from codelaw.adapters.stores.rows import memory_rows
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.memory_rows import COLUMNS, LONGEST, Condition, counting, look_around, sized, spelt
from codelaw.domain.memories import Candidate, Category, Memory, Places
from codelaw.memory.words import asked, fused, likeness
from codelaw.ports.memories import Vector

Asked = tuple[str, Vector]
"""The name of an embedder, and the vector of the question."""

BY_WORDS = 100
"""Entries that are found by words alone, at most."""
SCORED = 1_000
"""Entries that the database may rank by words in one search."""
EXACT = 4_000
"""Entries of one place whose vectors are all compared; among more the index is asked."""

_FREQUENT = (
    "SELECT word, share * (SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = 'memories'::regclass)"
    " FROM pg_stats, unnest(most_common_elems::text::text[], most_common_elem_freqs) AS listed (word, share)"
    " WHERE schemaname = current_schema() AND tablename = 'memories' AND attname = 'words' AND word IN ({})"
)
"""How many entries have a word, for the words that the database's statistics list: those that are not are rare."""


def candidates(
    session: Session,
    places: Places,
    question: str,
    asked_by: Asked | None,
    category: Category | None,
    *,
    limit: int,
) -> list[Candidate]:
    """Entries that resemble the question, most alike first."""
    terms = asked(question)
    here, parameters = counting(places)
    if category is not None:
        here, parameters = f"{here} AND category = ?", (*parameters, category)
    look_around(session, max(limit, BY_WORDS))
    positions = set(_by_words(session, terms, (here, parameters)))
    cosine: dict[int, float] = {}
    if asked_by is not None:
        cosine = _nearest(session, asked_by, (here, parameters), max(limit, BY_WORDS))
        found = set(cosine)
        cosine |= _cosines_of(session, asked_by, positions - found)
        positions |= found
    alike = [
        Candidate(memory, fused(likeness(terms, memory.text), cosine.get(position)), cosine.get(position))
        for position, memory in _entries(session, positions)
    ]
    alike.sort(key=lambda one: (-one.similarity, -one.memory.created_at, one.memory.id))
    return alike[:limit]


def _entries(session: Session, positions: Iterable[int]) -> Iterator[tuple[int, Memory]]:
    wanted = tuple(sorted(positions))
    if wanted:
        marks = ", ".join("?" * len(wanted))
        for row in session.execute(f"SELECT position, {COLUMNS} FROM memories WHERE position IN ({marks})", wanted):  # noqa: S608
            found = memory_rows.memory(row[1:])
            if found is not None:
                yield row[0], found


def _by_words(session: Session, terms: Mapping[str, str], here: Condition) -> list[int]:
    """Entries with the rare words of a question; where all are frequent, the newest with the rarest of them."""
    stems = sorted(term[:LONGEST] for term in terms)
    if not stems:
        return []
    marks = ", ".join("?" * len(stems))
    common: dict[str, float] = dict(session.execute(_FREQUENT.format(marks), tuple(stems)).fetchall())
    room = float(SCORED)
    rare: list[str] = []
    for stem in sorted(stems, key=lambda stem: common.get(stem, 0.0)):
        room -= common.get(stem, 0.0)
        if room < 0:
            break
        rare.append(stem)
    where, parameters = here
    if rare:
        rows = session.execute(
            f"SELECT position FROM memories WHERE words @@ ?::tsquery AND {where}"  # noqa: S608
            " ORDER BY ts_rank(words, ?::tsquery, 2) DESC, position DESC LIMIT ?",
            (_any_of(rare), *parameters, _any_of(rare), BY_WORDS),
        )
    else:
        rarest = _any_of([min(stems, key=lambda stem: common.get(stem, 0.0))])
        rows = session.execute(
            "SELECT position FROM (SELECT * FROM memories WHERE words @@ ?::tsquery"  # noqa: S608
            f" ORDER BY position DESC LIMIT {SCORED}) AS newest WHERE {where} ORDER BY position DESC LIMIT ?",
            (rarest, *parameters, BY_WORDS),
        )
    return [row[0] for row in rows]


def _nearest(session: Session, asked_by: Asked, here: Condition, wanted: int) -> dict[int, float]:
    """The cosine of the nearest entries by their positions."""
    embedder, vector = asked_by
    where, parameters = here
    asked_for = spelt(vector)
    few = session.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM memories WHERE {where} LIMIT {EXACT + 1}) AS few",  # noqa: S608
        parameters,
    )
    if few.fetchone()[0] <= EXACT:
        rows = session.execute(
            f"WITH here AS MATERIALIZED (SELECT position FROM memories WHERE {where})"  # noqa: S608
            " SELECT position, 1 - (vector <=> ?::vector) FROM here JOIN memory_vectors USING (position)"
            " WHERE embedder = ? AND size = ? ORDER BY 2 DESC LIMIT ?",
            (*parameters, asked_for, embedder, len(vector), wanted),
        )
        return {position: _cosine(cosine) for position, cosine in rows}
    rows = session.execute(
        f"SELECT position, 1 - (vector <=> ?::vector) FROM memory_vectors JOIN memories USING (position)"  # noqa: S608
        f" WHERE embedder = ? AND size = {len(vector)} AND {where}"
        f" ORDER BY {sized('vector', vector)} <=> {sized('?', vector)} LIMIT ?",
        (asked_for, embedder, *parameters, asked_for, wanted),
    )
    return {position: _cosine(cosine) for position, cosine in rows}


def _cosines_of(session: Session, asked_by: Asked, positions: set[int]) -> dict[int, float]:
    if not positions:
        return {}
    embedder, vector = asked_by
    rows = session.execute(
        "SELECT position, 1 - (vector <=> ?::vector) FROM memory_vectors WHERE embedder = ? AND size = ?"  # noqa: S608
        f" AND position IN ({', '.join('?' * len(positions))})",
        (spelt(vector), embedder, len(vector), *sorted(positions)),
    )
    return {position: _cosine(cosine) for position, cosine in rows}


def _cosine(value: Any) -> float:
    """Of vectors that are all zeros there is none: they are like nothing."""
    return 0.0 if isnan(value) else value


def _any_of(stems: list[str]) -> str:
    """Any of these stems, as a tsquery; quoted, since a stem may be what is syntax there."""
    return " | ".join("'" + stem.replace("\\", "\\\\").replace("'", "''") + "'" for stem in stems)
