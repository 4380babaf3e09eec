"""A text with its lines, and its characters folded into the plainest spelling (T-5)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, islice

MOST = 6
"""Places that are told apart; more are only several."""
MAX_BLOCKS = 200
"""Places at which the same lines stand, above which they are not a place at all."""
_SAME: dict[str, str] = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "...": "\u2026",
    "": "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
}


class _Folding(dict[int, str]):
    """What each character folds to, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = unicodedata.normalize("NFD", chr(code))
        return plain


_TABLE = _Folding({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
_TABLE.update({ord(char): plain for plain, chars in _SAME.items() for char in chars})


def folded(text: str) -> str:
    """The text in the plainest spelling; composed letters come apart."""
    return text if text.isascii() else text.translate(_TABLE)


def folded_offsets(text: str) -> list[int]:
    """Where each character begins in the folded text, and where that ends."""
    return [0, *accumulate(len(folded(char)) for char in text)]


class IndexedLines:
    """A text with its lines, numbered from zero."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins, and one behind the end."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    @cached_property
    def stripped(self) -> list[str]:
        return [line.strip() for line in self.lines]

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """The lines by what they hold between their blanks."""
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self.stripped):
            found.setdefault(line, []).append(number)
        return found

    @cached_property
    def _folded(self) -> list[str]:
        return [folded(line) for line in self.lines]

    @cached_property
    def _folded_starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._folded)]

    def line_at(self, at: int) -> int:
        """The line that holds an offset."""
        return bisect_right(self.starts, at) - 1

    def found(self, text: str) -> list[int]:
        """The offsets of a text, overlapping ones too, at most `MOST`."""
        return _all(self.text, text)

    def found_folded(self, text: str) -> list[tuple[int, int]]:
        """First and last offset of what folds to the same as `text`, at most `MOST`."""
        wanted = folded(text)
        ends = [(at, at + len(wanted)) for at in _all("\n".join(self._folded), wanted)]
        spans = [(self._unfolded(first), self._unfolded(last)) for first, last in ends]
        return [(first, last) for first, last in spans if first is not None and last is not None]

    def blocks(self, wanted: Sequence[str]) -> list[int]:
        """The lines at which these lines stand, whatever blanks are around them; none where they stand all over."""
        keys = [line.strip() for line in wanted]
        rarest = min(range(len(keys)), key=lambda index: len(self.numbers.get(keys[index], ())))
        firsts = (number - rarest for number in self.numbers.get(keys[rarest], ()))
        found = (first for first in firsts if first >= 0 and self.stripped[first : first + len(keys)] == keys)
        blocks = list(islice(found, MAX_BLOCKS + 1))
        return blocks if len(blocks) <= MAX_BLOCKS else []

    def _unfolded(self, at: int) -> int | None:
        """The offset of a place in the folded text; None inside of what folds to several characters."""
        number = bisect_right(self._folded_starts, at) - 1
        inside = at - self._folded_starts[number]
        offsets = folded_offsets(self.lines[number])
        return self.starts[number] + offsets.index(inside) if inside in offsets else None


def _all(text: str, wanted: str) -> list[int]:
    found: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < MOST:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found
