"""The text of a file that is nearest to one that was not found, and how the two differ (T-5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches

from codelaw.tools.mending.sheet import Sheet

MAX_COMPARED = 400
"""Lines of a text that are compared one by one."""
MAX_CANDIDATES = 2_000
"""Lines of a file among which a similar one is looked for."""
MAX_WIDTH = 500
"""Characters of a line up to which it can be similar to another."""
SIMILAR = 0.6
COMMON = 30
"""Lines of a file that hold the same, above which they say nothing about the place."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One run of lines that differ; one of both may be empty."""

    line: int
    """Of the file, from one: where `there` begins, or what the sent lines stand before."""
    sent: tuple[str, ...]
    there: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest text, with its lines in the file from one."""

    first: int
    last: int
    differences: tuple[Difference, ...]


def nearest(sheet: Sheet, old: str, at: int | None = None) -> Nearest | None:
    """The lines of the file that are nearest to the text, or those from `at` on; None where nothing is like it."""
    lines = old.strip("\n").split("\n")[:MAX_COMPARED]
    if at is not None:
        return _compared(sheet, lines, at, room=0)
    first = _by_lines(sheet, lines)
    if first is not None:
        return _compared(sheet, lines, first, room=min(20, len(lines)))
    first = _by_likeness(sheet, lines)
    return None if first is None else _compared(sheet, lines, first, room=0)


def _by_lines(sheet: Sheet, lines: Sequence[str]) -> int | None:
    """Where most of the lines stand, at the distances that they have; rare lines weigh more."""
    votes: Counter[int] = Counter()
    for index, line in enumerate(lines):
        numbers = sheet.numbers.get(line.strip(), ())
        if any(map(str.isalnum, line)) and len(numbers) <= COMMON:
            for number in numbers:
                votes[number - index] += 1_000 // len(numbers)
    if not votes:
        return None
    best = max(votes.values())
    return min(first for first, weight in votes.items() if weight == best)


def _by_likeness(sheet: Sheet, lines: Sequence[str]) -> int | None:
    """Where a line stands that is like one of the longest."""
    candidates = list(dict.fromkeys(line for line in sheet.stripped if 0 < len(line) <= MAX_WIDTH))[:MAX_CANDIDATES]
    wanted = sorted(range(len(lines)), key=lambda index: -len(lines[index].strip()))[:2]
    for index in wanted:
        line = lines[index].strip()
        if 0 < len(line) <= MAX_WIDTH and (close := get_close_matches(line, candidates, 1, SIMILAR)):
            return sheet.numbers[close[0]][0] - index
    return None


def _compared(sheet: Sheet, lines: Sequence[str], first: int, *, room: int) -> Nearest:
    """The differences, in a window with some room for lines that were left out."""
    begin, end = max(0, first - room), min(len(sheet.lines), max(first, 0) + len(lines) + room)
    window = sheet.lines[begin:end]
    matcher = SequenceMatcher(None, [line.strip() for line in lines], sheet.stripped[begin:end], autojunk=False)
    codes = matcher.get_opcodes()
    # What the file has before and behind is no difference.
    if codes and codes[0][0] == "insert":
        codes = codes[1:]
    if codes and codes[-1][0] == "insert":
        codes = codes[:-1]
    codes = [_tightened(code, at_start=at == 0, at_end=at == len(codes) - 1) for at, code in enumerate(codes)]
    found: list[Difference] = []
    for tag, i1, i2, j1, j2 in codes:
        if tag == "equal":
            for sent, (number, there) in zip(lines[i1:i2], enumerate(window[j1:j2], begin + j1), strict=True):
                if sent != there:
                    found.append(Difference(number + 1, (sent,), (there,)))
        else:
            found.append(Difference(begin + j1 + 1, tuple(lines[i1:i2]), tuple(window[j1:j2])))
    last = begin + codes[-1][4]
    return Nearest(begin + codes[0][3] + 1, max(last, begin + codes[0][3] + 1), tuple(found))


def _tightened(code: tuple[str, int, int, int, int], *, at_start: bool, at_end: bool) -> tuple[str, int, int, int, int]:
    """A replacement at an end of the window takes no more of the file than it has lines."""
    tag, i1, i2, j1, j2 = code
    if tag != "replace" or j2 - j1 <= i2 - i1:
        return code
    if at_start and not at_end:
        return tag, i1, i2, j2 - (i2 - i1), j2
    return (tag, i1, i2, j1, j1 + (i2 - i1)) if at_end and not at_start else code
