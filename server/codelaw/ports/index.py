"""The index of what was said: words and vectors of passages, and the queue of what is not embedded yet (B-4, B-5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from codelaw.domain.passages import Hit, Passage
from codelaw.ports.embedder import Vector


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
    ) -> Sequence[Hit]:
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
