"""Which embedder makes the vectors, by the values of the settings (B-5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from codelaw.adapters.embedders.hashing import DIMENSION, HashingEmbedder
from codelaw.adapters.embedders.http import HttpEmbedder
from codelaw.adapters.embedders.local import LocalEmbedder

if TYPE_CHECKING:
    from codelaw.ports.memories import Embedder


class EmbedderSettings(Protocol):
    """The settings below `embedding`, as far as they say which embedder it is."""

    @property
    def provider(self) -> Literal["hashing", "local", "openai"]: ...
    @property
    def model(self) -> str | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def base_url(self) -> str | None: ...
    @property
    def api_key(self) -> str | None: ...
    @property
    def dimension(self) -> int | None: ...


def make_embedder(embedding: EmbedderSettings) -> Embedder:
    """The embedder of the chosen provider; nothing is connected or loaded yet, and what is wrong is told at its use."""
    match embedding.provider:
        case "hashing":
            return HashingEmbedder(embedding.dimension or DIMENSION)
        case "local":
            path = Path(embedding.path) if embedding.path else None
            return LocalEmbedder(path, model=embedding.model, dimension=embedding.dimension)
        case "openai":
            return HttpEmbedder(
                embedding.base_url, embedding.api_key, model=embedding.model, dimension=embedding.dimension
            )
