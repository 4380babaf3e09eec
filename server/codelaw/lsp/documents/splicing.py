"""Many changes of one text, each at a place in the text that the one before left (F-1)."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate

from codelaw.lsp.documents.positions import Encoding, code_points, units

SMALLEST = 1024
"""Characters of a piece at least, when a text is cut."""
PIECES = 1024
"""Of a very large text: every change looks through their list, and into two of them."""
_STRIDES = (64, 8, 1)
"""So many pieces are passed over at once when a line is looked for."""
_STEADY = 3
"""So many lines are looked for in the same breaks before these are summed up."""
_BREAK = re.compile(r"\r\n|\n|\r")
_ENDS = ("\n", "\r")


@dataclass(slots=True)
class _Piece:
    text: str
    breaks: int
    """Line breaks in it; none is cut in two by the end of a piece."""
    head: int
    """Units of the encoding before its first break; all of them without one."""
    tail: int
    """Units behind its last break."""


class SplicedText:
    """A text in pieces: a change costs no more than one of them, however long the text or its lines are."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._encoding: Encoding = encoding
        self._size = max(SMALLEST, len(text) // PIECES)
        self._pieces = self._cut(text)
        self._breaks = [piece.breaks for piece in self._pieces]
        """Of each piece, to be added up quickly."""
        self._sums: list[int] = []
        """Up to the end of each piece; empty as long as every change brings or takes breaks."""
        self._seeks = 0
        """Since breaks were brought or taken last."""
        self._length = len(text)
        self._number = 0
        """A piece,"""
        self._before = 0
        """and how many line breaks stand before it."""

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
        line = self._line(start[0])
        first = self._place(*line, start[1])
        last = max(first, self._place(*(line if end[0] == start[0] else self._line(end[0])), end[1]))
        (begin, before), (until, behind) = first, last
        kept = self._pieces[begin].text[:before] if begin < len(self._pieces) else ""
        rest = self._pieces[until].text[behind:] if until < len(self._pieces) else ""
        self._length += len(text) - self._removed(first, last)
        low, high, middle = begin, until + 1, kept + text + rest
        # Breaks that come to stand side by side may be one now.
        if low and self._pieces[low - 1].text.endswith("\r"):
            low -= 1
            middle = self._pieces[low].text + middle
        if middle.endswith("\r") and high < len(self._pieces):
            middle += self._pieces[high].text
            high += 1
        # Pieces that changes have made small are joined again, so that their number stays what it is.
        while len(middle) < self._size // 2 and high < len(self._pieces):
            middle += self._pieces[high].text
            high += 1
        while self._number > low:
            self._number -= 1
            self._before -= self._breaks[self._number]
        pieces = self._cut(middle)
        self._pieces[low:high] = pieces
        breaks = [piece.breaks for piece in pieces]
        if self._breaks[low:high] != breaks:
            self._breaks[low:high] = breaks
            self._sums, self._seeks = [], 0

    def _removed(self, first: tuple[int, int], last: tuple[int, int]) -> int:
        (begin, before), (until, behind) = first, last
        return sum(len(piece.text) for piece in self._pieces[begin:until]) - before + behind

    def _line(self, line: int) -> tuple[int, int, int]:
        """The piece in which a line begins, the place in it in code points, and the breaks of the piece before that."""
        number = self._seek(line)
        if number == len(self._pieces):
            return number, 0, 0
        line -= self._before
        return number, self._behind_breaks(self._pieces[number].text, line), line

    def _place(self, number: int, at: int, line: int, character: int) -> tuple[int, int]:
        """The piece of a place in a line, as `_line` found that, and the place in it in code points."""
        if number == len(self._pieces):
            return (number - 1, len(self._pieces[-1].text)) if self._pieces else (0, 0)
        while True:
            piece = self._pieces[number]
            ends_here = line < piece.breaks
            within = piece.tail if line else piece.head
            if ends_here or character <= within or number + 1 == len(self._pieces):
                end = self._line_end(piece.text, at) if ends_here else len(piece.text)
                return number, at + code_points(piece.text[at:end], character, self._encoding)
            number, at, line, character = number + 1, 0, 0, character - within

    def _seek(self, line: int) -> int:
        """The first piece up to whose end there are `line` breaks, or the number of pieces.

        Changes that follow each other are mostly near each other: it is looked for from where the last one was.
        """
        self._seeks += 1
        if not self._sums and self._seeks > _STEADY:
            self._sums = list(accumulate(self._breaks))
        if self._sums:
            self._number = bisect_left(self._sums, line)
            self._before = self._sums[self._number - 1] if self._number else 0
            return self._number
        number, before, breaks = self._number, self._before, self._breaks
        while number and before >= line:
            back = min(_STRIDES[0], number)
            number -= back
            before -= sum(breaks[number : number + back])
        for stride in _STRIDES:
            while number < len(breaks) and (passed := before + sum(breaks[number : number + stride])) < line:
                number, before = min(number + stride, len(breaks)), passed
        self._number, self._before = number, before
        return number

    @staticmethod
    def _behind_breaks(text: str, count: int) -> int:
        if "\r" not in text:
            return len(text) - len(text.split("\n", count)[-1]) if count else 0
        at = 0
        for found in _BREAK.finditer(text) if count else ():
            at, count = found.end(), count - 1
            if not count:
                break
        return at

    @staticmethod
    def _line_end(text: str, at: int) -> int:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        first = text.find("\r", at, end)
        return end if first < 0 else first

    def _cut(self, text: str) -> list[_Piece]:
        pieces: list[_Piece] = []
        at = 0
        while at < len(text):
            end = len(text) if len(text) - at < 2 * self._size else at + self._size
            if end < len(text) and text[end - 1] == "\r" and text[end] == "\n":
                end += 1
            pieces.append(self._piece(text[at:end]))
            at = end
        return pieces

    def _piece(self, text: str) -> _Piece:
        breaks = text.count("\n") + (text.count("\r") - text.count("\r\n") if "\r" in text else 0)
        if not breaks:
            whole = units(text, self._encoding)
            return _Piece(text, 0, whole, whole)
        first = min(place for mark in _ENDS if (place := text.find(mark)) >= 0)
        last = max(text.rfind(mark) for mark in _ENDS) + 1
        return _Piece(text, breaks, units(text[:first], self._encoding), units(text[last:], self._encoding))
