"""Finding the old messages that a question is about (B-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.domain.errors import EmbeddingFailure

if TYPE_CHECKING:
    from codelaw.domain.passages import Hit
    from codelaw.ports.embedder import Embedder, Vector
    from codelaw.ports.index import MessageIndex

PATIENCE_SHARE = 0.6
"""Of the time that a turn waits, what embedding the question may take."""
_WITH_FLOOR = 500
"""Messages that are looked at when some may fall below the floor."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The messages found, best first."""

    hits: tuple[Hit, ...]
    words_only: str = ""
    """Why they were found by their words and days alone, though there is an embedder; empty when they were not."""


@dataclass(frozen=True, slots=True)
class Retriever:
    """Asks the index of messages, by words and, where it can be done in time, by meaning."""

    index: MessageIndex
    embedder: Embedder | None = None
    """None: words and days decide alone."""
    patience: float = 0.3
    """Seconds for embedding the question: the words should still be searched within the time that the turn waits."""

    async def hits(
        self,
        chat_id: str,
        question: str,
        *,
        top_k: int,
        min_similarity: float | None = None,
        without: Collection[str] = (),
    ) -> Retrieved:
        """The messages of a chat that answer a question best. May be cancelled; who calls it limits the time.

        Args:
            chat_id: A chat; one that was deleted meanwhile has no messages.
            question: Any text.
            top_k: How many at most.
            min_similarity: A cosine below which a message is no hit. Messages that have no vector have no similarity,
                so this does not concern them.
            without: Ids of messages that are not wanted, because they are shown anyhow.

        Raises:
            Refusal: `store_unavailable`.
        """
        if top_k <= 0:
            return Retrieved(())
        vector, why = await self._embedded(question)
        found = await self.index.search(
            chat_id,
            question,
            embedder=self.embedder.name if self.embedder is not None and vector is not None else "",
            vector=vector,
            limit=top_k if min_similarity is None else max(top_k, _WITH_FLOOR),
            without=without,
        )
        floor = -2.0 if min_similarity is None else min_similarity
        near = [hit for hit in found if hit.similarity is None or hit.similarity >= floor]
        return Retrieved(tuple(near[:top_k]), why)

    async def _embedded(self, question: str) -> tuple[Vector | None, str]:
        """The question's vector, or why there is none."""
        if self.embedder is None or not question.strip():
            return None, ""
        try:
            async with asyncio.timeout(self.patience):
                return (await self.embedder.embed([question]))[0], ""
        except EmbeddingFailure as failure:
            return None, failure.message
        except TimeoutError:
            return None, f"embedding the question took longer than {self.patience:g} s"
