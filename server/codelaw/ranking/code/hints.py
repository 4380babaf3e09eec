"""What the messages of commits say of the files that they changed (X-5).

A question is often put in the words of a change: a commit whose message answers it speaks for the files that it
changed. Messages are ranked by BM25; a commit of many files says little of each.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from codelaw.ranking.code.digest import numbered, words
from codelaw.ranking.code.question import CodeQuestion

MOST_FILES = 30
"""A commit that changes more files says nothing of one."""
LOOKED_AT = 2_000
"""Characters of a message."""
BEST = 100
"""Commits that speak for their files."""
AGAIN = 0.1
"""What a file's next commits add, as a share of theirs."""
K1, LENGTH = 1.2, 0.75
_TRAILER = re.compile(r"^[A-Z][A-Za-z]*(?:-[A-Za-z]+)+:.*$", re.MULTILINE)
"""`Signed-off-by: …` and its like: people, and no words of the change."""


@dataclass(frozen=True, slots=True)
class CommitHistory:
    """The commits of a workspace, ready to be asked; newest first."""

    changed: tuple[tuple[str, ...], ...] = ()
    """By commit, its files that are still there."""
    postings: Mapping[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]] | None = None
    """By term the commits whose messages have it, and what it counts there."""


def recorded(changes: Iterable[tuple[str, Sequence[str]]], known: Container[str]) -> CommitHistory:
    """The history of the files in `known`, of commits' messages and the files that each changed, as shown."""
    changed: list[tuple[str, ...]] = []
    counts: list[Counter[int]] = []
    for message, every in changes:
        paths = tuple(path for path in every if path in known)
        if paths and len(every) <= MOST_FILES:
            text = _TRAILER.sub("", message[:LOOKED_AT])
            changed.append(paths)
            counts.append(Counter(term for word in words(text) for term in numbered(word)))
    lengths = [counted.total() for counted in counts]
    mean = sum(lengths) / max(1, len(lengths)) or 1.0
    held: dict[int, list[tuple[int, float]]] = {}
    for at, (counted, length) in enumerate(zip(counts, lengths, strict=True)):
        damping = K1 * (1 - LENGTH + LENGTH * length / mean)
        for term, count in counted.items():
            held.setdefault(term, []).append((at, count * (1 + K1) / (count + damping)))
    size = len(changed)
    postings: dict[int, tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]] = {}
    for term, found in held.items():
        rarity = math.log(1 + (size - len(found) + 0.5) / (len(found) + 0.5))
        owners = np.array([at for at, _ in found], np.int32)
        postings[term] = owners, np.array([rarity * weight for _, weight in found], np.float32)
    return CommitHistory(tuple(changed), postings)


def reported(history: CommitHistory, question: CodeQuestion) -> dict[str, float]:
    """What is said of each file, in the units of BM25; nothing of those that no message speaks for."""
    scores = np.zeros(len(history.changed))
    for term, weight in question.weights.items():
        found = (history.postings or {}).get(term)
        if found is not None:
            scores[found[0]] += weight * found[1]
    said: dict[str, float] = {}
    best: list[int] = np.argsort(-scores, kind="stable")[:BEST].tolist()
    for at in best:
        score = float(scores[at])
        if score <= 0:
            break
        paths = history.changed[at]
        share = score / math.sqrt(len(paths))
        for path in paths:
            before = said.get(path, 0.0)
            said[path] = max(before, share) + AGAIN * min(before, share)
    return said


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
