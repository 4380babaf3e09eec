"""Places in a text: lines as LSP counts them, characters in the agreed encoding."""

from __future__ import annotations

import re
from bisect import bisect_right
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
