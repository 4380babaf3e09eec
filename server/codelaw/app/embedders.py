"""Which embedder makes the vectors, made from the settings (B-5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.embedders.hashing import DIMENSION, HashingEmbedder
from codelaw.adapters.embedders.http import HttpEmbedder
from codelaw.adapters.embedders.local import LocalEmbedder
from codelaw.agent.recall.in_use import EmbedderInUse

if TYPE_CHECKING:
    from codelaw.ports.embedder import Embedder
    from codelaw.settings import Settings


def make_embedder(settings: Settings) -> Embedder:
    """The embedder of the chosen provider; nothing is connected or loaded yet, and what is wrong is told at its use."""
    chosen = settings.embedding
    match chosen.provider:
        case "hashing":
            return HashingEmbedder(chosen.dimension or DIMENSION)
        case "local":
            path = Path(chosen.path) if chosen.path else None
            return LocalEmbedder(path, model=chosen.model, dimension=chosen.dimension)
        case "openai":
            return HttpEmbedder(chosen.base_url, chosen.api_key, model=chosen.model, dimension=chosen.dimension)


class CurrentEmbedder:
    """The embedder of the settings in force. Those before it are kept until the end: they may be at work."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.in_use = EmbedderInUse(make_embedder(settings))
        self._retired: list[Embedder] = []

    def reconfigure(self, settings: Settings) -> bool:
        """Whether from now on another one is used."""
        changed = settings.embedding != self._settings.embedding
        self._settings = settings
        if changed:
            self._retired.append(self.in_use.now)
            self.in_use.now = make_embedder(settings)
        return changed

    async def close(self) -> None:
        """Give back what they all hold."""
        for embedder in [*self._retired, self.in_use.now]:
            await embedder.close()
