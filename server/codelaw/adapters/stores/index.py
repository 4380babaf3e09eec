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

from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.repository import SqlRepository, writes
from codelaw.adapters.stores.rows import passage_rows
from codelaw.adapters.stores.rows.codec import legible
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.adapters.stores.rows.passage_rows import UNCLAIMED, UNEMBEDDED, Key, Prepared, chosen_chat, drop_others
from codelaw.domain.memories import MessageHit, Passage
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


class SqlIndex(SqlRepository):
    """A `MessageIndex` over any database."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._frames: Frames | None = None
        self._lock = Lock()
        """Under which they are used."""
        self._embedded: dict[tuple[str, str | None], int] = {}
        """By embedder and chat, the passage up to which all have vectors: they are not looked through again."""

    async def index(self, chat_id: str | None = None, limit: int = 200) -> int:
        done = 0
        while done < limit:
            most = min(AT_ONCE, limit - done)
            waiting = await self._read(
                lambda session, most=most: passage_rows.unindexed(session, chat_id, most), chat_id
            )
            if not waiting:
                break
            await self._add(await asyncio.to_thread(list, map(passage_rows.prepared, waiting)))
            done += len(waiting)
        return done

    async def claim(self, embedder: str, chat_id: str | None = None, limit: int = 64) -> Sequence[Passage]:
        key = (embedder, chat_id)
        after = max(0, self._embedded.get(key, 0) - LATE)
        start, waits = await self._read(
            lambda session: passage_rows.first_waiting(session, embedder, chat_id, after), chat_id
        )
        self._embedded[key] = start - 1 if waits else start
        if not waits:
            return []
        return await self._claim(embedder, chat_id, limit, start=start)

    @writes("index")
    def release(self, session: SqlSession, passages: Sequence[int]) -> None:
        session.execute_many(
            "DELETE FROM claims WHERE passage_id = ? AND owner = ?", [(id_, self.owner) for id_ in passages]
        )

    async def store(self, embedder: str, vectors: Sequence[tuple[int, Vector]]) -> None:
        if await self._store(embedder, vectors):
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
    ) -> Sequence[MessageHit]:
        await self.index(chat_id, BEFORE_SEARCH)
        if self._frames is None:
            self._frames = await asyncio.to_thread(_frames)
        frames, size = self._frames, len(vector or b"")

        def work(session: SqlSession) -> MessageFrame:
            with self._lock:
                return frames.frame(session, chat_id, embedder, size)

        frame = await self._read(work, chat_id)
        return await asyncio.to_thread(_ranked, frame, question, vector, limit, frozenset(without))

    async def _read(self, work: Callable[[SqlSession], T], chat_id: str | None) -> T:
        return await self.database.read(work, (_ABOUT,) if chat_id is None else (_ABOUT, chat_id))

    @writes("index")
    def _claim(
        self, session: SqlSession, embedder: str, chat_id: str | None, limit: int, *, start: int = 0
    ) -> list[Passage]:
        if session.dialect == "postgresql":  # SQLite lets one server at a time write anyway
            session.execute("LOCK TABLE claims IN SHARE ROW EXCLUSIVE MODE")
        for (other,) in session.execute("SELECT DISTINCT owner FROM claims").fetchall():
            if not self.owners.is_alive(other):
                session.execute("DELETE FROM claims WHERE owner = ?", (other,))
        chosen, parameters = chosen_chat("chat_id", chat_id)
        columns = "SELECT id, chat_id, message_id, body"
        rows = session.execute(
            f"{columns}{UNEMBEDDED}{chosen}{UNCLAIMED} AND id >= ? ORDER BY id LIMIT ?",
            (embedder, *parameters, embedder, start, limit),
        ).fetchall()
        session.execute_many(
            "INSERT INTO claims (passage_id, embedder, owner) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(row[0], embedder, self.owner) for row in rows],
        )
        return [Passage(id_, legible(chat), legible(message), legible(body)) for id_, chat, message, body in rows]

    @writes("index")
    def _store(self, session: SqlSession, embedder: str, vectors: Sequence[tuple[int, Vector]]) -> bool:
        """Store vectors of passages that are still there, and give up the claims on them.

        Vectors of that embedder with another dimension are of no use beside them: those of the same chats are dropped,
        so that their passages are embedded again; gives whether there were such.
        """
        dropped = False
        checked: set[Key] = set()
        for passage_id, vector in vectors:
            row = session.execute("SELECT chat_id FROM passages WHERE id = ?", (passage_id,)).fetchone()
            if row is None:
                continue
            if row[0] not in checked:
                checked.add(row[0])
                dropped |= drop_others(session, row[0], embedder, len(vector))
            session.execute(
                "INSERT INTO vectors (chat_id, passage_id, embedder, vector) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (passage_id, embedder) DO NOTHING",
                (row[0], passage_id, embedder, vector),
            )
            session.execute("DELETE FROM claims WHERE passage_id = ? AND embedder = ?", (passage_id, embedder))
        return dropped

    @writes("index")
    def _add(self, session: SqlSession, messages: Sequence[Prepared]) -> None:
        passage_rows.add(session, messages)


def _frames() -> Frames:
    from codelaw.adapters.stores.frames import Frames  # noqa: PLC0415 - numpy is loaded only by who searches

    return Frames()


def _ranked(
    frame: MessageFrame, question: str, vector: Vector | None, limit: int, without: frozenset[str]
) -> tuple[MessageHit, ...]:
    import numpy as np  # noqa: PLC0415

    from codelaw.ranking.scoring import rank  # noqa: PLC0415

    numbers = None if vector is None else np.frombuffer(vector, "<f4")
    found = rank(frame, question, numbers, datetime.now(UTC).astimezone().date())
    kept = (item for item in found if item.id not in without)
    return tuple(MessageHit(item.id, item.score, item.similarity) for item in islice(kept, limit))
