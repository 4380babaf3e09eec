"""Long-term memories in an SQL database, which several servers may share (B-6, D-3, D-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from codelaw.adapters.stores.postgres import memories as postgres_memories
from codelaw.adapters.stores.rows import memory_rows
from codelaw.adapters.stores.rows.database import Database, Owners, Session
from codelaw.adapters.stores.sqlite import memory_search
from codelaw.adapters.stores.sqlite.log_keeping import empty_log
from codelaw.domain.memories import Candidate, Category, Memory, MemoryScope, Places
from codelaw.ports.embedder import Vector

if TYPE_CHECKING:
    from codelaw.adapters.stores.sqlite.vectors import Vectors

T = TypeVar("T")

_ABOUT = ("memories",)


class SqlMemories:
    """A `MemoryStore`."""

    def __init__(self, database: Database, owners: Owners) -> None:
        self._database = database
        self._owners = owners
        self._vectors: dict[tuple[str, int], Vectors] = {}
        """By embedder and size; only touched under the lock."""
        self._lock = Lock()

    async def save(self, memory: Memory, *, embedder: str = "", vector: Vector | None = None) -> None:
        embedded = None if vector is None else (embedder, vector)
        await self._database.write(lambda session: memory_rows.save(session, memory, embedded), _ABOUT)

    async def get(self, memory_id: str) -> Memory:
        return await self._read(lambda session: memory_rows.get(session, memory_id))

    async def forget(self, memory_id: str) -> None:
        await self._database.write(lambda session: memory_rows.forget(session, memory_id), _ABOUT)
        await self._database.run(_clear_log)

    async def list(
        self, places: Places, scope: MemoryScope | None, category: Category | None, limit: int, cursor: str | None
    ) -> tuple[list[Memory], str | None]:
        return await self._read(
            lambda session: memory_rows.listed(
                session=session, places=places, scope=scope, category=category, limit=limit, cursor=cursor
            )
        )

    async def foremost(
        self, places: Places, scope: MemoryScope, categories: Sequence[Category], limit: int
    ) -> Sequence[Memory]:
        return await self._read(lambda session: memory_rows.foremost(session, places, scope, categories, limit))

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
        asked_by = None if vector is None else (embedder, vector)
        if asked_by is not None:
            await asyncio.to_thread(_load)  # numpy, not in the thread in which messages are stored

        def work(session: Session) -> list[Candidate]:
            if session.dialect == "postgresql":
                return postgres_memories.candidates(session, places, question, asked_by, category, limit=limit)
            with self._lock:
                known = None if asked_by is None else self._known(embedder, len(asked_by[1]))
                return memory_search.candidates(
                    session=session,
                    known=known,
                    places=places,
                    question=question,
                    asked_by=asked_by,
                    category=category,
                    limit=limit,
                )

        return await self._read(work)

    async def mark_used(self, memory_ids: Sequence[str], at: float) -> None:
        if memory_ids:
            await self._database.write(lambda session: memory_rows.mark_used(session, memory_ids, at), _ABOUT)

    async def unembedded(self, embedder: str, limit: int, user: str | None = None) -> Sequence[Memory]:
        return await self._read(lambda session: memory_rows.unembedded(session, embedder, limit, user))

    async def store_vectors(self, embedder: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        await self._database.write(lambda session: memory_rows.store_vectors(session, embedder, vectors), _ABOUT)

    async def _read(self, work: Callable[[Session], T]) -> T:
        return await self._database.read(work, _ABOUT)

    def _known(self, embedder: str, size: int) -> Vectors:
        from codelaw.adapters.stores.sqlite.vectors import Vectors  # noqa: PLC0415 - numpy

        if (embedder, size) not in self._vectors:
            self._vectors.clear()  # whoever asks with another embedder will go on with it
            self._vectors[embedder, size] = Vectors(size)
        return self._vectors[embedder, size]


def _load() -> None:
    import_module("codelaw.adapters.stores.sqlite.vectors")


def _clear_log(session: Session) -> None:
    """Let what was deleted leave the write-ahead log too, unless somebody reads it just now."""
    if session.dialect == "sqlite":
        empty_log(session, "TRUNCATE")
