"""Which files use what others define, by the names that few files define (X-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from codelaw.ranking.code.digest import Digest

MOST_DEFINERS = 3
"""A name that more files define says little of who uses whom."""
MOST_USERS = 200
"""A name that more files use says little of what they are about; it counts for how many use a file."""

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.integer[Any]]
Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class FileLinks:
    """Pairs of a file and one whose names it uses."""

    users: Integers
    definers: Integers
    shares: npt.NDArray[np.float32]
    """What a user is worth to the definer; those of one definer add up to one."""
    standing: Floats
    """How many other files use what a file defines, as the logarithm of one more."""

    def mean(self, scores: Floats) -> Floats:
        """For each file the mean score of those that use it, by what they are worth."""
        means = np.zeros(len(self.standing))
        np.add.at(means, self.definers, self.shares * scores[self.users])
        return means


def references(digests: Sequence[Digest]) -> FileLinks:
    """Who uses whom; a name weighs the less, the more files use it."""
    size = len(digests)
    names, owners = _columns(digests)
    known, first, many = np.unique(names, return_index=True, return_counts=True)
    few = many <= MOST_DEFINERS
    known, first, many = known[few], first[few], many[few]
    used, users = _gathered(digests, "used")
    at = np.searchsorted(known, used)
    held = known.take(at, mode="clip") == used if len(known) else np.zeros(len(used), bool)
    users, at = users[held], at[held]
    pairs: list[tuple[Integers, Integers, Integers]] = []
    for more in range(MOST_DEFINERS):
        held = np.flatnonzero(many[at] > more)
        of = owners[first[at[held]] + more]
        own = of != users[held]
        pairs.append((users[held][own], of[own], at[held][own]))
    user, definer, name = (np.concatenate(part) for part in zip(*pairs, strict=True))
    counted = np.bincount(name, minlength=len(known))
    keys, inverse = np.unique(definer.astype(np.int64) * size + user, return_inverse=True)
    worth = np.where(counted <= MOST_USERS, 1 / np.sqrt(np.maximum(counted, 1)), 0.0)
    weights = np.bincount(inverse, worth[name], len(keys))
    definers, users = keys // max(size, 1), keys % max(size, 1)
    standing = np.log1p(np.bincount(definers, minlength=size).astype(np.float64))
    kept = weights > 0
    definers, users, weights = definers[kept], users[kept], weights[kept]
    whole = np.bincount(definers, weights, size)
    shares = (weights / whole[definers]).astype(np.float32)
    return FileLinks(users.astype(np.int32), definers.astype(np.int32), shares, standing)


def _columns(digests: Sequence[Digest]) -> tuple[Numbers, Integers]:
    """All names that are defined, in order, and the file of each."""
    numbers, files = _gathered(digests, "defined")
    order = np.argsort(numbers, kind="stable")
    return numbers[order], files[order]


def _gathered(digests: Sequence[Digest], which: Literal["defined", "used"]) -> tuple[Numbers, Integers]:
    """The names of all files side by side, and the file of each; one file's at a time, since views are large."""
    sizes = [len(digest.defined if which == "defined" else digest.used) for digest in digests]
    numbers = np.zeros(sum(sizes), np.uint32)
    end = 0
    for digest, size in zip(digests, sizes, strict=True):
        begin, end = end, end + size
        numbers[begin:end] = digest.defined if which == "defined" else digest.used
    return numbers, np.repeat(np.arange(len(digests), dtype=np.int32), sizes)
