"""A text with its lines, and its characters folded into the plainest spelling (T-5)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice

MOST = 6
"""Places that are told apart; more are only several."""
MAX_BLOCKS = 200
"""Places at which the same lines stand, above which they are not a place at all."""
_SAME: dict[str, str] = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u02b9\u02bc\uff07",
    '"': "\u201c\u201d\u201e\u201f\u2033\uff02",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d",
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "...": "\u2026",
    "": "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff",
}


class _Folding(dict[int, str]):
    """What each character folds to, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = plain = unicodedata.normalize("NFD", chr(code))
        return plain


_TABLE = _Folding({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
_TABLE.update({ord(char): plain for plain, chars in _SAME.items() for char in chars})


def folded(text: str) -> str:
    """The text in the plainest spelling; composed letters come apart."""
    return text if text.isascii() else text.translate(_TABLE)


def folded_offsets(text: str) -> list[int]:
    """Where each character begins in the folded text, and where that ends."""
    return [0, *accumulate(len(folded(char)) for char in text)]


class IndexedLines:
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
    def _folded(self) -> list[str]:
        return [folded(line) for line in self.lines]

    @cached_property
    def _folded_starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._folded)]

    def line_at(self, at: int) -> int:
        """The line that holds an offset."""
        return bisect_right(self.starts, at) - 1

    def found(self, text: str) -> list[int]:
        """The offsets of a text, overlapping ones too, at most `MOST`."""
        return _all(self.text, text)

    def found_folded(self, text: str) -> list[tuple[int, int]]:
        """First and last offset of what folds to the same as `text`, at most `MOST`."""
        wanted = folded(text)
        ends = [(at, at + len(wanted)) for at in _all("\n".join(self._folded), wanted)]
        spans = [(self._unfolded(first), self._unfolded(last)) for first, last in ends]
        return [(first, last) for first, last in spans if first is not None and last is not None]

    def blocks(self, wanted: Sequence[str]) -> list[int]:
        """The lines at which these lines stand, whatever blanks are around them; none where they stand all over."""
        keys = [line.strip() for line in wanted]
        rarest = min(range(len(keys)), key=lambda index: len(self.numbers.get(keys[index], ())))
        firsts = (number - rarest for number in self.numbers.get(keys[rarest], ()))
        found = (first for first in firsts if first >= 0 and self.stripped[first : first + len(keys)] == keys)
        blocks = list(islice(found, MAX_BLOCKS + 1))
        return blocks if len(blocks) <= MAX_BLOCKS else []

    def _unfolded(self, at: int) -> int | None:
        """The offset of a place in the folded text; None inside of what folds to several characters."""
        number = bisect_right(self._folded_starts, at) - 1
        inside = at - self._folded_starts[number]
        offsets = folded_offsets(self.lines[number])
        return self.starts[number] + offsets.index(inside) if inside in offsets else None


def _all(text: str, wanted: str) -> list[int]:
    found: list[int] = []
    at = text.find(wanted) if wanted else -1
    while at >= 0 and len(found) < MOST:
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


WIDTHS = range(1, 9)
"""Columns that a tab may have."""

Pair = tuple[str, str]
"""A line as it was sent and as the file has it; the same but for the blanks around it."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What turns the blanks of a sent line into those of the file's."""

    ends: frozenset[str]
    """Blanks at line ends that were sent and are not in the file."""
    blanks: dict[str, str]
    """Lines of nothing but blanks as sent, and as the file has them."""
    widths: tuple[int, ...] = ()
    """The possible widths of a tab, where tabs stand for spaces."""
    known: dict[str, str] = field(default_factory=dict[str, str])
    """Indentations as sent, and as the file has them, where tabs differ."""
    added: str = ""
    """What the file's lines begin with and the sent ones do not."""
    removed: str = ""
    """What the sent lines begin with and the file's do not."""

    @property
    def moves(self) -> bool:
        """Whether more differs than blanks at line ends."""
        return bool(self.widths or self.added or self.removed)

    @property
    def what(self) -> str:
        """What was done to the lines, in words."""
        ends = "blanks at line ends left as the file has them"
        if not self.moves:
            return ends
        moved = f"indentation moved {'right' if self.added else 'left'} by {len(self.added or self.removed)} columns"
        said = "tabs and spaces read as the file has them" if self.widths else moved
        return f"{said}, {ends}" if self.ends else said

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
        return self._indented(line) if self.widths else line

    def _ended(self, tail: str) -> str | None:
        """Blanks at a line's end without what was sent there by mistake."""
        if not tail or not self.ends:
            return tail
        fits = {tail.removesuffix(end) for end in self.ends if tail.endswith(end)}
        return fits.pop() if len(fits) == 1 else None

    def _indented(self, lead: str) -> str | None:
        if not self.widths:
            return self.added + lead.removeprefix(self.removed) if lead.startswith(self.removed) else None
        if lead in self.known:
            return self.known[lead]
        made = {self._respelt(len(lead.expandtabs(width)), width) for width in self.widths}
        return made.pop() if len(made) == 1 else None

    def _respelt(self, columns: int, width: int) -> str | None:
        """An indentation as the file writes them; None where it writes some with tabs and some with spaces."""
        theirs = "".join(self.known.values())
        if not theirs:
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
        return Relation(ends, blanks)
    known = dict(leads)
    widths = [w for w in WIDTHS if all(len(there.expandtabs(w)) == len(sent.expandtabs(w)) for sent, there in leads)]
    if widths:
        clear = all(known[sent] == there for sent, there in leads)
        return Relation(ends, blanks, tuple(widths), known) if clear else None
    sent, there = leads[0]
    added = there.removesuffix(sent) if there.endswith(sent) else ""
    removed = sent.removesuffix(there) if sent.endswith(there) else ""
    if all(added + ours.removeprefix(removed) == theirs and ours.startswith(removed) for ours, theirs in leads):
        return Relation(ends, blanks, added=added, removed=removed)
    return None


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
