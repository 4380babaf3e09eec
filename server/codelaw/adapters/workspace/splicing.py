"""From an old and a new text to the parts that differ, line by line (F-4)."""

from __future__ import annotations

from itertools import accumulate

from codelaw.domain.edits import Splice
from codelaw.tools.changing.diffs import changes


def splices(before: str, after: str) -> tuple[Splice, ...]:
    """The runs of lines to replace, in order, with at least one unchanged line between them.

    Of a run, what both sides begin and end with is left out, so that cursors and marks stay where they are.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    old_at, new_at = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]
    found: list[Splice] = []
    for _, first, last, new_first, new_last in changes(old, new):
        start, end, text = old_at[first], old_at[last], after[new_at[new_first] : new_at[new_last]]
        found.append(_trimmed(before, start, end, text))
    return tuple(found)


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
