"""Characters that look alike, folded into one spelling (T-5)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

_SAME: dict[str, str] = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "...": "\u2026",
    "": "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
}
_FOLDED: dict[str, str] = {
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **{char: plain for plain, chars in _SAME.items() for char in chars},
}


class _Folding(dict[int, str]):
    """What each character folds to, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        same = _FOLDED.get(char)
        self[code] = plain = unicodedata.normalize("NFD", char) if same is None else same
        return plain


_TABLE = _Folding()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Pieces of two texts that fold to the same, as small as can be."""

    first: tuple[int, int]
    second: tuple[int, int]


def folded(text: str) -> str:
    """The text in the plainest spelling; composed letters come apart."""
    return text if text.isascii() else text.translate(_TABLE)


def offset(line: str, at: int) -> int | None:
    """Where in a text the character at `at` of its folded form begins; None inside of what folds to several."""
    length = 0
    for index, char in enumerate(line):
        if length >= at:
            return index if length == at else None
        length += len(_fold(char))
    return len(line) if length == at else None


def chunks(first: str, second: str) -> list[Chunk]:
    """Two texts of one folded form, piece by piece."""
    made: list[Chunk] = []
    i = j = 0
    while i < len(first) or j < len(second):
        begin_i, begin_j = i, j
        one = other = ""
        if i < len(first):
            one, i = _fold(first[i]), i + 1
        if one and j < len(second):
            other, j = _fold(second[j]), j + 1
        elif not one and i == begin_i:
            j += 1  # what is left of the second folds to nothing
        while one and not other and j < len(second):
            other, j = _fold(second[j]), j + 1
        while len(one) != len(other):
            if len(one) < len(other) and i < len(first):
                one, i = one + _fold(first[i]), i + 1
            elif len(other) < len(one) and j < len(second):
                other, j = other + _fold(second[j]), j + 1
            else:
                break
        made.append(Chunk((begin_i, i), (begin_j, j)))
    return made


def _fold(char: str) -> str:
    return char if char < "\x80" else _TABLE[ord(char)]
