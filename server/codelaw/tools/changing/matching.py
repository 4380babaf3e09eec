"""Finding the text to replace, and replacing it in the file's own line breaks (T-5)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from codelaw.domain.errors import ToolFailure
from codelaw.tools.mending.answers import mended, refused
from codelaw.tools.mending.fitting import fits
from codelaw.tools.mending.indexed_lines import IndexedLines

MAX_FOUND = 50_000
"""Occurrences that one replacement may have (S-6)."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One thing to replace, as the model wrote it."""

    old: str
    new: str
    every: bool = False
    label: str = "old_string"
    """How errors name it."""


@dataclass(frozen=True, slots=True)
class Replaced:
    text: str
    count: int
    mended: tuple[str, ...] = ()
    """What is told of each edit that was not found as it was sent, and mended."""


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    new: str
    label: str
    mended: str = ""


def replaced(original: str, replacements: Sequence[Replacement]) -> Replaced:
    """All replacements, each matched against the original text; all or nothing.

    Line breaks match whatever their style; new ones are written in the file's own. What is not found is mended where
    exactly one place fits.

    Raises:
        ToolFailure: INVALID_PARAM when one is not found, found more than once, changes nothing or overlaps another.
    """
    file = IndexedLines(original.replace("\r\n", "\n"))
    text = file.text
    spans = sorted(
        (span for replacement in replacements for span in _spans(file, replacement)), key=lambda span: span.start
    )
    for before, after in pairwise(spans):
        if after.start < before.end:
            raise ToolFailure(
                "INVALID_PARAM",
                f"{before.label} and {after.label} overlap at line {_line(text, after.start)}: merge them.",
            )
    breaks = _crlf_offsets(original)
    newline = line_break(original)
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces.append(original[at : _back(span.start, breaks)])
        pieces.append(in_style(span.new, newline))
        at = _back(span.end, breaks)
    pieces.append(original[at:])
    return Replaced("".join(pieces), len(spans), tuple(span.mended for span in spans if span.mended))


def line_break(text: str) -> str:
    r"""The style of most line breaks of a text; `\n` when there is none."""
    windows = text.count("\r\n")
    return "\r\n" if windows * 2 > text.count("\n") else "\n"


def same_lines(one: str, other: str) -> bool:
    """Whether two texts differ at most in the style of their line breaks."""
    return one == other or one.replace("\r\n", "\n") == other.replace("\r\n", "\n")


def in_style(text: str, newline: str) -> str:
    """The text with all its line breaks in one style."""
    plain = text.replace("\r\n", "\n")
    return plain if newline == "\n" else plain.replace("\n", newline)


def _spans(file: IndexedLines, replacement: Replacement) -> list[_Span]:
    text = file.text
    old, new = replacement.old.replace("\r\n", "\n"), replacement.new.replace("\r\n", "\n")
    label = replacement.label
    if old == new:
        raise ToolFailure("INVALID_PARAM", f"{label} and its new_string are the same: there is nothing to change.")
    found = [match.start() for match in islice(re.finditer(re.escape(old), text), MAX_FOUND + 1)]
    if len(found) > MAX_FOUND:
        raise ToolFailure("INVALID_PARAM", f"{label} was found more than {MAX_FOUND} times: use Bash.")
    if not found:
        return [_mended(file, old, new, label)]
    # An occurrence that overlaps itself is ambiguous too: "aa" stands twice in "aaa".
    again = text.find(old, found[0] + 1)
    if again >= 0 and not replacement.every:
        lines = ", ".join(str(_line(text, start)) for start in sorted({*found[:5], again})[:5])
        raise ToolFailure(
            "INVALID_PARAM",
            f"{label} was found {max(len(found), 2)} times (lines {lines}): add surrounding lines until it is unique, "
            "or set replace_all.",
        )
    return [_Span(start, start + len(old), new, label) for start in found]


def _mended(file: IndexedLines, old: str, new: str, label: str) -> _Span:
    """Where a text that was not found fits after all, at exactly one place."""
    found = fits(file, old, new)
    if len(found) == 1 and (fit := found[0]).new is not None and fit.new != file.text[fit.start : fit.end]:
        return _Span(fit.start, fit.end, fit.new, label, mended(file, fit, label))
    raise ToolFailure("INVALID_PARAM", refused(file, old, found, label))


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _crlf_offsets(original: str) -> list[int]:
    r"""Where the `\n` of each `\r\n` stands once all are shortened to `\n`."""
    return [match.start() - index for index, match in enumerate(re.finditer("\r\n", original))]


def _back(offset: int, breaks: list[int]) -> int:
    """An offset of the shortened text in the original."""
    return offset + bisect_left(breaks, offset)
