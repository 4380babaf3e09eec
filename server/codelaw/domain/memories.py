"""Long-term memories (B-6), and what retrieval finds in the messages of a chat (B-4, B-5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Passage:
    """A message, or a part of a long one, as it is embedded and searched."""

    id: int
    chat_id: str
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that answers a question: an anchor (B-4)."""

    message_id: str
    score: float
    """Comparable within one search only: lexical and vector scores, fused."""
    similarity: float | None = None
    """Cosine of its best passage; None where none of them has a vector yet."""


Category = Literal["preference", "fact", "skill", "habit", "event", "context", "constraint", "decision"]
MemoryScope = Literal["user", "project", "session"]


@dataclass(frozen=True, slots=True)
class Memory:
    """One entry. Times are seconds since the epoch."""

    id: str
    text: str
    category: Category
    scope: MemoryScope
    belongs_to: str
    """Whose it is: the user's login name, the project's key, or the chat's id, by the scope."""
    confidence: float
    """From 0 to 1."""
    created_at: float
    used_at: float | None = None
    """When it was last shown to a model."""
    uses: int = 0


@dataclass(frozen=True, slots=True)
class Places:
    """Where someone stands: of each scope, whose entries count here."""

    user: str
    projects: tuple[str, ...] = ()
    """One for each workspace folder; new entries belong to the first."""
    session: str | None = None
    """The chat's id; None outside of a chat."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that a search has found."""

    memory: Memory
    similarity: float
    """To the question, from 0 to 1: by words and by vectors."""
    cosine: float | None = None
    """By vectors alone; None where the entry, or the question, has none."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A candidate with its place in the ranking."""

    memory: Memory
    similarity: float
    score: float
    """`0.5·similarity + 0.3·confidence + 0.2·scope priority` (B-6)."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a text that was to be remembered."""

    memory: Memory
    merged: bool
    """An older entry said the same; it stays, with what the new one says more."""
