"""All files of an index side by side, ready to be asked (X-5).

BM25F (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted Fields", CIKM 2004) over chunks and
over whole files: the counts of a term in several fields are weighted and added before they saturate. What does not
depend on the question is worked out once, so that a question only adds up what stands at its terms.

A few files that have changed are a small frame of their own over the large one, which lends them its statistics: so an
edit costs what the edited file is worth.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from codelaw.ranking.code.digest import FIELDS, Digest, numbered, words
from codelaw.ranking.code.paths import aside, stem

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
class ByTerm:
    """Entries ordered by term."""

    terms: Numbers
    """Each once, ascending."""
    begins: Integers
    """Where the entries of each term begin; one more at the end."""
    size: int
    """How many owners there are."""

    def of(self, term: int) -> slice:
        at = int(self.terms.searchsorted(np.uint32(term)))
        if at == len(self.terms) or int(self.terms[at]) != term:
            return slice(0, 0)
        return slice(int(self.begins[at]), int(self.begins[at + 1]))

    def rarity(self, term: int) -> float:
        """How rare a term is: its idf."""
        found = self.of(term)
        count = found.stop - found.start
        return math.log(1 + (max(0, self.size - count) + 0.5) / (count + 0.5))


@dataclass(frozen=True)
class Holders(ByTerm):
    """The files whose path, or whose name, has a term."""

    files: Integers

    def holding(self, term: int) -> Integers:
        return self.files[self.of(term)]


@dataclass(frozen=True)
class Postings(ByTerm):
    """Where each term stands and how much it counts there."""

    owners: Integers
    weights: npt.NDArray[np.float32]
    fields: npt.NDArray[np.uint8]
    """A bit for each field in which it stands; the highest one is the path's."""
    mean: Floats
    """Terms of an owner, by field."""


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
        return path in self.gone or self.number(path) is not None

    def number(self, path: str) -> int | None:
        """The number of a file. A dictionary would cost more than all else that a search after an edit does."""
        at = bisect_left(self.paths, path)
        return at if at < len(self.paths) and self.paths[at] == path else None


def framed(files: Mapping[str, Digest], below: Frame | None = None, gone: frozenset[str] = frozenset()) -> Frame:
    """The frame of files by their path, over another one where that is given."""
    names = list(files)  # one call for very many would hold every other thread as long as it takes
    paths = tuple(merge(*(sorted(names[at : at + TOGETHER]) for at in range(0, len(names), TOGETHER))))
    digests = tuple(files[path] for path in paths)
    sizes = np.array([digest.size for digest in digests], np.int64)
    firsts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    owners = np.repeat(np.arange(len(paths), dtype=np.int32), sizes)
    known = references(digests) if below is None else None
    named = _listed({term for word in words(path) for term in numbered(word)} for path in paths)
    stems = _listed(stem(path) for path in paths)
    holders, by_stem = _holders(named, len(paths)), _holders(stems, len(paths))  # before the entries: most memory
    lengths = np.zeros((int(firsts[-1]), FIELDS), np.uint32)
    for first, digest in zip(firsts.tolist(), digests, strict=False):
        lengths[first : first + digest.size] = digest.lengths
    together = np.zeros((len(paths), FIELDS))
    np.add.at(together, owners, lengths)
    entries = _entries(digests, firsts, named)
    chunks = _postings(entries, lengths, PATH_WEIGHT, K1, below and below.chunks.mean)
    held = _postings(entries, together, FILE_PATH_WEIGHT, FILE_K1, below and below.files.mean, files=owners)
    # A new file over another frame has no standing yet.
    before = [below.number(path) if below is not None else None for path in paths]
    standing = [0.0 if below is None or at is None else below.standing[at] for at in before]
    everywhere = below.files if below is not None else held
    rarities = np.repeat([everywhere.rarity(term) for term in by_stem.terms.tolist()], np.diff(by_stem.begins))
    return Frame(
        paths=paths,
        digests=digests,
        firsts=firsts,
        owners=owners,
        chunks=chunks,
        files=held,
        holders=holders,
        stems=by_stem,
        rarities=np.bincount(by_stem.files, rarities, len(paths)).astype(np.float64),
        asides=_asides(paths),
        standing=known.standing if known is not None else np.array(standing, np.float64),
        references=known,
        below=below,
        gone=gone,
    )


_Entries = tuple[Numbers, npt.NDArray[np.int32], list[npt.NDArray[np.uint8]]]
"""Terms, their owners, and their counts for each field with behind them whether the term stands in the path; each pair
of a term and an owner once, ordered by term and then by owner."""


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
    return terms, owners, counts


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


def _postings(
    entries: _Entries,
    lengths: npt.NDArray[Any],
    path: float,
    k1: float,
    known: Floats | None,
    *,
    files: Integers | None = None,
) -> Postings:
    """The postings of chunks; of whole files where `files` says the file of each chunk.

    `known` is the mean of the terms of an owner, where another frame says it.
    """
    every_term, every_owner, every_count = entries
    usual = np.maximum(lengths.mean(axis=0), 1e-9) if len(lengths) else np.ones(FIELDS)
    mean: Floats = usual if known is None else known
    shares = (WEIGHTS / (1 - LENGTH + LENGTH * lengths / mean)).astype(np.float32)
    most = len(every_term)
    owners, weights = np.empty(most, np.int32), np.empty(most, np.float32)
    fields = np.empty(most, np.uint8)
    terms: list[Numbers] = [every_term[:0]]
    begins: list[Integers] = [np.zeros(0, np.int64)]
    end = 0
    for own in _slabs(every_term):
        held, of = every_term[own], every_owner[own]
        counts = [count[own] for count in every_count]
        if files is not None:
            of = files[of]
            starts = np.flatnonzero(np.concatenate([[True], (held[1:] != held[:-1]) | (of[1:] != of[:-1])]))
            held, of = held[starts], of[starts]
            in_path = np.maximum.reduceat(counts.pop(), starts)
            counts = [np.add.reduceat(count, starts, dtype=np.float32) for count in counts] + [in_path]
        begin, end = end, end + len(held)
        owners[begin:end] = of
        *counted, in_path = counts
        weight = in_path.astype(np.float32) * np.float32(path)
        field_bits = (in_path > 0).astype(np.uint8) * np.uint8(IN_PATH)
        for field, count in enumerate(counted):
            weight += (count * shares[of, field]).astype(np.float32, copy=False)
            field_bits |= (count > 0).astype(np.uint8) << np.uint8(field)
        weights[begin:end], fields[begin:end] = weight / (weight + np.float32(k1)), field_bits
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


def _holders(named: _Listed, size: int) -> Holders:
    order = np.argsort(named.terms, kind="stable")
    terms = named.terms[order]
    begins = np.flatnonzero(np.concatenate([np.ones(min(1, len(terms)), bool), terms[1:] != terms[:-1]]))
    return Holders(terms[begins], np.append(begins, len(terms)), size, named.files[order])


def _asides(paths: tuple[str, ...]) -> dict[frozenset[int], Integers]:
    found: dict[frozenset[int], list[int]] = {}
    for file, path in enumerate(paths):
        asking = aside(path)
        if asking:
            found.setdefault(asking, []).append(file)
    return {asking: np.array(files) for asking, files in found.items()}


MOST_DEFINERS = 3
"""A name that more files define says little of who uses whom."""
MOST_USERS = 200
"""A name that more files use says little of what they are about; it counts for how many use a file."""


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
