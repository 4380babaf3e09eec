"""Signatures: a few bits for each vector, by which the nearest among very many are found without reading them all.

A vector is turned by a fixed random rotation, so that every coordinate tells something of all of them, and what is kept
is the sign of each. Vectors that are near agree in most signs. Imported lazily: it needs numpy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from hashlib import shake_128
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codelaw.ports.embedder import Vector

BITS = 512
WORDS = BITS // 64
ROUGHLY = 5
"""How many times as many are chosen by differing bits alone."""
MOST = 500_000
"""Vectors whose signatures are kept in memory, the newest; those of older ones are found by their words only (S-6)."""

Floats = NDArray[np.float32]
Row = tuple[int, str | bytes, str | bytes, str | bytes, bytes]


def values(vector: Vector) -> Floats:
    """A vector's numbers."""
    return np.frombuffer(vector, "<f4")


def turned(vector: Vector) -> Floats:
    """A vector's first `BITS` coordinates after the rotation; the same on every machine."""
    given = values(vector)
    width = max(BITS, 1 << (len(given) - 1).bit_length())
    whole = np.zeros(width, np.float32)
    whole[: len(given)] = given * _signs(width)[: len(given)]
    half = 1
    while half < width:  # the fast Walsh-Hadamard transform
        pairs = whole.reshape(-1, 2, half)
        whole = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1).reshape(-1)
        half *= 2
    return whole[:BITS]


def signature(vector: Vector) -> bytes:
    """The signs of a vector after the rotation."""
    return np.packbits(turned(vector) > 0).tobytes()


def cosines(vector: Vector, others: Sequence[Vector]) -> list[float]:
    """The cosine of a vector and each of `others`, all of one size and of length 1."""
    if not others:
        return []
    matrix = np.frombuffer(b"".join(others), "<f4").reshape(len(others), -1)
    return [float(value) for value in _products(matrix, values(vector))]


@lru_cache(maxsize=8)
def _signs(width: int) -> Floats:
    """Ones and minus ones, drawn once and for all."""
    bits = np.unpackbits(np.frombuffer(shake_128(b"codelaw signatures").digest(width // 8), np.uint8))
    return np.where(bits, np.float32(1), np.float32(-1))


class Signatures:
    """Those of all vectors of one embedder and one size that were read so far, in the order of their numbers.

    Vectors that were deleted stay in it until somebody looks for them in vain and says so: no number comes back.
    """

    def __init__(self) -> None:
        self.newest = 0
        """The highest number that was read."""
        self._numbers = np.empty(0, np.int64)
        self._places = np.empty(0, np.int32)
        self._categories = np.empty(0, np.int16)
        self._codes = np.empty((WORDS, 0), np.uint64)  # one row for each word: they are gone through one by one
        self._names: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, rows: Iterable[Row]) -> None:
        """More of them: number, scope, owner, category and signature, in the order of their numbers."""
        taken = list(rows)
        if not taken:
            return
        self.newest = taken[-1][0]
        codes = np.frombuffer(b"".join(row[4] for row in taken), np.uint64).reshape(-1, WORDS)
        self._numbers = np.append(self._numbers, np.array([row[0] for row in taken], np.int64))[-MOST:]
        places = np.array([self._code((row[1], row[2])) for row in taken], np.int32)
        self._places = np.append(self._places, places)[-MOST:]
        categories = np.array([self._code(row[3]) for row in taken], np.int16)
        self._categories = np.append(self._categories, categories)[-MOST:]
        self._codes = np.concatenate((self._codes, codes.T), axis=1)[:, -MOST:]

    def drop(self, numbers: Collection[int]) -> None:
        """These are gone."""
        if numbers:
            kept = ~np.isin(self._numbers, np.array(list(numbers), np.int64))
            self._numbers, self._places = self._numbers[kept], self._places[kept]
            self._categories, self._codes = self._categories[kept], self._codes[:, kept]

    def nearest(self, vector: Vector, places: Iterable[tuple[str, str]], category: str | None, limit: int) -> list[int]:
        """The numbers of those at `places`, scope and owner, that are nearest to `vector` as far as signs can tell.

        First by the bits that differ; of the best of these by the vector's own coordinates, which tell more.
        """
        here = [self._names[place] for place in places if place in self._names]
        among = np.flatnonzero(np.isin(self._places, here))
        if category is not None:
            among = among[self._categories[among] == self._names.get(category, -1)]
        if len(among) > limit:
            coordinates = turned(vector)
            among = _least(among, self._differing(np.packbits(coordinates > 0).view(np.uint64), among), ROUGHLY * limit)
            codes = np.ascontiguousarray(self._codes[:, among].T).view(np.uint8)
            among = _least(among, -_products(np.unpackbits(codes, axis=1).astype(np.float32), coordinates), limit)
        return [int(number) for number in self._numbers[among]]

    def _differing(self, wanted: NDArray[np.uint64], among: NDArray[np.intp]) -> NDArray[np.uint16]:
        """How many bits differ from `wanted`."""
        differing = np.zeros(len(among), np.uint16)
        everything = len(among) == len(self._numbers)
        for word, row in zip(wanted, self._codes, strict=True):
            differing += np.bitwise_count((row if everything else row[among]) ^ word)
        return differing

    def _code(self, name: Any) -> int:
        return self._names.setdefault(name, len(self._names))


def _products(matrix: Floats, vector: Floats) -> Floats:
    """The product of each row and the vector; without BLAS, whose threads cost more than so little work."""
    return np.einsum("ij,j->i", matrix, vector)


def _least(among: NDArray[np.intp], values_: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Those of `among` with the least values."""
    return among if len(among) <= count else among[np.argpartition(values_, count)[:count]]
