"""From an old and a new text to the parts that differ, line by line (F-4)."""

from __future__ import annotations

import difflib
from itertools import accumulate

from codelaw.domain.edits import Splice

MAX_MIDDLE = 4_000
"""Lines between the first and the last change up to which single changes are told apart."""


def splices(before: str, after: str) -> tuple[Splice, ...]:
    """The runs of lines to replace, in order, with at least one unchanged line between them.

    Of a run, what both sides begin and end with is left out, so that cursors and marks stay where they are.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    old_at, new_at = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]
    found: list[Splice] = []
    for first, last, new_first, new_last in _runs(old, new):
        start, end, text = old_at[first], old_at[last], after[new_at[new_first] : new_at[new_last]]
        found.append(_trimmed(before, start, end, text))
    return tuple(found)


def _runs(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """Changed lines as (old first, old end, new first, new end)."""
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    tail = next((n for n in range(least - head) if old[-1 - n] != new[-1 - n]), least - head)
    end, new_end = len(old) - tail, len(new) - tail
    if head == end and head == new_end:
        return []
    if max(end, new_end) - head > MAX_MIDDLE:
        return [(head, end, head, new_end)]
    matcher = difflib.SequenceMatcher(None, old[head:end], new[head:new_end], autojunk=True)
    return [
        (i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal"
    ]


def _trimmed(before: str, start: int, end: int, text: str) -> Splice:
    least = min(end - start, len(text))
    head = next((n for n in range(least) if before[start + n] != text[n]), least)
    tail = next((n for n in range(least - head) if before[end - 1 - n] != text[-1 - n]), least - head)
    # A place between `\r` and `\n` is none for an editor.
    if head and before[start + head - 1 : start + head + 1] == "\r\n":
        head -= 1
    if tail and before[end - tail - 1 : end - tail + 1] == "\r\n":
        tail -= 1
    return Splice(start + head, end - tail, text[head : len(text) - tail])
