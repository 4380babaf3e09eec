"""All files of an index side by side, ready to be asked (X-5).

BM25F (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted Fields", CIKM 2004) over chunks and
over whole files: the counts of a term in several fields are weighted and added before they saturate. What does not
depend on the question is worked out once, so that a question only adds up what stands at its terms.

A few files that have changed are a small frame of their own over the large one, which lends them its statistics: so an
edit costs what the edited file is worth.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any

import numpy as np
import numpy.typing as npt

from codelaw.ranking.code.digest import FIELDS, Digest, numbered, words
from codelaw.ranking.code.paths import aside, stem
from codelaw.ranking.code.references import References, references

Floats = npt.NDArray[np.floating[Any]]
Integers = npt.NDArray[np.integer[Any]]
Numbers = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.uint8]

WEIGHTS = np.array([2.0, 1.0, 0.7])
"""Of names that are defined, of code, and of comments."""
LENGTH = np.array([0.3, 0.6, 0.6])
"""How much long texts are marked down, by field."""
PATH_WEIGHT, FILE_PATH_WEIGHT = 1.0, 2.0
"""Of the words of a file's path, in its chunks and in the whole file."""
K1, FILE_K1 = 1.2, 1.5
"""How soon a repeated term stops counting."""
IN_PATH = 1 << FIELDS
TOGETHER = 20_000
"""Paths that are sorted in one call."""


@dataclass(frozen=True)
class Postings:
    """Where each term stands and how much it counts there, ordered by term."""

    terms: Numbers
    """Each once, ascending."""
    begins: Integers
    """Where the entries of each term begin; one more at the end."""
    owners: Integers
    weights: npt.NDArray[np.float32]
    fields: npt.NDArray[np.uint8]
    """A bit for each field in which it stands; the highest one is the path's."""
    mean: Floats
    """Terms of an owner, by field."""
    size: int
    """How many owners there are."""

    def of(self, term: int) -> slice:
        at = int(self.terms.searchsorted(np.uint32(term)))
        if at == len(self.terms) or int(self.terms[at]) != term:
            return slice(0, 0)
        return slice(int(self.begins[at]), int(self.begins[at + 1]))


@dataclass(frozen=True)
class Holders:
    """The files whose path has a term."""

    terms: Numbers
    """Each once, ascending."""
    begins: Integers
    """Where the files of each term begin; one more at the end."""
    files: Integers

    def get(self, term: int) -> list[int]:
        at = int(self.terms.searchsorted(np.uint32(term)))
        if at == len(self.terms) or int(self.terms[at]) != term:
            return []
        return self.files[int(self.begins[at]) : int(self.begins[at + 1])].tolist()


@dataclass(frozen=True, slots=True)
class Places:
    """The number of each file. A dictionary would cost more than all else that a search after an edit does."""

    paths: tuple[str, ...]
    """Each once, ascending."""

    def get(self, path: str) -> int | None:
        at = bisect_left(self.paths, path)
        return at if at < len(self.paths) and self.paths[at] == path else None

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.get(path) is not None


@dataclass(frozen=True)
class Frame:
    """An index as it is ranked. Never changed."""

    paths: tuple[str, ...]
    """Each once, ascending."""
    digests: tuple[Digest, ...]
    firsts: Integers
    """The number of each file's first chunk; one more at the end."""
    owners: Integers
    """The file of each chunk."""
    chunks: Postings
    files: Postings
    holders: Holders
    stems: tuple[tuple[int, ...], ...]
    """The terms of each file's name."""
    asides: Mapping[frozenset[int], Integers]
    """The files that stand aside, by the terms that ask for them."""
    standing: Floats
    """How many other files use what a file defines, as the logarithm of one more."""
    references: References | None = None
    """None where the frame below says who uses whom."""
    below: Frame | None = None
    """The large frame that this small one lies over."""
    gone: frozenset[str] = frozenset()
    """Files of that frame that are not there any more."""

    @property
    def whole(self) -> Frame:
        """The frame whose counts say how rare a term is."""
        return self.below or self

    def covers(self, path: str) -> bool:
        """Whether what the frame below says of a file does not count."""
        return path in self.gone or path in self.places

    @property
    def places(self) -> Places:
        """The number of each file."""
        return Places(self.paths)


