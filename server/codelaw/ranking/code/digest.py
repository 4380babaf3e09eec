"""What the index keeps of one file: its chunks, its symbols, and the terms of each chunk by field (X-5).

No text is kept, only numbers of terms and the names of symbols. `packed` is its form on the disk; what it holds is
valid only for the `FORMAT` it was written with.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from codelaw.ports.code import Symbol
from codelaw.ranking.code.chunks import Chunk, chunks
from codelaw.ranking.code.symbols import is_document, read
from codelaw.ranking.words import number, terms

FORMAT = 1
DEFINED, CODE, COMMENT = 0, 1, 2
"""The fields of a chunk: names that it defines, its code, and what is written for people."""
FIELDS = 3
MOST_COUNTED = 255
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_NAME = re.compile(r"[A-Za-z_]\w{2,79}")

Numbers = npt.NDArray[np.uint32]
Counts = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Digest:
    """One file as it is ranked.

    Its numbers lie in two arrays and its names in plain tuples, which the garbage collector does not look at: a large
    workspace has hundreds of thousands of chunks and symbols, and it would stop every thread to visit them.
    """

    owning: tuple[str, ...]
    """The symbol that each chunk belongs to."""
    names: tuple[str, ...]
    """The name of each symbol."""
    kinds: tuple[str, ...]
    """The kind of each symbol."""
    sizes: tuple[int, int, int]
    """How many entries, names that are defined, and names that stand in it."""
    numbers: Numbers
    """Terms and owners of the entries, `lengths`, `defined`, `used`, the lines of chunks, and those of symbols."""
    counts: Counts
    """How often an entry's term stands there: a row of `FIELDS` numbers for each."""

    @property
    def size(self) -> int:
        """How many chunks there are."""
        return len(self.owning)

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(map(self.chunk, range(self.size)))

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return self._symbols(0, len(self.names))

    @property
    def terms(self) -> Numbers:
        """One entry for each term of each chunk."""
        return self.numbers[: self.sizes[0]]

    @property
    def owners(self) -> Numbers:
        """The chunk of each entry."""
        return self.numbers[self.sizes[0] : 2 * self.sizes[0]]

    @property
    def lengths(self) -> Numbers:
        """Terms of each chunk: a row of `FIELDS` numbers for each."""
        begin = 2 * self.sizes[0]
        return self.numbers[begin : begin + FIELDS * self.size].reshape(-1, FIELDS)

    @property
    def defined(self) -> Numbers:
        """The names that the file defines."""
        begin = 2 * self.sizes[0] + FIELDS * self.size
        return self.numbers[begin : begin + self.sizes[1]]

    @property
    def used(self) -> Numbers:
        """The names that stand in it."""
        begin = 2 * self.sizes[0] + FIELDS * self.size + self.sizes[1]
        return self.numbers[begin : begin + self.sizes[2]]

    def chunk(self, at: int) -> Chunk:
        """The chunk of this number."""
        begin = len(self.numbers) - 2 * (len(self.names) + self.size - at)
        start, end = self.numbers[begin : begin + 2].tolist()
        return Chunk(start, end, self.owning[at])

    def beginning(self, start: int, end: int) -> tuple[Symbol, ...]:
        """The symbols that begin in these lines, the last one not included."""
        starts = self.numbers[len(self.numbers) - 2 * len(self.names) :: 2] if self.names else self.numbers[:0]
        first, last = starts.searchsorted([start, end]).tolist()
        return self._symbols(first, last)

    def _symbols(self, first: int, last: int) -> tuple[Symbol, ...]:
        begin = len(self.numbers) - 2 * len(self.names)
        lines = self.numbers[begin + 2 * first : begin + 2 * last].tolist()
        told = zip(self.names[first:last], self.kinds[first:last], lines[::2], lines[1::2], strict=True)
        return tuple(Symbol(*one) for one in told)

    def packed(self) -> bytes:
        """For the disk."""
        lines = self.numbers[len(self.numbers) - 2 * (len(self.names) + self.size) :].reshape(-1, 2).tolist()
        pieces = zip(lines, self.owning, strict=False)
        symbols = zip(self.names, self.kinds, lines[self.size :], strict=True)
        head = {
            "chunks": [[start, end, symbol] for (start, end), symbol in pieces],
            "symbols": [[name, kind, start, end] for name, kind, (start, end) in symbols],
            "sizes": self.sizes,
        }
        told = json.dumps(head, separators=(",", ":")).encode()
        body = self.numbers[: len(self.numbers) - 2 * len(lines)].astype("<u4").tobytes() + self.counts.tobytes()
        return zlib.compress(len(told).to_bytes(4, "little") + told + body, 1)


