"""The index of messages as rows: words and vectors of passages (B-4, B-5).

Indexing takes three steps, so that nobody who saves a message waits for it: messages are read, their passages are made
in another thread, and stored in small transactions together with the mark that their message is indexed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from codelaw.adapters.stores.rows import passage_rows
from codelaw.adapters.stores.rows.database import Database, Owners, Session
from codelaw.domain.memories import Hit, Passage
from codelaw.ports.memories import Vector

if TYPE_CHECKING:
    from codelaw.adapters.stores.frames import Frames
    from codelaw.ranking.scoring import MessageFrame

T = TypeVar("T")

_ABOUT = "index"

AT_ONCE = 8
"""Messages of one transaction."""
LATE = 1000
"""Passages that may be seen later than others with higher numbers, where servers write at the same time."""
BEFORE_SEARCH = 100
"""Messages that a search indexes itself when the background has not yet."""


class SqlIndex:
    """A `MessageIndex` over any database."""

    def __init__(self, database: Database, owners: Owners) -> None:
        self._database = database
        self._owners = owners
        self._frames: Frames | None = None
        self._lock = Lock()
        """Under which they are used."""
        self._embedded: dict[tuple[str, str | None], int] = {}
        """By embedder and chat, the passage up to which all have vectors: they are not looked through again."""

    async def index(self, chat_id: str | None = None, limit: int = 200) -> int:
        done = 0
        while done < limit:
            read = await self._index_some(chat_id, min(AT_ONCE, limit - done))
            if not read:
                break
            done += read
        return done

    async def _index_some(self, chat_id: str | None, most: int) -> int:
        waiting = await self._read(lambda session: passage_rows.unindexed(session, chat_id, most), chat_id)
        if waiting:
            ready = await asyncio.to_thread(lambda: [passage_rows.prepared(item) for item in waiting])
            await self._write(lambda session: passage_rows.add(session, ready))
        return len(waiting)

    async def claim(self, embedder: str, chat_id: str | None = None, limit: int = 64) -> Sequence[Passage]:
        key = (embedder, chat_id)
        after = max(0, self._embedded.get(key, 0) - LATE)
        start, waits = await self._read(
            lambda session: passage_rows.first_waiting(session, embedder, chat_id, after), chat_id
        )
        self._embedded[key] = start - 1 if waits else start
        if not waits:
            return []
        return await self._write(
            lambda session: passage_rows.claim(session, self._owners, embedder, chat_id, limit, start=start)
        )

    async def release(self, passages: Sequence[int]) -> None:
        await self._write(lambda session: passage_rows.release(session, self._owners.id, passages))

    async def store(self, embedder: str, vectors: Sequence[tuple[int, Vector]]) -> None:
        if await self._write(lambda session: passage_rows.store(session, embedder, vectors)):
            self._embedded.clear()

    async def waiting(self, embedder: str, chat_id: str | None = None) -> int:
        return await self._read(lambda session: passage_rows.waiting(session, embedder, chat_id), chat_id)

    async def search(
        self,
        chat_id: str,
        question: str,
        *,
        embedder: str = "",
        vector: Vector | None = None,
        limit: int = 50,
        without: Collection[str] = (),
    ) -> Sequence[Hit]:
        await self.index(chat_id, BEFORE_SEARCH)
        if self._frames is None:
            self._frames = await asyncio.to_thread(_frames)
        frames, size = self._frames, len(vector or b"")

        def work(session: Session) -> MessageFrame:
            with self._lock:
                return frames.frame(session, chat_id, embedder, size)

        frame = await self._read(work, chat_id)
        return await asyncio.to_thread(_ranked, frame, question, vector, limit, frozenset(without))

    async def _read(self, work: Callable[[Session], T], chat_id: str | None) -> T:
        return await self._database.read(work, (_ABOUT,) if chat_id is None else (_ABOUT, chat_id))

    async def _write(self, work: Callable[[Session], T]) -> T:
        return await self._database.write(work, (_ABOUT,))


def _frames() -> Frames:
    from codelaw.adapters.stores.frames import Frames  # noqa: PLC0415 - numpy is loaded only by who searches

    return Frames()


def _ranked(
    frame: MessageFrame, question: str, vector: Vector | None, limit: int, without: frozenset[str]
) -> tuple[Hit, ...]:
    import numpy as np  # noqa: PLC0415

    from codelaw.ranking.scoring import rank  # noqa: PLC0415

    numbers = None if vector is None else np.frombuffer(vector, "<f4")
    found = rank(frame, question, numbers, datetime.now(UTC).astimezone().date())
    kept = (item for item in found if item.id not in without)
    return tuple(Hit(item.id, item.score, item.similarity) for item in islice(kept, limit))
