"""Requests about long-term memory, as the user makes them (B-6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.agent.recall.remembering import ChatMemory
    from codelaw.app.chats import OpenChats
    from codelaw.app.recall import Recall
    from codelaw.domain.memories import Category, Memory, MemoryScope, Recalled, Saved
    from codelaw.domain.safety.redaction import Redaction

PAGE = 100
"""Entries of a list where no limit is named."""
FOUND = 10


@dataclass(frozen=True, slots=True)
class Memories:
    """Memories: saved, listed, searched, changed, forgotten. Those of a chat count only where one is named."""

    opened: OpenChats
    recall: Recall
    redaction: Redaction

    async def save(
        self,
        text: str,
        *,
        category: Category | None = None,
        scope: MemoryScope | None = None,
        confidence: float | None = None,
        chat_id: str | None = None,
    ) -> Saved:
        """Remember a text, through the same gate as a model's.

        Raises:
            Refusal: `memory_refused`, `chat_not_found`.
        """
        self._refuse_keys(text)
        return await (await self._of(chat_id)).save(text, category, scope, confidence)

    async def list(
        self,
        *,
        scope: MemoryScope | None = None,
        category: Category | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        chat_id: str | None = None,
    ) -> tuple[Sequence[Memory], str | None]:
        """Those that count here, newest first. The second value continues the list."""
        memory = await self._of(chat_id)
        return await memory.store.list(memory.places, scope, category, limit or PAGE, cursor)

    async def search(
        self, query: str, *, category: Category | None = None, limit: int | None = None, chat_id: str | None = None
    ) -> Sequence[Recalled]:
        """Those that answer best, best first."""
        return await (await self._of(chat_id)).search(query, category, limit or FOUND)

    async def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        category: Category | None = None,
        scope: MemoryScope | None = None,
        confidence: float | None = None,
        chat_id: str | None = None,
    ) -> Memory:
        """Change what is given.

        Raises:
            Refusal: `memory_not_found`, `memory_refused`.
        """
        self._refuse_keys(text or "")
        memory = await self._of(chat_id)
        return await memory.update(memory_id, text=text, category=category, scope=scope, confidence=confidence)

    def _refuse_keys(self, text: str) -> None:
        if self.redaction.holds(text):
            raise Refusal("memory_refused", "This holds a key that codelaw knows, and keys are not remembered.")

    async def forget(self, memory_id: str) -> None:
        """Forget it for good.

        Raises:
            Refusal: `memory_not_found`.
        """
        await (await self._of(None)).forget(memory_id)

    async def backfill(self, chat_id: str | None) -> int:
        """Embed everything that waits, of one chat or of all; gives how many passages and memories that were (B-5).

        Raises:
            Refusal: `chat_not_found`; `model_unavailable`: the embedder failed.
        """
        store = await self.opened.store()
        if chat_id is not None:
            await store.chat(chat_id)
        embedding = self.recall.embedding
        return 0 if embedding is None else await embedding.backfill(chat_id)

    async def _of(self, chat_id: str | None) -> ChatMemory:
        return await self.recall.memory_of(await self.opened.stores(), chat_id)