def unpacked(data: bytes) -> Digest:
    """What `Digest.packed` has written.

    Raises:
        ValueError: it is something else.
    """
    try:
        raw = zlib.decompress(data)
        begin = 4 + int.from_bytes(raw[:4], "little")
        head = json.loads(raw[4:begin])
        entries, defined, used = sizes = tuple(map(int, head["sizes"]))
        pieces, symbols = head["chunks"], head["symbols"]
        lines = [line for start, end, _ in pieces for line in (start, end)]
        lines += (line for _, _, start, end in symbols for line in (start, end))
        size = 2 * entries + FIELDS * len(pieces) + defined + used
        if min(sizes) < 0 or begin + 4 * size + FIELDS * entries != len(raw):
            raise ValueError("the sizes of a digest do not agree")
        numbers = np.concatenate([np.frombuffer(raw, "<u4", size, begin), np.array(lines, np.uint32)])
        if entries and int(numbers[entries : 2 * entries].max()) >= len(pieces):
            raise ValueError("an entry of a digest has no chunk")
        return Digest(
            owning=tuple(str(one[2]) for one in pieces),
            names=tuple(str(one[0]) for one in symbols),
            kinds=tuple(sys.intern(str(one[1])) for one in symbols),
            sizes=(entries, defined, used),
            numbers=numbers,
            counts=np.frombuffer(raw, np.uint8, entries * FIELDS, begin + 4 * size).reshape(-1, FIELDS).copy(),
        )
    except (zlib.error, KeyError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"no digest: {error}") from error


def digested(path: str, text: str) -> Digest:
    """What is kept of the file at `path`, as the user sees it."""
    found = read(path, text)
    if is_document(path):
        code, words = "", text
    else:
        code, words = _apart(text, found.comments)
    count = text.count("\n") + (not text.endswith("\n"))
    pieces = chunks(max(count, 1), found.symbols)
    named: dict[int, list[str]] = {}
    for symbol in found.symbols:
        named.setdefault(symbol.start, []).append(symbol.name)
    fields = (_lines(code, count), _lines(words, count))
    entries = array("I")
    owners = array("I")
    counts = bytearray()
    lengths: list[tuple[int, ...]] = []
    for owner, piece in enumerate(pieces):
        names = [name for line in range(piece.start, piece.end) for name in named.get(line, ())]
        texts = ("\n".join([piece.symbol, *names]), *("\n".join(part[piece.start : piece.end]) for part in fields))
        counted = [_counted(part) for part in texts]
        lengths.append(tuple(part.total() for part in counted))
        together = dict.fromkeys(term for part in counted for term in part)
        entries.extend(together)
        owners.extend([owner] * len(together))
        for term in together:
            counts.extend(min(part[term], MOST_COUNTED) for part in counted)
    defined = _numbers({symbol.name for symbol in found.symbols if symbol.kind != "heading"})
    used = _numbers(set(_NAME.findall(text)))
    lines = [line for one in (*pieces, *found.symbols) for line in (one.start, one.end)]
    numbers = (entries, owners, [one for row in lengths for one in row], defined, used, lines)
    return Digest(
        owning=tuple(piece.symbol for piece in pieces),
        names=tuple(symbol.name for symbol in found.symbols),
        kinds=tuple(symbol.kind for symbol in found.symbols),
        sizes=(len(entries), len(defined), len(used)),
        numbers=np.concatenate([np.array(part, np.uint32) for part in numbers]),
        counts=np.frombuffer(counts, np.uint8).reshape(-1, FIELDS).copy(),
    )


@lru_cache(maxsize=200_000)
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