def framed(files: Mapping[str, Digest], below: Frame | None = None, gone: frozenset[str] = frozenset()) -> Frame:
    """The frame of files by their path, over another one where that is given."""
    paths = tuple(_ordered(list(files)))
    digests = tuple(files[path] for path in paths)
    sizes = np.array([digest.size for digest in digests], np.int64)
    firsts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owners = np.repeat(np.arange(len(paths), dtype=np.int32), sizes)
    named = [tuple(sorted({term for word in words(path) for term in numbered(word)})) for path in paths]
    lengths = np.concatenate([np.zeros((0, FIELDS), np.uint32), *(digest.lengths for digest in digests)])
    together = np.zeros((len(paths), FIELDS))
    np.add.at(together, owners, lengths)
    entries = _entries(digests, firsts, named)
    chunks = _postings(entries, lengths, _Scale(PATH_WEIGHT, K1, below and below.chunks.mean))
    entries = _of_files(entries, owners)
    scale = _Scale(FILE_PATH_WEIGHT, FILE_K1, below and below.files.mean)
    known = references(digests) if below is None else None
    return Frame(
        paths=paths,
        digests=digests,
        firsts=firsts,
        owners=owners,
        chunks=chunks,
        files=_postings(entries, together, scale),
        holders=_holders(named),
        stems=tuple(tuple(stem(path)) for path in paths),
        asides=_asides(paths),
        standing=known.standing if known is not None else _standing_as(below, paths),
        references=known,
        below=below,
        gone=gone,
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    """How counts become weights."""

    path: float
    k1: float
    mean: Floats | None
    """Of the terms of an owner, where another frame says it."""


@dataclass(frozen=True, slots=True)
class _Entries:
    """Terms by owner, each pair once, ordered by term and then by owner."""

    terms: Numbers
    owners: npt.NDArray[np.int32]
    counts: tuple[npt.NDArray[Any], ...]
    """For each field, and whether the term stands in the path."""


def _entries(digests: tuple[Digest, ...], firsts: Integers, named: Sequence[Sequence[int]]) -> _Entries:
    """The entries of all chunks. What is large here is held in few bytes, and a column at a time."""
    most = sum(len(one.terms) + one.size * len(path) for one, path in zip(digests, named, strict=True))
    terms, owners = np.zeros(most, np.uint32), np.zeros(most, np.int32)
    counts = np.zeros((FIELDS + 1, most), np.uint8)
    end = 0
    for digest, first, path in zip(digests, firsts.tolist(), named, strict=False):
        own, of, counted = _with_path(digest, first, path)
        begin, end = end, end + len(own)
        terms[begin:end], owners[begin:end], counts[:, begin:end] = own, of, counted.T
    order = np.argsort(terms[:end], kind="stable")  # the owners ascend already
    return _Entries(terms[order], owners[order], tuple(count[order] for count in counts))


def _with_path(digest: Digest, first: int, path: Sequence[int]) -> tuple[Numbers, npt.NDArray[np.int32], Counts]:
    """The entries of a file ordered by chunk, the terms of its path among those of each chunk."""
    size = digest.size
    terms = np.concatenate([digest.terms, np.tile(np.array(path, np.uint32), size)])
    owners = np.concatenate([digest.owners, np.repeat(np.arange(size, dtype=np.uint32), len(path))])
    counts = np.zeros((len(terms), FIELDS + 1), np.uint8)
    counts[: len(digest.terms), :FIELDS] = digest.counts
    counts[len(digest.terms) :, FIELDS] = 1
    keys = owners.astype(np.uint64) << np.uint64(32) | terms
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
    if not len(starts):
        return terms, owners.astype(np.int32), counts
    each = order[starts]
    return terms[each], (owners[each] + first).astype(np.int32), np.add.reduceat(counts[order], starts, axis=0)


def _of_files(entries: _Entries, owners: npt.NDArray[np.int32]) -> _Entries:
    """The entries of whole files; `owners` says the file of each chunk."""
    files = owners[entries.owners]
    if not len(files):
        return entries
    new = (entries.terms[1:] != entries.terms[:-1]) | (files[1:] != files[:-1])
    starts = np.flatnonzero(np.concatenate([[True], new]))
    counts = [np.add.reduceat(count, starts, dtype=np.float32) for count in entries.counts[:FIELDS]]
    in_path = np.maximum.reduceat(entries.counts[FIELDS], starts)
    return _Entries(entries.terms[starts], files[starts], (*counts, in_path))


def _postings(entries: _Entries, lengths: npt.NDArray[Any], scale: _Scale) -> Postings:
    mean = scale.mean
    if mean is None:
        mean = np.maximum(lengths.mean(axis=0), 1e-9) if len(lengths) else np.ones(FIELDS)
    shares = (WEIGHTS / (1 - LENGTH + LENGTH * lengths / mean)).astype(np.float32)
    *counts, in_path = entries.counts
    weights: npt.NDArray[np.float32] = in_path.astype(np.float32) * np.float32(scale.path)
    fields: Counts = (in_path > 0).astype(np.uint8) * np.uint8(IN_PATH)
    for field, count in enumerate(counts):
        weights += (count * shares[entries.owners, field]).astype(np.float32, copy=False)
        fields |= (count > 0).astype(np.uint8) << np.uint8(field)
    new = entries.terms[1:] != entries.terms[:-1]
    begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(entries.terms)), bool), new]))
    return Postings(
        terms=entries.terms[begins],
        begins=np.append(begins, len(entries.terms)),
        owners=entries.owners,
        weights=(weights / (weights + np.float32(scale.k1))).astype(np.float32, copy=False),
        fields=fields,
        mean=mean,
        size=len(lengths),
    )


def _holders(named: Sequence[Sequence[int]]) -> Holders:
    terms = np.array([term for one in named for term in one], np.uint32)
    files = np.repeat(np.arange(len(named), dtype=np.int32), [len(one) for one in named])
    order = np.argsort(terms, kind="stable")
    terms = terms[order]
    begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(terms)), bool), terms[1:] != terms[:-1]]))
    return Holders(terms[begins], np.append(begins, len(terms)), files[order])


def _asides(paths: tuple[str, ...]) -> dict[frozenset[int], Integers]:
    found: dict[frozenset[int], list[int]] = {}
    for file, path in enumerate(paths):
        asking = aside(path)
        if asking:
            found.setdefault(asking, []).append(file)
    return {asking: np.array(files) for asking, files in found.items()}


def _standing_as(below: Frame | None, paths: tuple[str, ...]) -> Floats:
    """The standing that the files had; a new one has none yet."""
    standing = np.zeros(len(paths))
    for own, path in enumerate(paths if below is not None else ()):
        if below is not None and (at := below.places.get(path)) is not None:
            standing[own] = below.standing[at]
    return standing


def _ordered(paths: Sequence[str]) -> Iterator[str]:
    """Sorted; one call for very many would hold every other thread as long as it takes."""
    return merge(*(sorted(paths[at : at + TOGETHER]) for at in range(0, len(paths), TOGETHER)))
