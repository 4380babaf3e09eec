"""The index of messages in memory: what several servers on one database would share, with its claims (B-5)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from codelaw.domain.errors import Refusal
from codelaw.domain.memories import MessageHit, Passage
from codelaw.ports.memories import Vector


@dataclass
class SharedPassages:
    """The database: messages that wait for the index, passages, vectors, and who has claimed what."""

    unindexed: list[tuple[str, str]] = field(default_factory=list)
    """Chat and text."""
    passages: dict[int, Passage] = field(default_factory=dict)
    vectors: dict[tuple[int, str], Vector] = field(default_factory=dict)
    claims: dict[int, str] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    stored: list[int] = field(default_factory=list)
    """Every passage that was given a vector, each time."""
    ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def add(self, chat_id: str, *texts: str) -> None:
        self.unindexed += [(chat_id, text) for text in texts]

    def waiting(self, embedder: str) -> list[int]:
        return [one for one in self.passages if (one, embedder) not in self.vectors]


class MemoryIndex:
    """A `MessageIndex` of one server. `broken` is raised by the next calls as long as it is set."""

    def __init__(self, shared: SharedPassages, owner: str = "us") -> None:
        self.shared = shared
        self.owner = owner
        self.broken: Exception | None = None
        self.slow = asyncio.Event()
        self.slow.set()
        """Cleared: a claim is made, but its answer is held back."""
        self.calls: list[str] = []

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.broken is not None:
            raise self.broken

    async def index(self, chat_id: str | None = None, limit: int = 200) -> int:
        self._called("index")
        await asyncio.sleep(0)
        found = [one for one in self.shared.unindexed if chat_id in {None, one[0]}][:limit]
        for chat, text in found:
            self.shared.unindexed.remove((chat, text))
            number = next(self.shared.ids)
            self.shared.passages[number] = Passage(number, chat, f"m{number}", text)
        return len(found)

    async def claim(self, embedder: str, chat_id: str | None = None, limit: int = 64) -> Sequence[Passage]:
        self._called("claim")
        free = [
            self.shared.passages[one]
            for one in self.shared.waiting(embedder)
            if self.shared.claims.get(one, "") in {"", *self.shared.dead} and chat_id in {None, self._chat(one)}
        ][:limit]
        for passage in free:
            self.shared.claims[passage.id] = self.owner
        await self.slow.wait()
        return free

    async def release(self, passages: Sequence[int]) -> None:
        self._called("release")
        for one in passages:
            if self.shared.claims.get(one) == self.owner:
                del self.shared.claims[one]

    async def store(self, embedder: str, vectors: Sequence[tuple[int, Vector]]) -> None:
        self._called("store")
        await asyncio.sleep(0)
        for one, vector in vectors:
            assert self.shared.claims.get(one) == self.owner, "only who has claimed it stores it"
            self.shared.vectors[one, embedder] = vector
            self.shared.stored.append(one)
            del self.shared.claims[one]

    async def waiting(self, embedder: str, chat_id: str | None = None) -> int:
        messages = sum(chat_id in {None, chat} for chat, _ in self.shared.unindexed)
        return messages + sum(chat_id in {None, self._chat(one)} for one in self.shared.waiting(embedder))

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
        raise Refusal("store_unavailable", "Nothing is searched here.")

    def _chat(self, passage: int) -> str:
        return self.shared.passages[passage].chat_id
