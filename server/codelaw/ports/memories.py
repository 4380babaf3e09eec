"""Where long-term memories are kept, and what a chat may do with them (B-6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codelaw.domain.memories import Candidate, Category, Memory, MemoryScope, Places, Recalled, Saved
from codelaw.ports.embedder import Vector


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
