"""All files of an index side by side, ready to be asked (X-5).

BM25F (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted Fields", CIKM 2004) over chunks and
over whole files: the counts of a term in several fields are weighted and added before they saturate. What does not
depend on the question is worked out once, so that a question only adds up what stands at its terms.

A few files that have changed are a small frame of their own over the large one, which lends them its statistics: so an
edit costs what the edited file is worth.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any

import numpy as np
import numpy.typing as npt

from codelaw.ranking.code.digest import FIELDS, Digest, numbered, words
from codelaw.ranking.code.paths import aside, stem
from codelaw.ranking.code.references import FileLinks, references

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
SLAB = 500_000
"""Entries that are weighed together."""
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

    def rarities(self, terms: Numbers) -> Floats:
        """How rare each of these terms is: its idf."""
        if not len(self.terms):
            return np.zeros(len(terms))
        at = np.minimum(self.terms.searchsorted(terms), len(self.terms) - 1)
        held = np.where(self.terms[at] == terms, self.begins[at + 1] - self.begins[at], 0)
        return np.log(1 + (np.maximum(0, self.size - held) + 0.5) / (held + 0.5))


@dataclass(frozen=True)
class Holders:
    """The files whose path, or whose name, has a term."""

    terms: Numbers
    """Each once, ascending."""
    begins: Integers
    """Where the files of each term begin; one more at the end."""
    files: Integers

    def of(self, term: int) -> Integers:
        at = int(self.terms.searchsorted(np.uint32(term)))
        if at == len(self.terms) or int(self.terms[at]) != term:
            return self.files[:0]
        return self.files[int(self.begins[at]) : int(self.begins[at + 1])]


@dataclass(frozen=True, slots=True)
class FileNumbers:
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
    stems: Holders
    """By the terms of files' names."""
    rarities: Floats
    """How rare the terms of each file's name are, added."""
    asides: Mapping[frozenset[int], Integers]
    """The files that stand aside, by the terms that ask for them."""
    standing: Floats
    """How many other files use what a file defines, as the logarithm of one more."""
    references: FileLinks | None = None
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
    def places(self) -> FileNumbers:
        """The number of each file."""
        return FileNumbers(self.paths)


