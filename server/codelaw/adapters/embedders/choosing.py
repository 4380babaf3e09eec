"""Which embedder makes the vectors, by the values of the settings (B-5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from codelaw.adapters.embedders.hashing import DIMENSION, HashingEmbedder
from codelaw.adapters.embedders.http import HttpEmbedder
from codelaw.adapters.embedders.local import LocalEmbedder

if TYPE_CHECKING:
    from codelaw.ports.memories import Embedder


def make_embedder(
    provider: Literal["hashing", "local", "openai"],
    *,
    model: str | None = None,
    path: str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    dimension: int | None = None,
) -> Embedder:
    """The embedder of the chosen provider; nothing is connected or loaded yet, and what is wrong is told at its use."""
    match provider:
        case "hashing":
            return HashingEmbedder(dimension or DIMENSION)
        case "local":
            return LocalEmbedder(Path(path) if path else None, model=model, dimension=dimension)
        case "openai":
            return HttpEmbedder(base_url, api_key, model=model, dimension=dimension)
