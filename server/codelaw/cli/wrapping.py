"""A text that streams onto a terminal, broken between its words."""

from __future__ import annotations

import re
from collections.abc import Callable

_MARKER = re.compile(r"[-*+>]|\d{1,3}[.)]")
_FENCE = ("```", "~~~")
_LONG = 24
"""Columns that most words do not fill: one that begins farther from the edge is written as it comes."""


class Wrapping:
    """Near the edge it holds a word back until it ends; lines of a code block stay as they are."""

    def __init__(self, width: int, columns: Callable[[str], int]) -> None:
        """`columns` says how many of the terminal's `width` columns a character takes."""
        self._width = width
        self._columns = columns
        self._word = ""
        self._reported = 0
        """Characters of the word that are written."""
        self._spaces = ""
        """In front of the word."""
        self._column = 0
        self._indent = 0
        """Where the lines go on that a line of the text is broken into."""
        self._fenced = False

    def feed(self, text: str) -> str:
        """What can be written now."""
        return "".join(map(self._take, text))

    def rest(self) -> str:
        """What was held back, at the end of the text."""
        return self._placed()

    def _take(self, character: str) -> str:
        if character == "\n":
            reported = self._placed() + self._spaces + character
            self._spaces, self._column, self._indent = "", 0, 0
            return reported
        if character == " ":
            reported = self._placed()
            self._spaces += character
            return reported
        # A script without spaces may be broken anywhere.
        wide = self._columns(character) > 1
        reported = self._placed() if wide or sum(map(self._columns, self._word)) >= self._width else ""
        self._word += character
        if wide:
            return reported + self._placed()
        if self._reported or self._column + len(self._spaces) + _LONG <= self._width:
            begun, self._reported = self._reported, len(self._word)
            return reported + ("" if begun else self._spaces) + self._word[begun:]
        return reported

    def _placed(self) -> str:
        """The word behind its spaces, or on a line of its own."""
        if not self._word:
            return ""
        spaces, word, reported = self._spaces, self._word, self._reported
        self._spaces, self._word, self._reported = "", "", 0
        size = sum(map(self._columns, word))
        if self._column == 0 and word.startswith(_FENCE):
            self._fenced = not self._fenced
        if self._column == 0:
            marked = len(word) + 1 if _MARKER.fullmatch(word) else 0
            self._indent = min(len(spaces) + marked, self._width // 2)
        elif (
            not reported
            and not self._fenced
            and self._indent < self._column + len(spaces)
            and self._width < (self._column + len(spaces) + size)
        ):
            self._column = self._indent + size
            return f"\n{' ' * self._indent}{word}"
        self._column += len(spaces) + size
        return word[reported:] if reported else spaces + word
