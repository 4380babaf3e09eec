"""Places in a text, and changes at them: lines as LSP counts them, characters in the agreed encoding (F-1)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]

# Python's splitlines also breaks at form feeds and U+2028, which no editor counts as a line.
_BREAK = re.compile(r"\r\n|\n|\r")


def line_starts(text: str) -> list[int]:
    """Where each line begins, in code points."""
    if "\r" not in text:
        lines = accumulate(map(len, text.split("\n")[:-1]))
        return [0, *(end + count for count, end in enumerate(lines, 1))]
    return [0, *(found.end() for found in _BREAK.finditer(text))]


def line_at(text: str, starts: list[int], line: int) -> str:
    """A line without its break; empty past the end."""
    if line >= len(starts):
        return ""
    end = starts[line + 1] if line + 1 < len(starts) else len(text)
    return text[starts[line] : end].rstrip("\r\n")


def code_points(line: str, units: int, encoding: Encoding) -> int:
    """The place of `units` in `line`, in code points.

    A place inside a character goes to its start, one past the end to the end.
    """
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    spelt = _spelt(line, encoding)
    wide = 2 if encoding == "utf-16" else 1
    cut = units * wide
    if cut >= len(spelt):
        return len(line)
    if encoding == "utf-16":
        cut -= wide * (0xDC <= spelt[cut + 1] <= 0xDF and cut > 0 and 0xD8 <= spelt[cut - 1] <= 0xDB)
        return len(spelt[:cut].decode("utf-16-le", "surrogatepass"))
    while spelt[cut] & 0xC0 == 0x80:
        cut -= 1
    return len(spelt[:cut].decode("utf-8", "surrogatepass"))


def offset(text: str, starts: list[int], line: int, units: int, encoding: Encoding) -> int:
    """The place of a position in `text`, in code points; past the end means the end."""
    if line >= len(starts):
        return len(text)
    return starts[line] + code_points(line_at(text, starts, line), units, encoding)


def units(text: str, encoding: Encoding) -> int:
    """The length of a text in the encoding's units."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    return len(_spelt(text, encoding)) // (2 if encoding == "utf-16" else 1)


def position_of(text: str, starts: list[int], place: int, encoding: Encoding) -> tuple[int, int]:
    """Line and units of an offset in code points; the inverse of `offset`."""
    line = bisect_right(starts, place) - 1
    return line, units(text[starts[line] : place], encoding)


def spelt(text: str, starts: list[int], place: int, encoding: Encoding) -> dict[str, int]:
    """An offset as LSP's `Position`."""
    line, character = position_of(text, starts, place, encoding)
    return {"line": line, "character": character}


def exact_offset(text: str, starts: list[int], line: int, characters: int, encoding: Encoding) -> int | None:
    """As `offset`, but None outside the text and inside a character.

    The line after the last one, at its beginning, is the end of the text: that is how a whole text is spelt.
    """
    if line >= len(starts):
        return len(text) if (line, characters) == (len(starts), 0) else None
    whole = line_at(text, starts, line)
    place = code_points(whole, characters, encoding)
    return starts[line] + place if place == len(whole) or units(whole[:place], encoding) == characters else None


def _spelt(text: str, encoding: Encoding) -> bytes:
    return text.encode("utf-16-le" if encoding == "utf-16" else "utf-8", "surrogatepass")


SMALLEST = 1024
"""Characters of a piece at least, when a text is cut."""
PIECES = 1024
"""Of a very large text."""


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    breaks: int
    """Line breaks in it; none is cut in two by the end of a piece."""
    head: int
    """Units of the encoding before its first break; all of them without one."""


class SplicedText:
    """A text under many changes, in pieces: a change costs no more than one, however long the text or its lines are."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._encoding: Encoding = encoding
        self._size = max(SMALLEST, len(text) // PIECES)
        self._pieces = self._cut(text) or [_Piece("", 0, 0)]
        self._breaks: list[int] = []
        """Up to the end of each piece; empty when they are to be counted again."""
        self._length = len(text)

    def __len__(self) -> int:
        """Characters of the text."""
        return self._length

    @property
    def text(self) -> str:
        """The whole."""
        return "".join(piece.text for piece in self._pieces)

    def splice(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Put `text` in place of what stands between two places, given as line and units of the encoding.

        A place behind the end of a line means that end, one inside a character its start, one behind the last line
        the end of the text; an end before the start means the start.
        """
        first = self._place(*start)
        last = max(first, self._place(*end))
        (low, before), (high, behind) = first, last
        middle = self._pieces[low].text[:before] + text + self._pieces[high].text[behind:]
        high += 1
        # Breaks that come to stand side by side may be one now.
        if low and self._pieces[low - 1].text.endswith("\r"):
            low -= 1
            middle = self._pieces[low].text + middle
        # Pieces that changes have made small are joined again, so that their number stays what it is.
        while high < len(self._pieces) and (middle.endswith("\r") or len(middle) < self._size // 2):
            middle += self._pieces[high].text
            high += 1
        self._length += len(middle) - sum(len(piece.text) for piece in self._pieces[low:high])
        pieces = self._cut(middle)
        if [piece.breaks for piece in pieces] != [piece.breaks for piece in self._pieces[low:high]]:
            self._breaks = []
        self._pieces[low:high] = pieces
        self._pieces = self._pieces or [_Piece("", 0, 0)]

    def _place(self, line: int, character: int) -> tuple[int, int]:
        """The piece of a place, and where it is in it, in code points."""
        if not self._breaks:
            self._breaks = list(accumulate(piece.breaks for piece in self._pieces))
        number = bisect_left(self._breaks, line)
        if number == len(self._pieces):
            return number - 1, len(self._pieces[-1].text)
        at = _behind_breaks(self._pieces[number].text, line - (self._breaks[number - 1] if number else 0))
        while True:
            piece = self._pieces[number].text
            found = _BREAK.search(piece, at)
            end = found.start() if found is not None else len(piece)
            within = units(piece[at:end], self._encoding) if at else self._pieces[number].head
            if found is not None or character <= within or number + 1 == len(self._pieces):
                return number, at + code_points(piece[at:end], character, self._encoding)
            number, at, character = number + 1, 0, character - within

    def _cut(self, text: str) -> list[_Piece]:
        pieces: list[_Piece] = []
        at = 0
        while at < len(text):
            end = len(text) if len(text) - at < 2 * self._size else at + self._size
            if text[end - 1 : end + 1] == "\r\n":
                end += 1
            pieces.append(self._piece(text[at:end]))
            at = end
        return pieces

    def _piece(self, text: str) -> _Piece:
        found = _BREAK.search(text)
        head = units(text[: found.start()] if found is not None else text, self._encoding)
        return _Piece(text, text.count("\n") + text.count("\r") - text.count("\r\n"), head)


def _behind_breaks(text: str, count: int) -> int:
    """Where the line begins before which so many breaks stand."""
    if "\r" not in text:
        return len(text) - len(text.split("\n", count)[-1]) if count else 0
    at = 0
    for _ in range(count):
        found = _BREAK.search(text, at)
        at = found.end() if found is not None else len(text)
    return at
