"""Many changes of one text, each at a place in the text that the one before left (F-1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codelaw.lsp.documents.positions import Encoding, code_points, units

SMALLEST = 4096
"""Characters of a piece at least, when a text is cut."""
PIECES = 1024
"""Of a very large text: every change looks through their list, and into two of them."""
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
        first = self._place(*start)
        last = max(first, self._place(*end))
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
            self._before -= self._pieces[self._number].breaks
        self._pieces[low:high] = self._cut(middle)

    def _removed(self, first: tuple[int, int], last: tuple[int, int]) -> int:
        (begin, before), (until, behind) = first, last
        return sum(len(piece.text) for piece in self._pieces[begin:until]) - before + behind

    def _place(self, line: int, character: int) -> tuple[int, int]:
        """The piece of a place, and the place in it in code points."""
        number = self._seek(line)
        if number == len(self._pieces):
            return (number - 1, len(self._pieces[-1].text)) if self._pieces else (0, 0)
        line -= self._before
        at = self._behind_breaks(self._pieces[number].text, line)
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
        number, before, pieces = self._number, self._before, self._pieces
        while number and before >= line:
            number -= 1
            before -= pieces[number].breaks
        while number < len(pieces) and before + pieces[number].breaks < line:
            before += pieces[number].breaks
            number += 1
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
        found = _BREAK.search(text, at)
        return found.start() if found else len(text)

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
