"""Memory for the chats of a session: whose it is, and under which settings (B-6)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codelaw.adapters.workspace.projects import project_keys
from codelaw.agent.recall.question_vectors import load_background
from codelaw.agent.recall.remembering import Attic, ChatMemory, RecallLimits
from codelaw.domain.memories import Places

if TYPE_CHECKING:
    from codelaw.agent.recall.in_use import EmbedderInUse
    from codelaw.ports.memories import MemoryStore
    from codelaw.ports.workspace import Workspace
    from codelaw.settings import Settings


class Memories:
    """Gives each chat its memory."""

    def __init__(self, workspace: Workspace, embedder: EmbedderInUse, user: str) -> None:
        self._workspace = workspace
        self._embedder = embedder
        self._user = user
        self._attic = Attic()

    async def of(self, store: MemoryStore, chat_id: str | None, settings: Settings) -> ChatMemory:
        """The memory of a chat, or of none, as the folders and the settings are now."""
        projects = await asyncio.to_thread(project_keys, self._workspace.folders, self._user)
        chosen = settings.memory
        limits = RecallLimits(
            chosen.enabled, chosen.top_k, chosen.min_similarity, chosen.timeout_ms / 1000, chosen.category
        )
        return ChatMemory(
            store=store,
            embedder=self._embedder,
            places=Places(self._user, projects, chat_id),
            limits=limits,
            attic=self._attic,
        )

    async def warm(self, store: MemoryStore, settings: Settings) -> None:
        """Load what looking for memories needs, where there are any: a first turn should not wait for it.

        Raises:
            Refusal: `store_unavailable`.
        """
        memory = await self.of(store, None, settings)
        if settings.memory.enabled and (await store.list(memory.places, None, None, 1, None))[0]:
            await asyncio.to_thread(load_background)

    async def close(self) -> None:
        """Finish what goes on in the background; before the store is closed."""
        await self._attic.close()
