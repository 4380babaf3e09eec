"""Unified diffs, bounded (T-5, S-6)."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

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


def _grouped(codes: list[_Code], length: int) -> list[list[_Code]]:
    """Changes at most six lines apart, with the equal lines between and three lines around them."""
    groups: list[list[_Code]] = []
    for code in codes:
        _, i1, i2, j1, j2 = code
        if groups and i1 - groups[-1][-1][2] <= 6:
            last = groups[-1][-1]
            groups[-1] += [("equal", last[2], i1, last[4], j1), ("change", i1, i2, j1, j2)]
        else:
            lead = min(3, i1)
            groups.append([("equal", i1 - lead, i1, j1 - lead, j1), ("change", i1, i2, j1, j2)])
    for group in groups:
        last = group[-1]
        trail = min(3, length - last[2])
        group.append(("equal", last[2], last[2] + trail, last[4], last[4] + trail))
    return groups


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
