"""What retrieval finds in the messages of a chat (B-4, B-5)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A message, or a part of a long one, as it is embedded and searched."""

    id: int
    chat_id: str
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that answers a question: an anchor (B-4)."""

    message_id: str
    score: float
    """Comparable within one search only: lexical and vector scores, fused."""
    similarity: float | None = None
    """Cosine of its best passage; None where none of them has a vector yet."""
