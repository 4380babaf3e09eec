"""Vectors without a model: features of words hashed to places, the same on every machine (B-5)."""

from __future__ import annotations

import asyncio
import sys
from array import array
from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt
from zlib import crc32

from codelaw.adapters.embedders.arbitrary import arbitrary
from codelaw.adapters.embedders.words import FUNCTION_WORDS, stem, words
from codelaw.domain.errors import EmbeddingFailure
from codelaw.ports.embedder import Vector

DIMENSION = 512
SMALLEST = 32
LARGEST = 8192
LONGEST = 50_000
"""Characters of a text that are looked at (S-6)."""
AT_ONCE = 2_000
"""Characters that are embedded on the event loop; a thread takes longer to start."""
_REVISION = 1
"""Part of the name: vectors of other features are never compared."""
_FUNCTION_WORD = 0.1
_IDENTIFIER = 0.5
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
    counts: dict[str, int] = {}
    for word, whole in words(text[:LONGEST]):
        key = f"={word}" if whole else word
        counts[key] = counts.get(key, 0) + 1
    sums = [0.0] * dimension
    for word, count in counts.items():
        often = 1.0 + log(1.0 + log(count)) if count > 1 else 1.0
        for hashed, weight in _features(word):
            sums[(hashed >> 1) % dimension] += often * weight if hashed & 1 else -often * weight
    length = sqrt(sum(value * value for value in sums))
    if length < 1e-9:
        return arbitrary(text, dimension)
    return _packed([value / length for value in sums])


@lru_cache(maxsize=20_000)
def _features(word: str) -> tuple[_Feature, ...]:
    if word[0] == "=":
        return ((_hash(word), _IDENTIFIER),)
    root = stem(word)
    # Long words are rare words, mostly; no count of how rare is at hand.
    weight = _FUNCTION_WORD if word in FUNCTION_WORDS else min(1.3, 0.5 + 0.1 * len(word))
    found = [(_hash(root), weight)]
    padded = f"^{root}$"
    grams = [padded[start : start + _GRAM] for start in range(len(padded) - _GRAM + 1)]
    if len(grams) > 1 and weight > _FUNCTION_WORD:
        each = weight * _GRAMS / sqrt(len(grams))
        found += [(_hash(f"#{gram}"), each) for gram in grams]
    return tuple(found)


def _hash(feature: str) -> int:
    # CRC-32 maps like to like; the multiplication spreads what differs in a few bits.
    return (crc32(feature.encode("utf-8", "surrogatepass")) * _MIX & 0xFFFFFFFF) >> 4


def _packed(values: list[float]) -> Vector:
    packed = array("f", values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
