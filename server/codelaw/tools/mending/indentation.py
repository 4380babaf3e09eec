"""How the blanks around the lines of a text and of a file relate, and what that makes of further lines (T-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Level = Literal["ends", "tabs", "shift", "both"]
LEVELS: tuple[Level, ...] = ("ends", "tabs", "shift", "both")
"""What differs, the least first: blanks at line ends, tabs for spaces, a constant indentation, both of these."""
WIDTHS = range(1, 9)
"""Columns that a tab may have."""

Pair = tuple[str, str]
"""A line as it was sent and as the file has it; the same but for the blanks around it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What turns the blanks of a sent line into those of the file's."""

    level: Level
    widths: tuple[int, ...] = ()
    """Of a tab, all that are possible."""
    columns: int = 0
    """By which the file's lines stand further right, where tabs differ too."""
    added: str = ""
    """What the file's lines begin with and the sent ones do not."""
    removed: str = ""
    """What the sent lines begin with and the file's do not."""
    known: dict[str, str] = field(default_factory=dict[str, str])
    """Indentations as sent, and as the file has them."""
    tabbed: bool | None = None
    """Whether the file indents with tabs; None where it does both."""
    ends: frozenset[str] = frozenset()
    """Blanks at line ends that were sent and are not in the file."""
    blanks: dict[str, str] = field(default_factory=dict[str, str])
    """Lines of nothing but blanks as sent, and as the file has them."""

    @property
    def what(self) -> str:
        """What was done to the lines, in words."""
        told: list[str] = []
        if self.level in {"tabs", "both"}:
            told.append("tabs and spaces read as the file has them")
        if self.level == "shift":
            moved, side = (self.added, "right") if self.added else (self.removed, "left")
            unit = "tabs" if set(moved) == {"\t"} else "columns"
            told.append(f"indentation moved {side} by {len(moved)} {unit if len(moved) > 1 else unit[:-1]}")
        if self.level == "both":
            told.append("indentation moved")
        if self.level == "ends" or self.ends:
            told.append("blanks at line ends left as the file has them")
        return ", ".join(told)

    def applied(self, line: str, *, begun: bool = False) -> str | None:
        """A further line as the file would have it; None where that is a guess. `begun`: its indentation stands."""
        body = line.strip()
        if not body:
            return self._blank(line)
        lead, tail = _split(line)
        end = self._ended(tail)
        if end is None or (begun and lead):
            return None
        before = "" if begun else self._indented(lead)
        return None if before is None else before + body + end

    def _blank(self, line: str) -> str | None:
        """A line of nothing but blanks."""
        if not line or line in self.blanks:
            return self.blanks.get(line, line)
        if self.ends:
            return None  # a line that was meant so, or blanks at the end of an empty one
        return self._indented(line) if self.level in {"tabs", "both"} else line

    def _ended(self, tail: str) -> str | None:
        """Blanks at a line's end without what was sent there by mistake."""
        if not tail or not self.ends:
            return tail
        fits = {tail.removesuffix(end) for end in self.ends if tail.endswith(end)}
        return fits.pop() if len(fits) == 1 else None

    def _indented(self, lead: str) -> str | None:
        if self.level == "ends":
            return lead
        if self.level == "shift":
            if self.added:
                return self.added + lead
            return lead.removeprefix(self.removed) if lead.startswith(self.removed) else None
        if lead in self.known:
            return self.known[lead]
        made = {self._respelt(lead, width) for width in self.widths}
        return made.pop() if len(made) == 1 else None

    def _respelt(self, lead: str, width: int) -> str | None:
        columns = _columns(lead, width) + self.columns
        if columns < 0 or self.tabbed is None:
            return None
        if not self.tabbed:
            return " " * columns
        tabs, rest = divmod(columns, width)
        return "\t" * tabs if rest == 0 else None


def relation(pairs: Sequence[Pair]) -> Relation | None:
    """The simplest relation that holds for all lines; None where there is none. Blank lines say nothing of it."""
    leads = [(_split(sent)[0], _split(there)[0]) for sent, there in pairs if sent.strip()]
    ends = _ends(pairs)
    if not leads or ends is None:
        return None
    same = Relation("ends", ends=ends) if all(sent == there for sent, there in leads) else None
    found = same or _tabs(leads, ends) or _shift(leads, ends) or _both(leads, ends)
    return None if found is None else replace(found, blanks=_blanks(pairs))


def _tabs(leads: Sequence[Pair], ends: frozenset[str]) -> Relation | None:
    widths = tuple(w for w in WIDTHS if all(_columns(sent, w) == _columns(there, w) for sent, there in leads))
    if not widths:
        return None
    return _respelling("tabs", leads, ends, widths, 0)


def _shift(leads: Sequence[Pair], ends: frozenset[str]) -> Relation | None:
    sent, there = leads[0]
    if there.endswith(sent):
        added = there.removesuffix(sent)
        if all(theirs == added + ours for ours, theirs in leads):
            return Relation("shift", added=added, ends=ends)
    if sent.endswith(there):
        removed = sent.removesuffix(there)
        if all(ours == removed + theirs for ours, theirs in leads):
            return Relation("shift", removed=removed, ends=ends)
    return None


def _both(leads: Sequence[Pair], ends: frozenset[str]) -> Relation | None:
    found: dict[int, int] = {}
    for width in WIDTHS:
        offsets = {_columns(there, width) - _columns(sent, width) for sent, there in leads}
        if len(offsets) == 1:
            found[width] = offsets.pop()
    if len(found) != 1:
        return None
    [(width, columns)] = found.items()
    return _respelling("both", leads, ends, (width,), columns)


def _respelling(
    level: Level, leads: Sequence[Pair], ends: frozenset[str], widths: tuple[int, ...], columns: int
) -> Relation | None:
    known: dict[str, str] = {}
    for sent, there in leads:
        if known.setdefault(sent, there) != there:
            return None
    theirs = [there for _, there in leads if there]
    tabbed = True if all(there[0] == "\t" for there in theirs) else None
    if not any("\t" in there for there in theirs):
        tabbed = False
    return Relation(level, widths, columns, known=known, tabbed=tabbed if theirs else None, ends=ends)


def _ends(pairs: Sequence[Pair]) -> frozenset[str] | None:
    """The blanks that were sent at line ends and are not in the file; None where it has others in their place."""
    extra: set[str] = set()
    for sent, there in pairs:
        ours, theirs = (_split(line)[1] if line.strip() else line for line in (sent, there))
        if ours.startswith(theirs):
            extra.add(ours.removeprefix(theirs))
        elif sent.strip() and not theirs.startswith(ours):
            return None
    return frozenset(extra - {""})


def _blanks(pairs: Sequence[Pair]) -> dict[str, str]:
    """What blank lines are in the file, where that is always the same."""
    seen: dict[str, set[str]] = {}
    for sent, there in pairs:
        if sent and not sent.strip():
            seen.setdefault(sent, set()).add(there)
    return {sent: there.pop() for sent, there in seen.items() if len(there) == 1}


def _split(line: str) -> Pair:
    """The blanks before and behind what a line holds."""
    bare = line.lstrip()
    return line[: len(line) - len(bare)], bare[len(bare.rstrip()) :]


def _columns(lead: str, width: int) -> int:
    return len(lead.expandtabs(width))
