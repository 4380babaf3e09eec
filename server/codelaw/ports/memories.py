"""Where memories, passages of messages and their vectors are kept, and what a chat may do with them (B-4 to B-6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from codelaw.domain.memories import (
    Candidate,
    Category,
    Memory,
    MemoryScope,
    MessageHit,
    Passage,
    Places,
    Recalled,
    Saved,
)

Vector = bytes
"""Float32, little-endian, of length 1: the dot product of two is their cosine."""


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str:
        """Provider and model. Vectors of different names, or of different sizes, are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order; texts longer than the model takes are cut by it.

        Raises:
            EmbeddingFailure: it could not be done, also not after retries.
        """
        ...

    async def close(self) -> None: ...


class MessageIndex(Protocol):
    """Passages of stored messages. It may be asked from several tasks and servers at once.

    The queue is the store itself: what lies in `messages` and not in the index is waiting, whoever dies.

    Raises everywhere:
        Refusal: `store_unavailable`.
    """

    async def index(self, chat_id: str | None = None, limit: int = 200) -> int:
        """Index at most `limit` messages that are not yet, of one chat or of all; gives how many it did."""
        ...

    async def claim(self, embedder: str, chat_id: str | None = None, limit: int = 64) -> Sequence[Passage]:
        """Passages that have no vector of that embedder, taken by this server until they are stored or it dies."""
        ...

    async def release(self, passages: Sequence[int]) -> None:
        """Give back what was claimed and could not be embedded."""
        ...

    async def store(self, embedder: str, vectors: Sequence[tuple[int, Vector]]) -> None:
        """Vectors by the id of their passage; those of a deleted chat are dropped silently, it is gone."""
        ...

    async def waiting(self, embedder: str, chat_id: str | None = None) -> int:
        """How many messages and passages are not embedded yet."""
        ...

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
        """The messages of a chat that answer a question best, best first: words, vectors and days fused.

        What is not indexed yet of that chat is indexed first, some hundred messages at most. A vector is compared with
        those of its embedder and dimension; without one, or where there are none, words and days decide alone.

        Args:
            chat_id: A chat; one that is not there has no messages.
            question: Any text.
            embedder: Whose vector it is.
            vector: The question's.
            limit: How many messages at most.
            without: Ids of messages that are not wanted.
        """
        ...


class MemoryStore(Protocol):
    """Durable memories, shared by several servers.

    Raises everywhere:
        Refusal: `store_unavailable`; `memory_not_found` where one is named that is not there.
    """

    async def save(self, memory: Memory, *, embedder: str = "", vector: Vector | None = None) -> None:
        """Add it, or write it anew under its id."""
        ...

    async def get(self, memory_id: str) -> Memory: ...

    async def forget(self, memory_id: str) -> None: ...

    async def list(
        self, places: Places, scope: MemoryScope | None, category: Category | None, limit: int, cursor: str | None
    ) -> tuple[list[Memory], str | None]:
        """Those that count at `places`, newest first. The second value continues the list."""
        ...

    async def foremost(
        self, places: Places, scope: MemoryScope, categories: Sequence[Category], limit: int
    ) -> Sequence[Memory]:
        """Those of a scope and of some categories, the surest first, among equals the newest."""
        ...

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
        """Those that resemble the question, by words and by vectors; most alike first."""
        ...

    async def mark_used(self, memory_ids: Sequence[str], at: float) -> None: ...

    async def unembedded(self, embedder: str, limit: int, user: str | None = None) -> Sequence[Memory]:
        """Those that have no vector of that embedder; for a `user` none that are another user's own."""
        ...

    async def store_vectors(self, embedder: str, vectors: Sequence[tuple[str, Vector]]) -> None:
        """Vectors by the id of their memory."""
        ...


class Remembering(Protocol):
    """Memory as one chat sees it."""

    async def save(
        self,
        text: str,
        category: Category | None = None,
        scope: MemoryScope | None = None,
        confidence: float | None = None,
        *,
        unasked: bool = False,
    ) -> Saved:
        """Remember a text, or merge it with an entry that says the same.

        What is saved `unasked`, with nobody's word for it, stays in the project, or without one in the chat, where no
        scope is named; it changes no entry of the scope `user`.

        Raises:
            Refusal: `memory_refused` by the gate, `store_unavailable`.
        """
        ...

    async def search(self, query: str, category: Category | None = None, limit: int = 5) -> Sequence[Recalled]:
        """The entries that answer best, best first.

        Raises:
            Refusal: `store_unavailable`.
        """
        ...
