"""Searching memories: by words with the database's own index, by vectors in memory or with pgvector (B-6)."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from codelaw.adapters.stores.rows.codec import legible
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.memory_rows import (
    COLUMNS,
    LONGEST,
    Condition,
    Embedded,
    counting,
    look_around,
    memory,
    sized,
    spelt,
)
from codelaw.domain.memories import Candidate, Category, Places
from codelaw.memory.words import asked, fused, likeness

if TYPE_CHECKING:
    from codelaw.adapters.stores.sqlite.vectors import Vectors

BY_WORDS = 100
"""Entries that are found by words alone, at most."""
SCORED = 1_000
"""Entries that the database may rank by words in one search."""
EXACT = 4_000
"""Entries of one place whose vectors are all compared in PostgreSQL; among more the index is asked."""

_FREQUENT = {
    "sqlite": (
        "WITH sought (word) AS (VALUES ({})) SELECT term, doc FROM sought CROSS JOIN memory_vocabulary ON term = word"
    ),
    # The words that the statistics list; those that are not are rare.
    "postgresql": (
        "SELECT word, share * (SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = 'memories'::regclass)"
        " FROM pg_stats, unnest(most_common_elems::text::text[], most_common_elem_freqs) AS listed (word, share)"
        " WHERE schemaname = current_schema() AND tablename = 'memories' AND attname = 'words' AND word IN ({})"
    ),
}
"""How many entries have a word."""
_BEST = {
    "sqlite": "SELECT rowid AS at, rank AS place FROM memory_words WHERE memory_words MATCH ?",
    "postgresql": (
        "SELECT position AS at, -ts_rank(words, sought, 2) AS place FROM memories, CAST(? AS tsquery) AS sought"
        " WHERE words @@ sought"
    ),
}
_NEWEST = {
    "sqlite": "SELECT rowid AS at, -rowid AS place FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC",
    "postgresql": (
        "SELECT position AS at, -position AS place FROM memories WHERE words @@ CAST(? AS tsquery)"
        " ORDER BY position DESC"
    ),
}


def candidates(
    session: Session,
    vectors: Vectors | None,
    where: tuple[Places, Category | None],
    question: str,
    embedded: Embedded | None,
    *,
    limit: int,
) -> list[Candidate]:
    """Entries that resemble the question, most alike first; `vectors` are those in memory, of the question's kind."""
    places, category = where
    terms, wanted = asked(question), max(limit, BY_WORDS)
    here, parameters = counting(places)
    if category is not None:
        here, parameters = f"{here} AND category = ?", (*parameters, category)
    if session.dialect == "postgresql":
        look_around(session, wanted)
    positions = set(_by_words(session, terms, (here, parameters)))
    cosine: dict[int, float] = {}
    if vectors is not None and embedded is not None:
        cosine = vectors.nearest(embedded[1], where, wanted, positions)
    elif embedded is not None:
        cosine = _nearest(session, embedded, (here, parameters), wanted, positions)
    among = tuple(sorted(positions | cosine.keys()))
    rows = session.execute(
        f"SELECT position, {COLUMNS} FROM memories WHERE position IN ({_marks(among)})",  # noqa: S608 - ours
        among,
    )
    alike = [
        Candidate(found, fused(likeness(terms, found.text), cosine.get(row[0])), cosine.get(row[0]))
        for row in rows
        if (found := memory(row[1:])) is not None
    ]
    alike.sort(key=lambda one: (-one.similarity, -one.memory.created_at, one.memory.id))
    return alike[:limit]


def _by_words(session: Session, terms: Mapping[str, str], here: Condition) -> list[int]:
    """Entries with the rare words of a question; where all are frequent, the newest with the rarest of them."""
    sqlite = session.dialect == "sqlite"
    # FTS5 makes stems of words by itself; else the stems are ours.
    sought = {term if sqlite else term[:LONGEST]: word if sqlite else term[:LONGEST] for term, word in terms.items()}
    marks = _marks(sought).replace(", ", "), (") if sqlite else _marks(sought)
    counted = session.execute(_FREQUENT[session.dialect].format(marks), tuple(sought))
    common: dict[str, float] = {legible(term): count for term, count in counted}
    ordered = sorted((common.get(term, 0), word) for term, word in sought.items() if not sqlite or term in common)
    if not ordered:
        return []
    room, rare = float(SCORED), list[str]()
    for count, word in ordered:
        room -= count
        if room < 0:
            break
        rare.append(word)
    found = _BEST[session.dialect] if rare else f"{_NEWEST[session.dialect]} LIMIT {SCORED}"
    where, parameters = here
    rows = session.execute(
        f"SELECT at FROM ({found}) AS found JOIN memories ON position = at WHERE {where} ORDER BY place LIMIT ?",  # noqa: S608 - ours
        (_either(session, rare or [ordered[0][1]]), *parameters, BY_WORDS),
    )
    return [row[0] for row in rows]


def _either(session: Session, words: list[str]) -> str:
    """Any of these words, as the index is asked; quoted, since a question may hold what is syntax there."""
    if session.dialect == "sqlite":
        return " OR ".join(f'"{word}"' for word in words)
    return " | ".join("'" + stem.replace("\\", "\\\\").replace("'", "''") + "'" for stem in words)


def _nearest(
    session: Session, embedded: Embedded, here: Condition, wanted: int, positions: set[int]
) -> dict[int, float]:
    """The cosine of the nearest entries, and of those at `positions`, by pgvector."""
    embedder, vector = embedded
    where, parameters = here
    few = f"SELECT count(*) FROM (SELECT 1 FROM memories WHERE {where} LIMIT {EXACT + 1}) AS few"  # noqa: S608 - ours
    cosine = "SELECT position, 1 - (vector <=> ?::vector)"
    kind = f"embedder = ? AND size = {len(vector)}"
    asked_for: tuple[Any, ...] = (spelt(vector), embedder)
    if session.execute(few, parameters).fetchone()[0] <= EXACT:
        rows = session.execute(
            f"WITH here AS MATERIALIZED (SELECT position FROM memories WHERE {where})"  # noqa: S608 - ours
            f" {cosine} FROM here JOIN memory_vectors USING (position) WHERE {kind} ORDER BY 2 DESC LIMIT ?",
            (*parameters, *asked_for, wanted),
        ).fetchall()
    else:
        rows = session.execute(
            f"{cosine} FROM memory_vectors JOIN memories USING (position) WHERE {kind} AND {where}"
            f" ORDER BY {sized('vector', vector)} <=> {sized('?', vector)} LIMIT ?",
            (*asked_for, *parameters, asked_for[0], wanted),
        ).fetchall()
    rest = tuple(sorted(positions.difference(row[0] for row in rows)))
    rows += session.execute(
        f"{cosine} FROM memory_vectors WHERE {kind} AND position IN ({_marks(rest)})", (*asked_for, *rest)
    ).fetchall()
    # Of vectors that are all zeros there is none: they are like nothing.
    return {position: 0.0 if isnan(value) else value for position, value in rows}


def _marks(values: Any) -> str:
    return ", ".join("?" * len(values)) or "NULL"
