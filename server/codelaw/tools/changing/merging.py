"""A three-way merge of texts by lines, that would rather not merge than guess (E-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.tools.changing.diffs import changes
from codelaw.tools.changing.matching import in_style

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
    raw = changes(base, new)
    hunks: list[_Hunk] = []
    for place, (_, i1, i2, j1, j2) in enumerate(raw):
        floor = hunks[-1].end if hunks else 0
        ceiling = raw[place + 1][1] if place + 1 < len(raw) else len(base)
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
