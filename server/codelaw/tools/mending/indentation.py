"""How the blanks around the lines of a text and of a file relate, and what that makes of further lines (T-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

WIDTHS = range(1, 9)
"""Columns that a tab may have."""

Pair = tuple[str, str]
"""A line as it was sent and as the file has it; the same but for the blanks around it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What turns the blanks of a sent line into those of the file's."""

    level: Literal["ends", "tabs", "shift", "both"]
    """What differs, the least first: blanks at line ends, tabs for spaces, a constant indentation, both of these."""
    ends: frozenset[str]
    """Blanks at line ends that were sent and are not in the file."""
    blanks: dict[str, str]
    """Lines of nothing but blanks as sent, and as the file has them."""
    columns: dict[int, int] = field(default_factory=dict[int, int])
    """By each possible width of a tab, how far the file's lines stand further right."""
    known: dict[str, str] = field(default_factory=dict[str, str])
    """Indentations as sent, and as the file has them, where tabs differ."""
    added: str = ""
    """What the file's lines begin with and the sent ones do not."""
    removed: str = ""
    """What the sent lines begin with and the file's do not."""

    @property
    def what(self) -> str:
        """What was done to the lines, in words."""
        moved = len(self.added or self.removed)
        said = {
            "ends": "blanks at line ends left as the file has them",
            "tabs": "tabs and spaces read as the file has them",
            "shift": f"indentation moved {'right' if self.added else 'left'} by {moved} columns",
            "both": "tabs and spaces read as the file has them, indentation moved",
        }
        return said[self.level] if self.level == "ends" or not self.ends else f"{said[self.level]}, {said['ends']}"

    def applied(self, line: str) -> str | None:
        """A further line as the file would have it; None where that is a guess."""
        body = line.strip()
        if not body:
            return self._blank(line)
        lead, tail = _split(line)
        before, end = self._indented(lead), self._ended(tail)
        return None if before is None or end is None else before + body + end

    def _blank(self, line: str) -> str | None:
        """A line of nothing but blanks."""
        if not line or line in self.blanks:
            return self.blanks.get(line, line)
        if self.ends:
            return None  # a line that was meant so, or blanks at the end of an empty one
        return self._indented(line) if self.columns else line

    def _ended(self, tail: str) -> str | None:
        """Blanks at a line's end without what was sent there by mistake."""
        if not tail or not self.ends:
            return tail
        fits = {tail.removesuffix(end) for end in self.ends if tail.endswith(end)}
        return fits.pop() if len(fits) == 1 else None

    def _indented(self, lead: str) -> str | None:
        if not self.columns:
            return self.added + lead.removeprefix(self.removed) if lead.startswith(self.removed) else None
        if lead in self.known:
            return self.known[lead]
        made = {self._respelt(len(lead.expandtabs(width)) + more, width) for width, more in self.columns.items()}
        return made.pop() if len(made) == 1 else None

    def _respelt(self, columns: int, width: int) -> str | None:
        """An indentation as the file writes them; None where it writes some with tabs and some with spaces."""
        theirs = "".join(self.known.values())
        if columns < 0 or not theirs:
            return None
        if "\t" not in theirs:
            return " " * columns
        tabs, rest = divmod(columns, width)
        return "\t" * tabs if rest == 0 and all(there[:1] in {"", "\t"} for there in self.known.values()) else None


def relation(pairs: Sequence[Pair]) -> Relation | None:
    """The simplest relation that holds for all lines; None where there is none. Blank lines say nothing of it."""
    leads = [(_split(sent)[0], _split(there)[0]) for sent, there in pairs if sent.strip()]
    ends = _ends(pairs)
    if not leads or ends is None:
        return None
    blanks = _blanks(pairs)
    if all(sent == there for sent, there in leads):
        return Relation("ends", ends, blanks)
    known = dict(leads)
    offsets = {w: {len(there.expandtabs(w)) - len(sent.expandtabs(w)) for sent, there in leads} for w in WIDTHS}
    columns = {width: found.pop() for width, found in offsets.items() if len(found) == 1}
    same = {width: 0 for width, more in columns.items() if not more}
    clear = all(known[sent] == there for sent, there in leads)
    if same:
        return Relation("tabs", ends, blanks, same, known) if clear else None
    sent, there = leads[0]
    added = there.removesuffix(sent) if there.endswith(sent) else ""
    removed = sent.removesuffix(there) if sent.endswith(there) else ""
    if all(added + ours.removeprefix(removed) == theirs and ours.startswith(removed) for ours, theirs in leads):
        return Relation("shift", ends, blanks, added=added, removed=removed)
    return Relation("both", ends, blanks, columns, known) if clear and len(columns) == 1 else None


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
