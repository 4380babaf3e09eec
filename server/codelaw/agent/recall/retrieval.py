"""Finding the old messages that a question is about (B-4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.recall.question_vectors import Late, QuestionVectors
from codelaw.domain.errors import EmbeddingFailure

if TYPE_CHECKING:
    from codelaw.domain.memories import Hit
    from codelaw.ports.memories import Embedder, MessageIndex, Vector

_WITH_FLOOR = 500
"""Messages that are looked at when some may fall below the floor."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The messages found, best first."""

    hits: tuple[Hit, ...]
    words_only: str = ""
    """Why they were found by their words and days alone, though there is an embedder; empty when they were not."""
    late: bool = False
    """That was because the embedder was too slow."""


@dataclass(frozen=True, slots=True)
class Retriever:
    """Asks the index of messages, by words and, where it can be done in time, by meaning."""

    index: MessageIndex
    embedder: Embedder | None = None
    """None: words and days decide alone."""
    patience: float = 0.3
    """Seconds for embedding the question: the words should still be searched within the time that the turn waits."""
    questions: QuestionVectors = field(default_factory=QuestionVectors)
    """Shared with whoever else needs the question's vector."""

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
            min_similarity: A cosine below which a message is not a hit. It does not concern messages without a vector,
                which have no similarity.
            without: Ids of messages that are not wanted, because they are shown anyhow.

        Raises:
            Refusal: `store_unavailable`.
        """
        if top_k <= 0:
            return Retrieved(())
        vector, why, late = await self._embedded(question)
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
        return Retrieved(tuple(near[:top_k]), why, late)

    async def _embedded(self, question: str) -> tuple[Vector | None, str, bool]:
        """The question's vector, or why there is none, and whether it is only late."""
        if self.embedder is None or not question.strip():
            return None, "", False
        try:
            return await self.questions.vector(self.embedder, question, self.patience), "", False
        except EmbeddingFailure as failure:
            return None, failure.message, False
        except Late as late:
            return None, str(late), True
