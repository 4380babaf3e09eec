"""Blocks of code in Markdown: where they begin and end, and fences that hold any text."""

from __future__ import annotations

import re

_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)\Z", re.DOTALL)
_RUN = re.compile(r"`+")


class Fences:
    """Reads lines one after the other and knows whether the next one lies inside a block of code."""

    def __init__(self) -> None:
        self.open: str | None = None
        """The fence that is open, as it would have to be closed."""

    def take(self, line: str) -> bool:
        """Read a line; True when it is part of a block of code, its fences included."""
        found = _FENCE.match(line)
        if self.open is None:
            if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
                return False
            self.open = found["mark"]
            return True
        if found is not None and found["mark"].startswith(self.open) and not found["info"].strip():
            self.open = None
        return True

    def closed_at(self, lines: list[str], first: int) -> int | None:
        """The line that closes the fence that is open, looked for from line `first` on."""
        ahead = Fences()
        ahead.open = self.open
        for number in range(first, len(lines)):
            ahead.take(lines[number])
            if ahead.open is None:
                return number
        return None


def left_open(text: str) -> str | None:
    """The fence that a text opens and does not close, if there is one."""
    fences = Fences()
    for line in text.split("\n"):
        fences.take(line)
    return fences.open


def fenced(text: str, language: str = "") -> str:
    """`text` as a block of code whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in _RUN.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{fence}"
