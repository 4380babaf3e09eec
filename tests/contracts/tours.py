"""The tours of ARCHITECTURE.md as values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"


@dataclass(frozen=True)
class Tour:
    """Names are paths below `server/codelaw`, files without their ending."""

    rooms: tuple[str, ...]
    """Of which nothing that is entered is missing."""
    files: tuple[str, ...]
    beside: frozenset[str]


def tours() -> dict[str, Tour]:
    """Each tour under its first words, in small letters."""
    section = ARCHITECTURE.read_text("utf-8").split("\n## Three tours\n")[1].split("\n## ")[0]
    found: dict[str, Tour] = {}
    for title, about, lines in re.findall(r"^\*\*(.+?)\*\*(.*)\n\n((?:- .+\n)+)", section, re.MULTILINE):
        beside = [line for line in lines.splitlines() if line.startswith("- Beside it")]
        stations = [line for line in lines.splitlines() if line not in beside]
        found[title.lower()] = Tour(names(about), names(*stations), frozenset(names(*beside)))
    return found


def names(*lines: str) -> tuple[str, ...]:
    return tuple(name for line in lines for name in re.findall(r"`([a-z_/]+)`", line))
