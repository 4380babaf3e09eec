"""Vectors without a model: features of words hashed to places, the same on every machine (B-5).

The words are those that messages are searched by (`ranking/words`).
"""

from __future__ import annotations

import asyncio
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import shake_128
from math import log, sqrt
from zlib import crc32

from codelaw.domain.errors import EmbeddingFailure
from codelaw.ports.memories import Vector
from codelaw.ranking.words import terms

DIMENSION = 512
SMALLEST = 32
LARGEST = 8192
LONGEST = 50_000
"""Characters of a text that are looked at (S-6)."""
AT_ONCE = 2_000
"""Characters that are embedded on the event loop; a thread takes longer to start."""
_REVISION = 2
"""Part of the name: vectors of other features are never compared."""
_GRAMS = 0.8
_GRAM = 3
_MIX = 0x9E3779B1

_Feature = tuple[int, float]
"""A hash, and the weight of what it stands for."""


class HashingEmbedder:
    """An `Embedder` that is always there: texts are near that share words, forms of words, or parts of identifiers."""

    def __init__(self, dimension: int = DIMENSION) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        return f"hashing-{_REVISION}/{self._dimension}"

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text.

        Raises:
            EmbeddingFailure: lasting; the dimension is out of bounds.
        """
        if not SMALLEST <= self._dimension <= LARGEST:
            message = f"embedding.dimension is {self._dimension}; the provider `hashing` takes {SMALLEST} to {LARGEST}."
            raise EmbeddingFailure(message, lasting=True)
        if sum(map(len, texts)) <= AT_ONCE:
            return [embed(text, self._dimension) for text in texts]
        return await asyncio.to_thread(lambda: [embed(text, self._dimension) for text in texts])

    async def close(self) -> None: ...


def embed(text: str, dimension: int) -> Vector:
    """The vector of one text."""
    counts = Counter(terms(text[:LONGEST]))
    sums = [0.0] * dimension
    for word, count in counts.items():
        often = 1.0 + log(1.0 + log(count)) if count > 1 else 1.0
        for hashed, weight in _features(word):
            sums[(hashed >> 1) % dimension] += often * weight if hashed & 1 else -often * weight
    length = sqrt(sum(value * value for value in sums))
    if length < 1e-9:
        return arbitrary(text, dimension)
    packed = array("f", [value / length for value in sums])
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


@lru_cache(maxsize=20_000)
def _features(word: str) -> tuple[_Feature, ...]:
    # Long words are rare words, mostly; no count of how rare is at hand.
    weight = min(1.3, 0.5 + 0.1 * len(word))
    found = [(_hash(word), weight)]
    padded = f"^{word}$"
    grams = [padded[start : start + _GRAM] for start in range(len(padded) - _GRAM + 1)]
    if len(grams) > 1:
        each = weight * _GRAMS / sqrt(len(grams))
        found += [(_hash(f"#{gram}"), each) for gram in grams]
    return tuple(found)


def _hash(feature: str) -> int:
    # CRC-32 maps like to like; the multiplication spreads what differs in a few bits.
    return (crc32(feature.encode("utf-8", "surrogatepass")) * _MIX & 0xFFFFFFFF) >> 4


def arbitrary(text: str, dimension: int) -> Vector:
    """For a text that has nothing to be compared by: of length 1, and nearly at right angles to every other."""
    signs = shake_128(text.encode("utf-8", "surrogatepass")).digest(dimension)
    value = 1 / sqrt(dimension)
    return struct.pack(f"<{dimension}f", *(value if byte & 1 else -value for byte in signs))
