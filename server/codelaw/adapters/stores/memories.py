"""Long-term memories in an SQL database, which several servers may share (B-6, D-3, D-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING

from codelaw.adapters.stores import memory_search
from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.repository import SqlRepository, reads, writes
from codelaw.adapters.stores.rows.chat_rows import forget_asides, require
from codelaw.adapters.stores.rows.checks import checksum
from codelaw.adapters.stores.rows.codec import legible
from codelaw.adapters.stores.rows.database import Session, cursor_at, cursor_place
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
    from codelaw.adapters.stores.sqlite.vectors import Vectors

_ABOUT = ("memories",)


class SqlMemories(SqlRepository):
    """A `MemoryStore`."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._vectors: Vectors | None = None
        self._lock = Lock()

    async def save(self, memory: Memory, *, embedder: str = "", vector: Vector | None = None) -> None:
        await self.put(memory, None if vector is None else (embedder, vector))

    async def forget(self, memory_id: str) -> None:
        await self._forget(memory_id)
        await self.database.run(_clear_log)

    @reads("memories")
    def get(self, session: Session, memory_id: str) -> Memory:
        row = session.execute(f"SELECT {COLUMNS} FROM memories WHERE id = ?", (memory_id,)).fetchone()  # noqa: S608 - our own names
        found = None if row is None else memory(row)
        if found is None:
            raise unknown_memory(memory_id)
        return found

    @reads("memories")
    def foremost(
        self, session: Session, places: Places, scope: MemoryScope, categories: Sequence[Category], limit: int
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

        def work(session: Session) -> list[Candidate]:
            vectors = None if embedded is None or session.dialect != "sqlite" else self._known(session, embedded)
            where = (places, category)
            return memory_search.candidates(session, vectors, where, question, embedded, limit=limit)

        return await self.database.read(work, _ABOUT)

    @writes("memories")
    def mark_used(self, session: Session, memory_ids: Sequence[str], at: float) -> None:
        session.execute_many(
            "UPDATE memories SET used_at = ?, uses = uses + 1 WHERE id = ?",
            [(at, memory_id) for memory_id in memory_ids],
        )

    @reads("memories")
    def unembedded(self, session: Session, embedder: str, limit: int, user: str | None = None) -> list[Memory]:
        mine, parameters = ("", ()) if user is None else (" AND (scope <> 'user' OR belongs_to = ?)", (user,))
        rows = session.execute(
            f"SELECT {COLUMNS} FROM memories WHERE NOT EXISTS"  # noqa: S608 - our own names
            " (SELECT 1 FROM memory_vectors v WHERE v.position = memories.position AND v.embedder = ?)"
            f"{mine} ORDER BY position LIMIT ?",
            (embedder, *parameters, limit),
        )
        return memories(rows)

    @writes("memories")
    def store_vectors(self, session: Session, embedder: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        for memory_id, vector in vectors:
            row = session.execute("SELECT position FROM memories WHERE id = ?", (memory_id,)).fetchone()
            if row is not None:
                put_vector(session, row[0], (embedder, vector))

    @writes("memories")
    def put(self, session: Session, memory: Memory, embedded: Embedded | None) -> None:
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
    def _forget(self, session: Session, memory_id: str) -> None:
        if not session.execute("DELETE FROM memories WHERE id = ?", (memory_id,)).rowcount:
            raise unknown_memory(memory_id)
        forget_words(session)
        forget_asides(session, memory_id)

    @reads("memories")
    def list(  # noqa: PLR0917 - as the port has it
        self,
        session: Session,
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

    def _known(self, session: Session, embedded: Embedded) -> Vectors:
        from codelaw.adapters.stores.sqlite.vectors import Vectors, state_of  # noqa: PLC0415 - numpy

        state = state_of(session, embedded)
        with self._lock:
            if self._vectors is None or self._vectors.state != state:
                self._vectors = Vectors(session, state)
            return self._vectors


def _clear_log(session: Session) -> None:
    """Let what was deleted leave the write-ahead log too, unless somebody reads it just now."""
    if session.dialect == "sqlite":
        empty_log(session, "TRUNCATE")
