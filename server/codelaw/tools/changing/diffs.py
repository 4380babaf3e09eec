"""Unified diffs, bounded (T-5, S-6)."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from codelaw.tools.changing.matching import in_style

MAX_MIDDLE = 4_000
"""Lines between the first and the last change up to which single changes are told apart."""


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed between two texts."""

    text: str
    """Unified diff with three lines of context, `\\r` left out; empty when nothing changed."""
    added: int
    """Lines."""
    removed: int
    """Lines."""
    ranges: tuple[tuple[int, int], ...]
    """Changed lines of the new text, one-based, both ends included; (n, n - 1) where lines before n are gone."""

    def head(self, lines: int, characters: int) -> tuple[str, bool]:
        """The first lines of the diff, and whether something is missing."""
        every = self.text.split("\n")
        text = "\n".join(every[:lines])
        return text[:characters], len(every) > lines or len(text) > characters


def difference(old: str, new: str, shown: str) -> Diff:
    """The diff of a file from `old` to `new`."""
    before, after = _lines(old), _lines(new)
    codes = changes(before, after)
    ranges = tuple((j1 + 1, j2) for _, _, _, j1, j2 in codes)
    added = sum(j2 - j1 for _, _, _, j1, j2 in codes)
    removed = sum(i2 - i1 for _, i1, i2, _, _ in codes)
    if not codes:
        return Diff("", 0, 0, ())
    out = [f"--- a/{shown}" if before else "--- /dev/null", f"+++ b/{shown}"]
    for group in _grouped(codes, len(before)):
        out.extend(_hunk(group, before, after))
    return Diff("\n".join(out), added, removed, ranges)


_Code = tuple[str, int, int, int, int]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        # Without it a missing final line break would be no difference.
        lines[-1] += "\n\\ No newline at end of file"
    return lines


def changes(before: list[str], after: list[str]) -> list[_Code]:
    """The changed runs of lines as (tag, old first, old end, new first, new end), equal lines between them.

    The equal beginning and end are taken off first, which leaves little to compare.
    """
    least = min(len(before), len(after))
    head = next((n for n in range(least) if before[n] != after[n]), least)
    tail = next((n for n in range(least - head) if before[-1 - n] != after[-1 - n]), least - head)
    end_before, end_after = len(before) - tail, len(after) - tail
    if head == end_before == end_after:
        return []
    if max(end_before, end_after) - head > MAX_MIDDLE:
        return [("replace", head, end_before, head, end_after)]
    matcher = difflib.SequenceMatcher(None, before[head:end_before], after[head:end_after], autojunk=True)
    codes = matcher.get_opcodes()
    return [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _grouped(codes: list[_Code], length: int) -> Iterable[list[_Code]]:
    """Changes at most six lines apart, with the equal lines between and three lines around them."""
    every: list[_Code] = []
    i, j = 0, 0
    for code in codes:
        every += [("equal", i, code[1], j, code[3]), code]
        i, j = code[2], code[4]
    matcher: Any = difflib.SequenceMatcher()
    matcher.opcodes = [*every, ("equal", i, length, j, j + length - i)]
    return matcher.get_grouped_opcodes(3)


def _hunk(group: list[_Code], before: list[str], after: list[str]) -> list[str]:
    old = _span(group[0][1], group[-1][2])
    new = _span(group[0][3], group[-1][4])
    out = [f"@@ -{old} +{new} @@"]
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            out += [f" {_shown(line)}" for line in before[i1:i2]]
        else:
            out += [f"-{_shown(line)}" for line in before[i1:i2]]
            out += [f"+{_shown(line)}" for line in after[j1:j2]]
    return out


def _span(start: int, end: int) -> str:
    count = end - start
    return str(start + 1) if count == 1 else f"{start + 1 if count else start},{count}"


def _shown(line: str) -> str:
    return line.removesuffix("\r")


_MIXED = "mixed"
_PART = 200
"""Lines of the parts that large texts are compared in."""


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
    raw = _apart(base, new)
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


def _apart(base: list[str], new: list[str], most: int = MAX_MIDDLE) -> list[_Code]:
    """The changes, those of more than `most` lines on either side of a line that both have once."""
    if base == new:
        return []
    once: list[int] = []
    if max(len(base), len(new)) > most:
        old, own = Counter(base), Counter(new)
        once = [place for place, line in enumerate(base) if old[line] == own[line] == 1]
    if not once:
        return changes(base, new)
    i = once[len(once) // 2]
    j = new.index(base[i])
    later = _apart(base[i + 1 :], new[j + 1 :], _PART)
    behind = ((tag, i1 + i + 1, i2 + i + 1, j1 + j + 1, j2 + j + 1) for tag, i1, i2, j1, j2 in later)
    return [*_apart(base[:i], new[:j], _PART), *behind]
