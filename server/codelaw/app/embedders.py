"""The embedder of the settings in force (B-5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.adapters.embedders.choosing import make_embedder
from codelaw.agent.recall.in_use import EmbedderInUse

if TYPE_CHECKING:
    from codelaw.ports.embedder import Embedder
    from codelaw.settings import Settings


class CurrentEmbedder:
    """The embedder of the settings in force. Those before it are kept until the end: they may be at work."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.in_use = EmbedderInUse(make_embedder(settings.embedding))
        self._retired: list[Embedder] = []

    def reconfigure(self, settings: Settings) -> bool:
        """Whether from now on another one is used."""
        changed = settings.embedding != self._settings.embedding
        self._settings = settings
        if changed:
            self._retired.append(self.in_use.now)
            self.in_use.now = make_embedder(settings.embedding)
        return changed

    async def close(self) -> None:
        """Give back what they all hold."""
        for embedder in [*self._retired, self.in_use.now]:
            await embedder.close()
