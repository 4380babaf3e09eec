"""What the index keeps of one file: its chunks, its symbols, and the terms of each chunk by field (X-5).

No text is kept, only numbers of terms and the names of symbols. `packed` is its form on the disk; what it holds is
valid only for the `FORMAT` it was written with.
"""

from __future__ import annotations

import json
import re
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


@dataclass(frozen=True)
class Digest:
    """One file as it is ranked."""

    chunks: tuple[Chunk, ...]
    symbols: tuple[Symbol, ...]
    terms: Numbers
    """One entry for each term of each chunk."""
    owners: Numbers
    """The chunk of each entry."""
    counts: npt.NDArray[np.uint8]
    """How often the term stands there: a row of `FIELDS` numbers for each entry."""
    lengths: Numbers
    """Terms of each chunk: a row of `FIELDS` numbers for each."""
    defined: Numbers
    """The names that the file defines."""
    used: Numbers
    """The names that stand in it."""

    def packed(self) -> bytes:
        """For the disk."""
        head = {
            "chunks": [[one.start, one.end, one.symbol] for one in self.chunks],
            "symbols": [[one.name, one.kind, one.start, one.end] for one in self.symbols],
            "sizes": [len(self.terms), len(self.defined), len(self.used)],
        }
        told = json.dumps(head, separators=(",", ":")).encode()
        numbers = [self.terms, self.owners, self.lengths, self.defined, self.used]
        body = b"".join(part.astype("<u4").tobytes() for part in numbers) + self.counts.tobytes()
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
        pieces = tuple(Chunk(*one) for one in head["chunks"])
        symbols = tuple(Symbol(*one) for one in head["symbols"])
        entries, defined, used = head["sizes"]
        sizes = [entries, entries, FIELDS * len(pieces), defined, used]
        ends = np.cumsum([0, *sizes]) * 4 + begin
        parts = [np.frombuffer(raw, "<u4", size, int(at)) for size, at in zip(sizes, ends, strict=False)]
        counts = np.frombuffer(raw, np.uint8, entries * FIELDS, int(ends[-1])).reshape(-1, FIELDS)
        if int(ends[-1]) + entries * FIELDS != len(raw) or (entries and int(parts[1].max()) >= len(pieces)):
            raise ValueError("the sizes of a digest do not agree")
    except (zlib.error, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"no digest: {error}") from error
    return Digest(
        chunks=pieces,
        symbols=symbols,
        terms=parts[0],
        owners=parts[1],
        counts=counts,
        lengths=parts[2].reshape(-1, FIELDS),
        defined=parts[3],
        used=parts[4],
    )


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
    used = set(_NAME.findall(text))
    return Digest(
        chunks=tuple(pieces),
        symbols=found.symbols,
        terms=np.array(entries, np.uint32),
        owners=np.array(owners, np.uint32),
        counts=np.frombuffer(bytes(counts), np.uint8).reshape(-1, FIELDS),
        lengths=np.array(lengths, np.uint32).reshape(-1, FIELDS),
        defined=_numbers({symbol.name for symbol in found.symbols if symbol.kind != "heading"}),
        used=_numbers(used),
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
