"""All files of an index side by side, ready to be asked (X-5).

BM25F (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted Fields", CIKM 2004) over chunks and
over whole files: the counts of a term in several fields are weighted and added before they saturate. What does not
depend on the question is worked out once, so that a question only adds up what stands at its terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from codelaw.ranking.code.digest import FIELDS, Digest, numbered, words

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.integer[Any]]

WEIGHTS = np.array([2.0, 1.0, 0.7])
"""Of names that are defined, of code, and of comments."""
LENGTH = np.array([0.3, 0.6, 0.6])
"""How much long texts are marked down, by field."""
PATH_WEIGHT, FILE_PATH_WEIGHT = 1.0, 2.0
"""Of the words of a file's path, in its chunks and in the whole file."""
K1, FILE_K1 = 1.2, 1.5
"""How soon a repeated term stops counting."""
MOST_DEFINERS = 3
"""A name that more files define says little of who uses whom."""


@dataclass(frozen=True)
class Postings:
    """Where each term stands and how much it counts there, ordered by term."""

    terms: npt.NDArray[np.uint32]
    """Each once, ascending."""
    begins: Integers
    """Where the entries of each term begin; one more at the end."""
    owners: Integers
    weights: npt.NDArray[np.float32]
    fields: npt.NDArray[np.uint8]
    """A bit for each field in which it stands; the highest one is the path's."""

    def of(self, term: int) -> slice:
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or int(self.terms[at]) != term:
            return slice(0, 0)
        return slice(int(self.begins[at]), int(self.begins[at + 1]))


IN_PATH = 1 << FIELDS


@dataclass(frozen=True)
class Frame:
    """An index as it is ranked. Never changed."""

    paths: tuple[str, ...]
    digests: tuple[Digest, ...]
    firsts: Integers
    """The number of each file's first chunk; one more at the end."""
    owners: Integers
    """The file of each chunk."""
    chunks: Postings
    files: Postings
    path_terms: tuple[frozenset[int], ...]
    standing: Floats
    """How many other files use what a file defines, as the logarithm of one more."""


def framed(files: Mapping[str, Digest]) -> Frame:
    """The frame of files by their path."""
    paths, digests = tuple(files), tuple(files.values())
    sizes = np.array([len(digest.chunks) for digest in digests], np.int64)
    firsts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owners = np.repeat(np.arange(len(paths)), sizes)
    path_terms = tuple(frozenset(term for word in words(path) for term in numbered(word)) for path in paths)
    terms, chunk_of, counts = _entries(digests, firsts, sizes, path_terms)
    lengths = np.zeros((len(owners), FIELDS))
    for digest, first in zip(digests, firsts.tolist(), strict=False):
        lengths[first : first + len(digest.lengths)] = digest.lengths
    chunks = _postings(terms, chunk_of, counts, lengths, (PATH_WEIGHT, K1))
    together = np.zeros((len(paths), FIELDS))
    np.add.at(together, owners, lengths)
    file_terms, file_of, file_counts = _by_file(terms, owners[chunk_of], counts)
    whole = _postings(file_terms, file_of, file_counts, together, (FILE_PATH_WEIGHT, FILE_K1))
    return Frame(paths, digests, firsts, owners, chunks, whole, path_terms, _standing(digests))


def _entries(
    digests: tuple[Digest, ...], firsts: Integers, sizes: Integers, path_terms: tuple[frozenset[int], ...]
) -> tuple[npt.NDArray[np.uint32], Integers, Floats]:
    """Terms, chunks and counts of all files, the words of the path in one more column."""
    none = np.zeros(0, np.uint32)
    terms = [none, *(digest.terms for digest in digests)]
    owners = [np.zeros(0, np.int64)]
    owners += (one.owners.astype(np.int64) + first for one, first in zip(digests, firsts.tolist(), strict=False))
    counts = [np.zeros((0, FIELDS), np.uint8), *(digest.counts for digest in digests)]
    inner, outer = np.concatenate(terms), [none]
    for path, first, size in zip(path_terms, firsts.tolist(), sizes.tolist(), strict=False):
        outer.append(np.tile(np.array(sorted(path), np.uint32), size))
        owners.append(np.repeat(np.arange(first, first + size, dtype=np.int64), len(path)))
    named = np.concatenate(outer)
    table = np.zeros((len(inner) + len(named), FIELDS + 1), np.float32)
    table[: len(inner), :FIELDS] = np.concatenate(counts)
    table[len(inner) :, FIELDS] = 1
    return _added(np.concatenate([inner, named]), np.concatenate(owners), table)


def _by_file(
    terms: npt.NDArray[np.uint32], files: Integers, counts: Floats
) -> tuple[npt.NDArray[np.uint32], Integers, Floats]:
    terms, files, counts = _added(terms, files, counts)
    counts[:, FIELDS] = np.minimum(counts[:, FIELDS], 1)
    return terms, files, counts


def _added(
    terms: npt.NDArray[np.uint32], owners: Integers, counts: Floats
) -> tuple[npt.NDArray[np.uint32], Integers, Floats]:
    """Entries of the same term and owner in one, ordered by term."""
    if not len(terms):
        return terms, owners, counts
    keys = terms.astype(np.uint64) << np.uint64(32) | owners.astype(np.uint64)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    first = order[starts]
    return terms[first], owners[first], np.add.reduceat(counts[order], starts, axis=0)


def _postings(
    terms: npt.NDArray[np.uint32],
    owners: Integers,
    counts: Floats,
    lengths: Floats,
    path_and_k1: tuple[float, float],
) -> Postings:
    path, k1 = path_and_k1
    mean = np.maximum(lengths.mean(axis=0), 1e-9) if len(lengths) else np.ones(FIELDS)
    shares = WEIGHTS / (1 - LENGTH + LENGTH * lengths / mean)
    weighted = (counts[:, :FIELDS] * shares[owners]).sum(axis=1) + path * counts[:, FIELDS]
    fields = ((counts > 0) * np.array([1 << at for at in range(FIELDS + 1)])).sum(axis=1).astype(np.uint8)
    different, begins = np.unique(terms, return_index=True)
    begins = np.append(begins, len(terms))
    return Postings(different, begins, owners, (weighted / (k1 + weighted)).astype(np.float32), fields)


def _standing(digests: tuple[Digest, ...]) -> Floats:
    """Who is used by many: files whose own names stand in many others."""
    used_by = [set[int]() for _ in digests]
    definers: dict[int, list[int]] = {}
    for file, digest in enumerate(digests):
        for name in digest.defined.tolist():
            definers.setdefault(name, []).append(file)
    known = np.array(sorted(definers), np.uint32)
    for file, digest in enumerate(digests):
        for name in np.intersect1d(digest.used, known).tolist():
            of = definers[name]
            if file not in of and len(of) <= MOST_DEFINERS:
                for one in of:
                    used_by[one].add(file)
    return np.log1p(np.array([len(one) for one in used_by], np.float64))
