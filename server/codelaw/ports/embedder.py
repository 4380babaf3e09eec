"""Texts as vectors (B-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Vector = bytes
"""Float32, little-endian, of length 1: the dot product of two is their cosine."""


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str:
        """Provider and model. Vectors of different names, or of different sizes, are never compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order; texts longer than the model takes are cut by it.

        Raises:
            EmbeddingFailure: it could not be done, also not after retries.
        """
        ...

    async def close(self) -> None: ...
