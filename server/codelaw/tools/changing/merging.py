"""A three-way merge of texts by lines, that would rather not merge than guess (E-2)."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codelaw.tools.changing.matching import in_style

MAX_PRODUCT = 40_000
"""Lines of one text times lines of the other up to which they are compared thoroughly; beyond it only lines that each
has once are recognised, and where there is none the whole stretch counts as changed (S-6)."""
MAX_DEPTH = 12
_MIXED = "mixed"


class Clash(Exception):
    """The two changes touch each other; `line` is where, one-based, in the text that was to be kept."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(frozen=True, slots=True)
class _Hunk:
    """Lines `start` up to `end` of the base became `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]
    low: int
    """How far up it could stand as well, because the lines around it are the same as those in it."""
    high: int

    @property
    def pure(self) -> bool:
        """Whether it only adds."""
        return self.start == self.end


def merged(base: str, ours: str, theirs: str) -> str:
    """`theirs` with what changed from `base` to `ours`.

    The line breaks are those of `theirs`. Changes that both have made count once.

    Raises:
        Clash: the changes overlap, or it is not clear which comes first, or whose line was removed.
    """
    base, ours = _in_style_of(theirs, base, ours)
    if theirs == base:
        return ours
    if ours in {theirs, base}:
        return theirs
    lines = base.split("\n")
    mine, others = _hunks(lines, ours.split("\n")), _hunks(lines, theirs.split("\n"))
    same = {(hunk.start, hunk.end, hunk.lines) for hunk in others}
    mine = [hunk for hunk in mine if (hunk.start, hunk.end, hunk.lines) not in same]
    _check(mine, others)
    out: list[str] = []
    place = 0
    for hunk in sorted([*mine, *others], key=lambda one: (one.start, one.end)):
        out += lines[place : hunk.start]
        out += hunk.lines
        place = hunk.end
    return "\n".join(out + lines[place:])


def _in_style_of(theirs: str, base: str, ours: str) -> tuple[str, str]:
    """Base and ours with the line breaks of theirs, unless breaks are what one of the changes is about."""
    wanted, had = _style(theirs), {_style(base), _style(ours)} - {""}
    if wanted in {"", _MIXED} or len(had) != 1 or _MIXED in had or wanted in had:
        return base, ours
    return in_style(base, wanted), in_style(ours, wanted)


def _style(text: str) -> str:
    """The line break that all lines have, empty where there is none."""
    windows, every = text.count("\r\n"), text.count("\n")
    if not every:
        return ""
    return "\n" if not windows else "\r\n" if windows == every else _MIXED


def _check(mine: Sequence[_Hunk], others: Sequence[_Hunk]) -> None:
    """Refuse hunks that touch.

    Two that replace lines side by side are clear; what is added right beside another change is not.
    """
    first = 0
    for hunk in mine:
        while first < len(others) and others[first].high < hunk.low:
            first += 1
        place = first
        while place < len(others) and others[place].low <= hunk.high:
            other = others[place]
            low, high = max(hunk.low, other.low), min(hunk.high, other.high)
            if low < high or hunk.pure or other.pure:
                before = (len(one.lines) - (one.end - one.start) for one in others[:place])
                raise Clash(other.start + sum(before) + 1)
            place += 1


def _hunks(base: list[str], new: list[str]) -> list[_Hunk]:
    """What changed from `base` to `new`, in order; parts that only add or only remove stand as late as they can."""
    raw = list(_joined(_changes(base, new)))
    hunks: list[_Hunk] = []
    for place, (i1, i2, j1, j2) in enumerate(raw):
        floor = hunks[-1].end if hunks else 0
        ceiling = raw[place + 1][0] if place + 1 < len(raw) else len(base)
        up = down = 0
        if i1 == i2 or j1 == j2:
            text, start, end = (new, j1, j2) if i1 == i2 else (base, i1, i2)
            while i1 - up > floor and text[start - up - 1] == text[end - up - 1]:
                up += 1
            while i2 + down < ceiling and text[start + down] == text[end + down]:
                down += 1
        lines = tuple(new[j1 + down : j2 + down])
        hunks.append(_Hunk(i1 + down, i2 + down, lines, i1 - up, i2 + down))
    return hunks


_Change = tuple[int, int, int, int]


def _joined(changes: Iterator[_Change]) -> Iterator[_Change]:
    """Changes with no unchanged line between them are one."""
    last: _Change | None = None
    for change in changes:
        if last is None:
            last = change
        elif last[1] == change[0] and last[3] == change[2]:
            last = last[0], change[1], last[2], change[3]
        else:
            yield last
            last = change
    if last is not None:
        yield last


def _changes(base: list[str], new: list[str]) -> Iterator[_Change]:
    todo = [(0, len(base), 0, len(new), 0)]
    while todo:
        i1, i2, j1, j2, depth = todo.pop()
        while i1 < i2 and j1 < j2 and base[i1] == new[j1]:
            i1, j1 = i1 + 1, j1 + 1
        while i1 < i2 and j1 < j2 and base[i2 - 1] == new[j2 - 1]:
            i2, j2 = i2 - 1, j2 - 1
        if i1 == i2 and j1 == j2:
            continue
        if i1 == i2 or j1 == j2:
            yield i1, i2, j1, j2
        elif (i2 - i1) * (j2 - j1) <= MAX_PRODUCT:
            matcher = difflib.SequenceMatcher(None, base[i1:i2], new[j1:j2], autojunk=False)
            for tag, a, b, c, d in matcher.get_opcodes():
                if tag != "equal":
                    yield i1 + a, i1 + b, j1 + c, j1 + d
        else:
            anchors = _anchors(base[i1:i2], new[j1:j2]) if depth < MAX_DEPTH else []
            if not anchors:
                yield i1, i2, j1, j2
                continue
            ends = [(i1, j1), *((i1 + i + 1, j1 + j + 1) for i, j in anchors)]
            starts = [*((i1 + i, j1 + j) for i, j in anchors), (i2, j2)]
            parts = [(a, c, b, d, depth + 1) for (a, b), (c, d) in zip(ends, starts, strict=True)]
            todo += reversed(parts)


def _anchors(base: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Lines that both have exactly once: the longest row of them that is in order in both."""
    once, also = Counter(base), Counter(new)
    where = {line: j for j, line in enumerate(new) if also[line] == 1}
    return _rising([(i, where[line]) for i, line in enumerate(base) if once[line] == 1 and line in where])


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second numbers rise (patience sorting)."""
    tops: list[int] = []
    """By length, the second number that the best row of that length ends with."""
    last: list[int] = []
    before: list[int] = []
    for place, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        before.append(last[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(j)
            last.append(place)
        else:
            tops[pile], last[pile] = j, place
    row: list[tuple[int, int]] = []
    place = last[-1] if last else -1
    while place >= 0:
        row.append(pairs[place])
        place = before[place]
    return row[::-1]
