"""How near pieces of files are to a question by the vectors of an embedder (X-5).

Cosines of different models lie in different ranges, so only their order of size within one search counts: the median
file is worth nothing, the nearest piece is worth one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

NEAREST = 200
"""Files that count as near."""
_AT_ONCE = 8_192
"""Rows that are widened together."""

Halves = npt.NDArray[np.float16]
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of all pieces side by side."""

    paths: tuple[str, ...]
    begins: npt.NDArray[np.int64]
    """The first row of each file; one more at the end."""
    rows: Halves


def beside(files: Mapping[str, Halves]) -> Vectors:
    """The vectors of files, each with a row for each of its pieces; all of one dimension."""
    held = {path: rows for path, rows in files.items() if len(rows)}
    begins = np.cumsum([0, *(len(rows) for rows in held.values())]).astype(np.int64)
    rows = np.concatenate(list(held.values())) if held else np.zeros((0, 1), np.float16)
    return Vectors(tuple(held), begins, rows)


def nearest(vectors: Vectors, question: bytes) -> dict[str, Singles]:
    """What each piece of the nearest files is worth, 0 to 1; nothing where the question's vector is of another size."""
    asked = np.frombuffer(question, "<f4")
    if not vectors.paths or vectors.rows.shape[1] != len(asked):
        return {}
    starts = range(0, len(vectors.rows), _AT_ONCE)
    cosines = np.concatenate([vectors.rows[at : at + _AT_ONCE].astype(np.float32) @ asked for at in starts])
    best = np.maximum.reduceat(cosines, vectors.begins[:-1])
    usual, most = float(np.median(best)), float(best.max())
    if most <= usual:
        return {}
    worth = np.maximum((cosines - usual) / (most - usual), 0.0).astype(np.float32)
    chosen: list[int] = np.flatnonzero(best > usual)[np.argsort(-best[best > usual], kind="stable")][:NEAREST].tolist()
    return {vectors.paths[at]: worth[vectors.begins[at] : vectors.begins[at + 1]] for at in chosen}
