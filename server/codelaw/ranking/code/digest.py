"""What the index keeps of one file: its chunks, its symbols, and the terms of each chunk by field (X-5).

No text is kept, only numbers of terms and the names of symbols. `packed` is its form on the disk; what it holds is
valid only for the `FORMAT` it was written with.
"""

from __future__ import annotations

import re
import struct
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from codelaw.ports.code import Symbol
from codelaw.ranking.code.symbols import is_document, read
from codelaw.ranking.words import number, terms

FORMAT = 4
DEFINED, CODE, COMMENT = 0, 1, 2
"""The fields of a chunk: names that it defines, its code, and what is written for people."""
FIELDS = 3
MOST_COUNTED = 255
NUMBER = np.dtype("<u4")
_SIZES = struct.Struct("<6I")
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_NAME = re.compile(r"[A-Za-z_]\w{2,79}")

Numbers = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Digest:
    """One file as it is ranked.

    It is two plain objects, whatever the file holds: of small files arrays and tuples would take more than what is in
    them, and a large workspace has hundreds of thousands. Nor does the garbage collector look into them, which would
    stop every thread.
    """

    names: str
    """A line each: the symbol that each chunk belongs to, the name of each symbol, and the kind of each symbol."""
    data: bytes
    """`_SIZES` of what follows, as `NUMBER`: terms of the entries, `lengths`, `defined`, `used`, the lines of chunks
    and then of symbols, how many entries each chunk has; behind that `counts`."""

    @property
    def size(self) -> int:
        """How many chunks there are."""
        return _SIZES.unpack_from(self.data)[5]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(map(self.chunk, range(self.size)))

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return self._symbols(0, len(self._part(4)) // 2 - self.size)

    @property
    def defines(self) -> bool:
        """Whether there is a symbol."""
        return len(self._part(4)) > 2 * self.size

    @property
    def terms(self) -> Numbers:
        """One entry for each term of each chunk."""
        return self._part(0)

    @property
    def owners(self) -> Numbers:
        """The chunk of each entry."""
        return np.repeat(np.arange(self.size, dtype=np.uint32), self._part(5))

    @property
    def counts(self) -> Counts:
        """How often an entry's term stands there: a row of `FIELDS` numbers for each."""
        begin = len(self.data) - FIELDS * len(self.terms)
        return np.frombuffer(self.data, np.uint8, offset=begin).reshape(-1, FIELDS)

    @property
    def lengths(self) -> Numbers:
        """Terms of each chunk: a row of `FIELDS` numbers for each."""
        return self._part(1).reshape(-1, FIELDS)

    @property
    def defined(self) -> Numbers:
        """The names that the file defines."""
        return self._part(2)

    @property
    def used(self) -> Numbers:
        """The names that stand in it."""
        return self._part(3)

    def chunk(self, at: int) -> Chunk:
        """The chunk of this number."""
        start, end = self._part(4)[2 * at : 2 * at + 2].tolist()
        return Chunk(start, end, _lines_of(self.names)[at])

    def beginning(self, start: int, end: int) -> tuple[Symbol, ...]:
        """The symbols that begin in these lines, the last one not included."""
        starts = self._part(4)[2 * self.size :: 2].tolist()
        return self._symbols(bisect_left(starts, start), bisect_left(starts, end))

    def packed(self) -> bytes:
        """For the disk."""
        names = self.names.encode("utf-8", "surrogatepass")
        return zlib.compress(len(names).to_bytes(4, "little") + names + self.data, 1)

    def _part(self, number: int) -> Numbers:
        sizes = _SIZES.unpack_from(self.data)
        return np.frombuffer(self.data, NUMBER, sizes[number], _SIZES.size + NUMBER.itemsize * sum(sizes[:number]))

    def _symbols(self, first: int, last: int) -> tuple[Symbol, ...]:
        size, lines = self.size, self._part(4)[2 * self.size :].tolist()
        kinds, names = size + len(lines) // 2, _lines_of(self.names)
        return tuple(
            Symbol(names[size + at], names[kinds + at], lines[2 * at], lines[2 * at + 1]) for at in range(first, last)
        )


@lru_cache(maxsize=256)
def _lines_of(names: str) -> tuple[str, ...]:
    return tuple(names.split("\n"))


def unpacked(data: bytes) -> Digest:
    """What `Digest.packed` has written.

    Raises:
        ValueError: it is something else.
    """
    try:
        raw = zlib.decompress(data)
        begin = 4 + int.from_bytes(raw[:4], "little")
        found = Digest(raw[4:begin].decode("utf-8", "surrogatepass"), raw[begin:])
        sizes = _SIZES.unpack_from(found.data)
        if len(found.data) != _SIZES.size + NUMBER.itemsize * sum(sizes) + FIELDS * sizes[0]:
            raise ValueError("the sizes of a digest do not agree")
        if found.names.count("\n") + 1 != sizes[4] - sizes[5] or len(found.owners) != sizes[0]:
            raise ValueError("an entry or a name of a digest has no chunk")
    except (zlib.error, struct.error) as error:
        raise ValueError(f"no digest: {error}") from error
    return found


def digested(path: str, text: str) -> Digest:
    """What is kept of the file at `path`, as the user sees it."""
    found = read(path, text)
    if is_document(path):
        code, words = text, ""
    else:
        code, words = _apart(text, found.comments)
    count = text.count("\n") + (not text.endswith("\n"))
    pieces = chunks(max(count, 1), found.symbols)
    named: dict[int, list[str]] = {}
    for symbol in found.symbols:
        named.setdefault(symbol.start, []).append(symbol.name)
    fields = (_lines(code, count), _lines(words, count))
    entries = array("I")
    many: list[int] = []
    counts = bytearray()
    lengths: list[tuple[int, ...]] = []
    for piece in pieces:
        names = [name for line in range(piece.start, piece.end) for name in named.get(line, ())]
        texts = ("\n".join([piece.symbol, *names]), *("\n".join(part[piece.start : piece.end]) for part in fields))
        counted = [_counted(part) for part in texts]
        lengths.append(tuple(part.total() for part in counted))
        together = dict.fromkeys(term for part in counted for term in part)
        entries.extend(together)
        many.append(len(together))
        for term in together:
            counts.extend(min(part[term], MOST_COUNTED) for part in counted)
    defined = _numbers({symbol.name for symbol in found.symbols if symbol.kind != "heading"})
    used = _numbers(set(_NAME.findall(text)))
    lines = [line for one in (*pieces, *found.symbols) for line in (one.start, one.end)]
    numbers = (entries, [one for row in lengths for one in row], defined, used, lines, many)
    sizes = _SIZES.pack(*map(len, numbers))
    names = (*(piece.symbol for piece in pieces), *(symbol.name for symbol in found.symbols))
    return Digest(
        names="\n".join([*names, *(symbol.kind for symbol in found.symbols)]),
        data=b"".join([sizes, *(np.array(part, NUMBER).tobytes() for part in numbers), counts]),
    )


@lru_cache(maxsize=50_000)
def numbered(word: str) -> tuple[int, ...]:
    """The terms of one word as numbers."""
    return tuple(map(number, terms(word)))


def words(text: str) -> list[str]:
    """The words of a text, identifiers whole."""
    return _WORD.findall(text)


def _counted(text: str) -> Counter[int]:
    return Counter(term for word in _WORD.findall(text) for term in numbered(word))


def _numbers(names: set[str]) -> Numbers:
    return np.array(sorted(zlib.crc32(name.encode("utf-8", "replace")) for name in names), np.uint32)


def _apart(text: str, comments: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """The code and the comments of a text, each with all line breaks where they were."""
    if not comments:
        return text, ""
    data = text.encode("utf-8", "replace")
    code: list[bytes] = []
    words: list[bytes] = []
    at = 0
    for start, end in comments:
        begin = max(start, at)
        if begin >= end:
            continue
        between, comment = data[at:begin], data[begin:end]
        code += (between, b"\n" * comment.count(b"\n"))
        words += (b"\n" * between.count(b"\n"), b" ", comment)
        at = end
    code.append(data[at:])
    return b"".join(code).decode("utf-8", "replace"), b"".join(words).decode("utf-8", "replace")


def _lines(text: str, count: int) -> list[str]:
    lines = text.split("\n")
    return lines + [""] * (count - len(lines))


LINES = 40
"""Of a chunk, at most; what is longer becomes windows."""
STRIDE = 30
"""From one window's begin to the next one's, so that neighbours overlap."""
SMALL = 4
"""A piece of so few lines joins its neighbour."""
MOST = 2_000
"""Chunks of one file; what lies behind them is not indexed."""
_WHOLE = frozenset({"function", "method", "macro", "heading"})
_AROUND = frozenset({"class", "interface", "struct", "trait", "impl", "module", "enum", "type"})


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines `start` to `end`, counted from zero, the end not included; `symbol` is what they belong to."""

    start: int
    end: int
    symbol: str = ""


def chunks(lines: int, symbols: Sequence[Symbol]) -> list[Chunk]:
    """The chunks of a file of so many lines, in order: a function each, what stands between, and windows of both."""
    if not any(symbol.kind in _WHOLE or symbol.kind in _AROUND for symbol in symbols):
        return [Chunk(start, end) for start, end in _windows(0, lines)][:MOST]
    owners, names = _owners(lines, symbols)
    pieces: list[Chunk] = []
    start = 0
    for at in range(1, lines + 1):
        if at < lines and owners[at] == owners[start]:
            continue
        name = names[owners[start]] if owners[start] >= 0 else ""
        pieces += (Chunk(begin, end, name) for begin, end in _windows(start, at))
        start = at
    return _joined(pieces)[:MOST]


def _owners(lines: int, symbols: Sequence[Symbol]) -> tuple[list[int], list[str]]:
    """For each line the function it stands in, else the class, else -1; functions inside functions are parts of it."""
    owners = [-1] * lines
    names: list[str] = []
    around: list[Symbol] = []
    held = 0  # the end of the function that we are in
    for symbol in symbols:
        whole = symbol.kind in _WHOLE
        names.append(symbol.name)
        if (not whole and symbol.kind not in _AROUND) or (symbol.start < held and symbol.end <= held):
            continue
        while around and around[-1].end <= symbol.start:
            around.pop()
        if around:
            names[-1] = f"{around[-1].name}.{symbol.name}"
        owners[symbol.start : symbol.end] = [len(names) - 1] * (min(symbol.end, lines) - min(symbol.start, lines))
        if whole:
            held = max(held, symbol.end)
        else:
            around.append(symbol)
    return owners, names


def _windows(start: int, end: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while True:
        found.append((start, min(start + LINES, end)))
        if start + LINES >= end:
            return found
        start += STRIDE


def _joined(pieces: Sequence[Chunk]) -> list[Chunk]:
    """With small neighbours in one."""
    joined: list[Chunk] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        small = last is not None and min(piece.end - piece.start, last.end - last.start) <= SMALL
        if last is not None and small and last.end == piece.start and piece.end - last.start <= LINES:
            joined[-1] = Chunk(last.start, piece.end, last.symbol or piece.symbol)
        else:
            joined.append(piece)
    return joined
