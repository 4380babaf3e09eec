"""Long-term memories in an SQL database, which several servers may share (B-6, D-3, D-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING

from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.repository import SqlRepository, reads, writes
from codelaw.adapters.stores.rows.chat_rows import forget_asides, require
from codelaw.adapters.stores.rows.checks import checksum
from codelaw.adapters.stores.rows.codec import legible
from codelaw.adapters.stores.rows.database import SqlSession, cursor_at, cursor_place
from codelaw.adapters.stores.rows.memory_rows import (
    COLUMNS,
    MAX_LISTED,
    Embedded,
    counting,
    forget_words,
    keep_words,
    memories,
    memory,
    put_vector,
    renumber,
    unknown_memory,
)
from codelaw.adapters.stores.sqlite.log_keeping import empty_log
from codelaw.domain.memories import Candidate, Category, Memory, MemoryScope, Places
from codelaw.ports.memories import Vector

if TYPE_CHECKING:
    from codelaw.adapters.stores.sqlite.vectors import MemoryVectors
from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any

from codelaw.adapters.stores.rows.memory_rows import (
    LONGEST,
    Condition,
    look_around,
    sized,
    spelt,
)
from codelaw.memory.words import asked, fused, likeness

_ABOUT = ("memories",)


class SqlMemories(SqlRepository):
    """A `MemoryStore`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._vectors: MemoryVectors | None = None
        self._lock = Lock()

    async def save(self, memory: Memory, *, embedder: str = "", vector: Vector | None = None) -> None:
        await self.put(memory, None if vector is None else (embedder, vector))

    async def forget(self, memory_id: str) -> None:
        await self._forget(memory_id)
        await self.database.run(_clear_log)

    @reads("memories")
    def get(self, session: SqlSession, memory_id: str) -> Memory:
        row = session.execute(f"SELECT {COLUMNS} FROM memories WHERE id = ?", (memory_id,)).fetchone()  # noqa: S608 - our own names
        found = None if row is None else memory(row)
        if found is None:
            raise unknown_memory(memory_id)
        return found

    @reads("memories")
    def foremost(
        self, session: SqlSession, places: Places, scope: MemoryScope, categories: Sequence[Category], limit: int
    ) -> list[Memory]:
        where, parameters = counting(places, scope)
        marks = ", ".join("?" * len(categories))
        rows = session.execute(
            f"SELECT {COLUMNS} FROM memories WHERE {where} AND category IN ({marks})"  # noqa: S608 - our own names
            " ORDER BY confidence DESC, created_at DESC, id LIMIT ?",
            (*parameters, *categories, limit),
        )
        return memories(rows)

    async def candidates(
        self,
        places: Places,
        question: str,
        *,
        embedder: str = "",
        vector: Vector | None = None,
        category: Category | None = None,
        limit: int = 50,
    ) -> Sequence[Candidate]:
        embedded = None if vector is None else (embedder, vector)
        if embedded is not None:
            await asyncio.to_thread(import_module, "numpy")  # not in the thread in which messages are stored

        def work(session: SqlSession) -> list[Candidate]:
            vectors = None if embedded is None or session.dialect != "sqlite" else self._known(session, embedded)
            where = (places, category)
            return _candidates(session, vectors, where, question, embedded, limit=limit)

        return await self.database.read(work, _ABOUT)

    @writes("memories")
    def mark_used(self, session: SqlSession, memory_ids: Sequence[str], at: float) -> None:
        session.execute_many(
            "UPDATE memories SET used_at = ?, uses = uses + 1 WHERE id = ?",
            [(at, memory_id) for memory_id in memory_ids],
        )

    @reads("memories")
    def unembedded(self, session: SqlSession, embedder: str, limit: int, user: str | None = None) -> list[Memory]:
        mine, parameters = ("", ()) if user is None else (" AND (scope <> 'user' OR belongs_to = ?)", (user,))
        rows = session.execute(
            f"SELECT {COLUMNS} FROM memories WHERE NOT EXISTS"  # noqa: S608 - our own names
            " (SELECT 1 FROM memory_vectors v WHERE v.position = memories.position AND v.embedder = ?)"
            f"{mine} ORDER BY position LIMIT ?",
            (embedder, *parameters, limit),
        )
        return memories(rows)

    @writes("memories")
    def store_vectors(self, session: SqlSession, embedder: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        for memory_id, vector in vectors:
            row = session.execute("SELECT position FROM memories WHERE id = ?", (memory_id,)).fetchone()
            if row is not None:
                put_vector(session, row[0], (embedder, vector))

    @writes("memories")
    def put(self, session: SqlSession, memory: Memory, embedded: Embedded | None) -> None:
        """Add the entry, or write it anew; what vectors it has stay while its text does."""
        chat_id = memory.belongs_to if memory.scope == "session" else None
        if chat_id is not None:
            require(session, chat_id)
        before = session.execute(
            "SELECT position, text, created_at FROM memories WHERE id = ?", (memory.id,)
        ).fetchone()
        values = (memory.text, memory.category, memory.scope, memory.belongs_to, chat_id, memory.confidence)
        created_at = memory.created_at if before is None else before[2]
        check = checksum(memory.id, *values[:4], memory.confidence, created_at)
        if before is None:
            position: int = session.execute(
                "INSERT INTO memories"
                " (text, category, scope, belongs_to, chat_id, confidence, checksum, created_at, used_at, uses, id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING position",
                (*values, check, memory.created_at, memory.used_at, memory.uses, memory.id),
            ).fetchone()[0]
        else:
            position = before[0]
            text = "text = ?, " if before[1] != memory.text else ""
            session.execute(
                f"UPDATE memories SET {text}category = ?, scope = ?, belongs_to = ?, chat_id = ?, confidence = ?,"  # noqa: S608 - our own names
                " checksum = ? WHERE position = ?",
                (*(values if text else values[1:]), check, position),
            )
            if text:
                session.execute("DELETE FROM memory_vectors WHERE position = ?", (position,))
                forget_words(session)
            elif embedded is None and session.dialect == "sqlite":
                renumber(session, position)
        if session.dialect == "postgresql" and (before is None or before[1] != memory.text):
            keep_words(session, position, memory.text)
        if embedded is not None:
            put_vector(session, position, embedded)

    @writes("memories")
    def _forget(self, session: SqlSession, memory_id: str) -> None:
        if not session.execute("DELETE FROM memories WHERE id = ?", (memory_id,)).rowcount:
            raise unknown_memory(memory_id)
        forget_words(session)
        forget_asides(session, memory_id)

    @reads("memories")
    def list(  # noqa: PLR0917 - as the port has it
        self,
        session: SqlSession,
        places: Places,
        scope: MemoryScope | None,
        category: Category | None,
        limit: int,
        cursor: str | None,
    ) -> tuple[list[Memory], str | None]:
        where, parameters = counting(places, scope)
        if category is not None:
            where, parameters = f"{where} AND category = ?", (*parameters, category)
        if cursor is not None:
            where, parameters = f"{where} AND (created_at, id) < (?, ?)", (*parameters, *cursor_place(cursor))
        count = max(1, min(limit, MAX_LISTED))
        rows = session.execute(
            f"SELECT {COLUMNS} FROM memories WHERE {where} ORDER BY created_at DESC, id DESC LIMIT ?",  # noqa: S608 - our own names
            (*parameters, count + 1),
        ).fetchall()
        found = memories(rows[:count])
        last = rows[count - 1] if len(rows) > count else None
        return found, None if last is None else cursor_at(last[6], legible(last[0]))

    def _known(self, session: SqlSession, embedded: Embedded) -> MemoryVectors:
        from codelaw.adapters.stores.sqlite.vectors import MemoryVectors, state_of  # noqa: PLC0415 - numpy

        state = state_of(session, embedded)
        with self._lock:
            if self._vectors is None or self._vectors.state != state:
                self._vectors = MemoryVectors(session, state, self._vectors)
            return self._vectors


def _clear_log(session: SqlSession) -> None:
    """Let what was deleted leave the write-ahead log too, unless somebody reads it just now."""
    if session.dialect == "sqlite":
        empty_log(session, "TRUNCATE")


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


def _candidates(
    session: SqlSession,
    vectors: MemoryVectors | None,
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


def _by_words(session: SqlSession, terms: Mapping[str, str], here: Condition) -> list[int]:
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


def _either(session: SqlSession, words: list[str]) -> str:
    """Any of these words, as the index is asked; quoted, since a question may hold what is syntax there."""
    if session.dialect == "sqlite":
        return " OR ".join(f'"{word}"' for word in words)
    return " | ".join("'" + stem.replace("\\", "\\\\").replace("'", "''") + "'" for stem in words)


def _nearest(
    session: SqlSession, embedded: Embedded, here: Condition, wanted: int, positions: set[int]
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
