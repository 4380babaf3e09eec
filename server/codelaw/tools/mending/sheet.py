"""A file's lines, prepared once for all that is looked for in them (T-5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, islice

from codelaw.tools.mending.lookalikes import folded, offset

MOST = 6
"""Places that are told apart; more are only several."""
MAX_BLOCKS = 200
"""Places at which the same lines stand, above which they are not a place at all."""


class Sheet:
    """A text with its lines, numbered from zero."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins, and one behind the end."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    @cached_property
    def stripped(self) -> list[str]:
        return [line.strip() for line in self.lines]

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """The lines by what they hold between their blanks."""
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self.stripped):
            found.setdefault(line, []).append(number)
        return found

    @cached_property
    def _folded(self) -> str:
        return "\n".join(map(folded, self.lines))

    @cached_property
    def _folded_starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._folded.split("\n"))]

    def line_at(self, at: int) -> int:
        """The line that holds an offset."""
        return bisect_right(self.starts, at) - 1

    def found(self, text: str) -> list[int]:
        """The offsets of a text, overlapping ones too, at most `MOST`."""
        return _all(self.text, text)

    def found_folded(self, text: str) -> list[tuple[int, int]]:
        """First and last offset of what folds to the same as `text`, at most `MOST`."""
        wanted = folded(text)
        ends = [(at, at + len(wanted)) for at in _all(self._folded, wanted)]
        spans = [(self._unfolded(first), self._unfolded(last)) for first, last in ends]
        return [(first, last) for first, last in spans if first is not None and last is not None]

    def blocks(self, wanted: Sequence[str]) -> list[int]:
        """The lines at which these lines stand, whatever blanks are around them; none where they stand all over."""
        if not wanted:
            return []
        keys = [line.strip() for line in wanted]
        rarest = min(range(len(keys)), key=lambda index: len(self.numbers.get(keys[index], ())))
        firsts = (number - rarest for number in self.numbers.get(keys[rarest], ()))
        found = (first for first in firsts if first >= 0 and self.stripped[first : first + len(keys)] == keys)
        blocks = list(islice(found, MAX_BLOCKS + 1))
        return blocks if len(blocks) <= MAX_BLOCKS else []

    def _unfolded(self, at: int) -> int | None:
        number = bisect_right(self._folded_starts, at) - 1
        inside = offset(self.lines[number], at - self._folded_starts[number])
        return None if inside is None else self.starts[number] + inside


def _all(text: str, wanted: str) -> list[int]:
    found: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < MOST:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found