def framed(files: Mapping[str, Digest], below: Frame | None = None, gone: frozenset[str] = frozenset()) -> Frame:
    """The frame of files by their path, over another one where that is given."""
    paths = tuple(_ordered(list(files)))
    digests = tuple(files[path] for path in paths)
    sizes = np.array([digest.size for digest in digests], np.int64)
    firsts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owners = np.repeat(np.arange(len(paths), dtype=np.int32), sizes)
    known = references(digests) if below is None else None
    named = _listed({term for word in words(path) for term in numbered(word)} for path in paths)
    stems = _listed(stem(path) for path in paths)
    holders, by_stem = _holders(named), _holders(stems)  # before the entries, which take most memory
    lengths = np.zeros((int(firsts[-1]), FIELDS), np.uint32)
    for first, digest in zip(firsts.tolist(), digests, strict=False):
        lengths[first : first + digest.size] = digest.lengths
    together = np.zeros((len(paths), FIELDS))
    np.add.at(together, owners, lengths)
    entries = _entries(digests, firsts, named)
    chunks = _postings(entries, lengths, _Scale(PATH_WEIGHT, K1, below and below.chunks.mean))
    scale = _Scale(FILE_PATH_WEIGHT, FILE_K1, below and below.files.mean)
    held = _postings(entries, together, scale, owners)
    rarities = (below.files if below is not None else held).rarities(stems.terms)
    return Frame(
        paths=paths,
        digests=digests,
        firsts=firsts,
        owners=owners,
        chunks=chunks,
        files=held,
        holders=holders,
        stems=by_stem,
        rarities=np.bincount(stems.files, rarities, len(paths)).astype(np.float64),
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
    counts: Sequence[npt.NDArray[np.uint8]]
    """For each field, and behind them whether the term stands in the path."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """The terms of each file, ascending."""

    terms: Numbers
    begins: Integers
    """Where those of each file begin; one more at the end."""

    @property
    def files(self) -> npt.NDArray[np.int32]:
        """The file of each term."""
        return np.repeat(np.arange(len(self.begins) - 1, dtype=np.int32), np.diff(self.begins))


def _listed(terms: Iterable[Iterable[int]]) -> _Listed:
    """No list of lists, which would be large."""
    found, begins = array("I"), array("q", [0])
    for one in terms:
        found.extend(sorted(one))
        begins.append(len(found))
    return _Listed(np.array(found, np.uint32), np.array(begins, np.int64))


def _entries(digests: tuple[Digest, ...], firsts: Integers, named: _Listed) -> _Entries:
    """The entries of all chunks. What is large here is held in few bytes, and a column at a time."""
    begins = named.begins.tolist()
    most = sum(len(one.terms) + one.size * (begins[at + 1] - begins[at]) for at, one in enumerate(digests))
    terms, owners = np.zeros(most, np.uint32), np.zeros(most, np.int32)
    counts = [np.zeros(most, np.uint8) for _ in range(FIELDS + 1)]
    end = 0
    for at, (digest, first) in enumerate(zip(digests, firsts.tolist(), strict=False)):
        own, of, counted = _with_path(digest, first, named.terms[begins[at] : begins[at + 1]])
        begin, end = end, end + len(own)
        terms[begin:end], owners[begin:end] = own, of
        for field, count in enumerate(counts):
            count[begin:end] = counted[:, field]
    order = np.argsort(terms[:end], kind="stable")  # the owners ascend already
    terms, owners = terms[order], owners[order]
    for field in range(len(counts)):
        counts[field] = counts[field][order]
    return _Entries(terms, owners, counts)


def _with_path(digest: Digest, first: int, path: Numbers) -> tuple[Numbers, npt.NDArray[np.int32], Counts]:
    """The entries of a file ordered by chunk, the terms of its path among those of each chunk."""
    size, own = digest.size, digest.terms
    terms = np.concatenate([own, np.tile(path, size)])
    owners = np.concatenate([digest.owners, np.repeat(np.arange(size, dtype=np.uint32), len(path))])
    counts = np.zeros((len(terms), FIELDS + 1), np.uint8)
    counts[: len(own), :FIELDS] = digest.counts
    counts[len(own) :, FIELDS] = 1
    keys = owners.astype(np.uint64) << np.uint64(32) | terms
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
    if not len(starts):
        return terms, owners.astype(np.int32), counts
    each = order[starts]
    return terms[each], (owners[each] + first).astype(np.int32), np.add.reduceat(counts[order], starts, axis=0)


def _postings(entries: _Entries, lengths: npt.NDArray[Any], scale: _Scale, files: Integers | None = None) -> Postings:
    """The postings of chunks; of whole files where `files` says the file of each chunk."""
    mean = scale.mean
    if mean is None:
        mean = np.maximum(lengths.mean(axis=0), 1e-9) if len(lengths) else np.ones(FIELDS)
    shares = (WEIGHTS / (1 - LENGTH + LENGTH * lengths / mean)).astype(np.float32)
    most = len(entries.terms)
    owners, weights = np.empty(most, np.int32), np.empty(most, np.float32)
    fields = np.empty(most, np.uint8)
    terms: list[Numbers] = [entries.terms[:0]]
    begins: list[Integers] = [np.zeros(0, np.int64)]
    end = 0
    for own in _slabs(entries.terms):
        held, of = entries.terms[own], entries.owners[own]
        counts = [count[own] for count in entries.counts]
        if files is not None:
            of = files[of]
            starts = np.flatnonzero(np.concatenate([[True], (held[1:] != held[:-1]) | (of[1:] != of[:-1])]))
            held, of = held[starts], of[starts]
            in_path = np.maximum.reduceat(counts.pop(), starts)
            counts = [np.add.reduceat(count, starts, dtype=np.float32) for count in counts] + [in_path]
        begin, end = end, end + len(held)
        owners[begin:end] = of
        weights[begin:end], fields[begin:end] = _weighed(counts, shares[of], scale)
        firsts = np.flatnonzero(np.concatenate([[True], held[1:] != held[:-1]]))
        terms.append(held[firsts])
        begins.append(firsts + begin)
    for column in (owners, weights, fields):
        column.resize(end, refcheck=False)  # what was too much is given back, as no copy would
    return Postings(
        terms=np.concatenate(terms),
        begins=np.append(np.concatenate(begins), end),
        owners=owners,
        weights=weights,
        fields=fields,
        mean=mean,
        size=len(lengths),
    )


def _slabs(terms: Numbers) -> Iterator[slice]:
    """Parts of about `SLAB` entries, each with all entries of its terms: what is worked out of one is soon free."""
    begin = 0
    while begin < len(terms):
        last = int(terms[min(begin + SLAB, len(terms)) - 1])
        end = int(terms.searchsorted(np.uint32(last), side="right"))
        yield slice(begin, end)
        begin = end


def _weighed(
    counts: Sequence[npt.NDArray[Any]], shares: npt.NDArray[np.float32], scale: _Scale
) -> tuple[npt.NDArray[np.float32], Counts]:
    """What entries count, and the fields in which they stand; `shares` is what one term of each field is worth."""
    *counted, in_path = counts
    weights: npt.NDArray[np.float32] = in_path.astype(np.float32) * np.float32(scale.path)
    fields: Counts = (in_path > 0).astype(np.uint8) * np.uint8(IN_PATH)
    for field, count in enumerate(counted):
        weights += (count * shares[:, field]).astype(np.float32, copy=False)
        fields |= (count > 0).astype(np.uint8) << np.uint8(field)
    return (weights / (weights + np.float32(scale.k1))).astype(np.float32, copy=False), fields


def _holders(named: _Listed) -> Holders:
    order = np.argsort(named.terms, kind="stable")
    terms = named.terms[order]
    begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(terms)), bool), terms[1:] != terms[:-1]]))
    return Holders(terms[begins], np.append(begins, len(terms)), named.files[order])


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
