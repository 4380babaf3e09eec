"""Where a `react` reply acts (R-3).

A label in running text is not an action: not inside a code fence that holds more than the action, and, in a reply that
begins with neither a thought nor an action, not in front of words that are not a call. An action alone in a code fence
counts, unless the reply goes on in running text, to its real action or, without a thought in front, to its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from io import SEEK_END, StringIO
from typing import Literal

from codelaw.agent.dialects.grammar import FINISH, CallEnd, Opening, answer_end, is_formal, label_begun


class GrowingText:
    """Appending takes time in proportion to the piece, reading a part in proportion to that part.

    Joining a string to every piece of a long reply would copy what is there already each time (R-3).
    """

    def __init__(self, text: str = "") -> None:
        self._held = StringIO(newline="")
        self._length = 0
        self.add(text)

    def __len__(self) -> int:
        return self._length

    @property
    def text(self) -> str:
        """All of it."""
        return self._held.getvalue()

    def add(self, piece: str) -> None:
        """Append a piece."""
        self._held.seek(0, SEEK_END)
        self._held.write(piece)
        self._length += len(piece)

    def part(self, begin: int, end: int | None = None) -> str:
        """The characters from `begin` up to `end`, or to the end."""
        self._held.seek(begin)
        return self._held.read(max(0, (self._length if end is None else end) - begin))


_LABEL = re.compile(r"(?P<lead>[ \t>*_]*+)Action(?P<inner>[*_]*):(?P<after>[*_]*)[ \t]*")
_NAME = re.compile(r"(?P<quote>\s*```[\w-]*[ \t]*\n|[ \t]*`)?\s*(?P<name>[A-Za-z_][\w.-]*)[ \t]*\[")
_NAME_BEGUN = re.compile(r"(?:\s*```[\w-]*[ \t]*\n|[ \t]*`)?\s*(?:[A-Za-z_][\w.-]*[ \t]*)?\Z|\s*`{1,3}[\w-]*[ \t]*\Z")
_BARE = re.compile(r"[ \t]*(?P<quote>`?)[ \t]*Finish[ \t]*\[")
_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)(?:\n|\Z)")
_SPEAKS = re.compile(r"^[ \t>*_]*(?:Thought|Action|Observation)[*_]*:|^\[(?:tool|user|assistant)\]", re.MULTILINE)
_WORD = re.compile(r"[ \t]*`?(?P<word>[A-Za-z_][\w.-]*)`?[ \t]*(?P<open>[({]|$)?", re.MULTILINE)
_SOLID = re.compile(r"\S")
_LEAD = " \t>*_`"
"""What may stand before a label."""
_QUIET = re.compile(r"[\w.\-\s>*`~]*")
"""What may go on for any length between the beginning of a label and what tells whether it is one."""
LONG = 1024
"""Characters of what is not yet decided, from which on it is read again only when there is an eighth more of it."""

Place = Literal["plain", "alone", "quoted"]
"""Where a label stands: outside of code fences, alone in one, or in one among other lines."""


@dataclass(frozen=True, slots=True)
class Label:
    """Something that looks like an action; without an opening, only its label does."""

    start: int
    end: int
    """Behind the label, or behind the `[`."""
    place: Place
    opening: Opening | None = None


@dataclass(slots=True)
class Labels:
    """Finds the labels of a reply line by line, while it arrives."""

    place: int = 0
    """Before it, all has been looked at."""
    settled: bool = False
    """Nothing that follows in the unfinished line at `place` changes what was found there."""
    _mark: str = ""
    """Of the code fence that is open."""
    _fence: int = 0
    """Where that fence begins."""
    _said: bool = False
    """Something other than blanks stands before `place`,"""
    _said_before: bool = False
    """before the fence,"""
    _said_inside: bool = False
    """and in it."""

    def found(self, text: str, *, last: bool, base: int = 0) -> Iterator[Label]:
        """The next labels, of which more may follow unless it is the `last`; `text` is the reply from `base` on."""
        while self.place < base + len(text):
            begin = self.place - base
            newline = text.find("\n", begin)
            label = self._at(text, begin, last=last, base=base)
            if newline < 0 and not last:
                self.settled = bool(label)
                if label and label.opening:
                    yield label
                return
            self.settled = False
            if label is None:
                return
            end = len(text) if newline < 0 else newline + 1
            self.place = base + end
            fence = None if label else _FENCE.match(text, begin)
            self._pass(begin + base, fence, blank=text[begin:end].isspace())
            if label:
                yield label

    def _pass(self, begin: int, fence: re.Match[str] | None, *, blank: bool) -> None:
        """Go behind a line."""
        if fence and not self._mark:
            self._mark, self._fence = fence["mark"], begin
            self._said_before, self._said_inside = self._said, False
        else:
            if fence and fence["mark"].startswith(self._mark) and not fence["info"].strip():
                self._mark = ""
            self._said_inside = self._said_inside or not blank
        self._said = self._said or not blank

    def _at(self, text: str, begin: int, *, last: bool, base: int) -> Label | Literal[False] | None:
        """The label that begins here; False: none does; None: more text is needed to tell."""
        label = _LABEL.match(text, begin)
        if label is None:
            bare = _BARE.match(text, begin)
            if bare is None:
                return False
            return self._opened(Opening(begin + base, FINISH, bare.end() + base, _marks(bare["quote"])))
        name = _NAME.match(text, label.end())
        if name is None:
            if not last and _NAME_BEGUN.match(text, label.end()):
                return None
            return Label(begin + base, label.end() + base, self._standing())
        if not last and name["name"] != FINISH and not _SOLID.search(text, name.end()):
            return None  # what follows tells whether it is meant
        lead = label["lead"]
        bold = "" if label["inner"] or label["after"] else lead[len(lead.rstrip("*_")) :]
        wrap = _marks(bold, (name["quote"] or "").strip()[:3])
        return self._opened(Opening(begin + base, name["name"], name.end() + base, wrap))

    def _opened(self, opening: Opening) -> Label:
        place = self._standing()
        if place == "alone":
            opening = Opening(self._fence, opening.name, opening.inside, (self._mark, *opening.wrap))
        return Label(opening.start, opening.inside, place, opening)

    def _standing(self) -> Place:
        if not self._mark:
            return "plain"
        return "quoted" if self._said_inside and self._said_before else "alone"


def _marks(*marks: str) -> tuple[str, ...]:
    return tuple(filter(None, marks))


@dataclass(frozen=True, slots=True)
class ReplyAction:
    """What a whole reply does: acts, tried to (`failed` is where), or neither."""

    action: Opening | None = None
    failed: int | None = None


def find(text: str, tools: AbstractSet[str] = frozenset()) -> ReplyAction:
    """What a whole reply does; `tools` are the names that a call may have."""
    formal = is_formal(text)
    labels, alone, failed = Labels(), None, None
    prose, looked = False, 0
    for label in labels.found(text, last=True):
        meant = is_meant(text, label, tools, formal=formal)
        if alone is not None:
            prose = prose or _prose(text, alone.end, label.start)
            if not prose or (formal and _SPEAKS.search(text, looked, label.start)):
                return ReplyAction(alone.opening)
            looked = max(looked, label.start)
            if meant and label.opening and label.place == "plain":
                return ReplyAction(label.opening)
        elif meant and label.opening and label.place == "plain":
            return ReplyAction(label.opening)
        elif meant and label.opening and label.place == "alone":
            end = _end_alone(text, label.opening, formal=formal)
            if end == len(text):
                return ReplyAction(label.opening)
            if end is not None:
                alone, labels.place, looked = Label(label.start, end, "alone", label.opening), end, end
        elif meant and label.place == "plain" and failed is None:
            failed = label.start
    if alone is not None and (formal or not _prose(text, alone.end, len(text))):
        return ReplyAction(alone.opening)
    return ReplyAction(failed=failed)


def is_meant(text: str, label: Label, tools: AbstractSet[str], *, formal: bool, base: int = 0) -> bool:
    """Whether a label is meant as one: always in a reply that speaks in the dialect, else in front of a call.

    `text` is the reply from `base` on.
    """
    if formal:
        return True
    if label.opening is None:
        word = _WORD.match(text, label.end - base)
        return word is not None and word["open"] is not None and (word["word"] in tools or word["word"] == FINISH)
    if label.opening.name in tools or label.opening.name == FINISH:
        return True
    first = _SOLID.search(text, label.end - base)
    return first is not None and first[0] in {"{", "]"}


def _end_alone(text: str, opening: Opening, *, formal: bool) -> int | None:
    """Where an action that stands alone in a code fence ends; None when a Finish there is only quoted."""
    if opening.name == FINISH:
        return len(text) if formal or answer_end(text, opening)[1] else None
    end = CallEnd(opening.inside).look(text)
    return len(text) if end is None else end


def _prose(text: str, begin: int, end: int) -> bool:
    """Whether running text comes next, and neither another speaker nor only the end of a code fence."""
    speaks = _SPEAKS.search(text, begin, end)
    return bool(text[begin : speaks.start() if speaks else end].strip("`~ \t\r\n"))


@dataclass(slots=True)
class UnfinishedLine:
    """The unfinished line at the end of a reply."""

    start: int = 0
    held: bool = True
    """It is, or may still become, the beginning of an action."""
    _end: int = 0
    _head: str = ""
    """Its first words, until they tell."""
    _reported: bool = False

    def feed(self, piece: str) -> None:
        """More of the reply."""
        newline = piece.rfind("\n")
        if newline >= 0:
            self.start = self._end + newline + 1
            self._head, self.held, self._reported = "", True, False
        self._end += len(piece)
        if not self._reported:
            self._head = (self._head + piece[newline + 1 :]).lstrip(_LEAD)
            self.held = label_begun(self._head)
            self._reported = not self.held or self._head.startswith(("Action", FINISH))


@dataclass(slots=True)
class Scan:
    """A reply as it arrives, and its action as soon as nothing that follows can change it.

    It takes time in proportion to the reply, in however many pieces that comes.
    """

    tools: AbstractSet[str] = frozenset()
    text: GrowingText = field(default_factory=GrowingText)
    action: Opening | None = None
    label: int | None = None
    """The first label, meant or not: what stands before it is a thought."""
    line: UnfinishedLine = field(default_factory=UnfinishedLine)
    _labels: Labels = field(default_factory=Labels)
    _formal: bool | None = None
    """Whether the reply speaks in the dialect; None before it is asked."""
    _doubt: bool = False
    """Something stood alone in a code fence: the end of the reply decides."""
    _again: int = 0
    """Length of the text at which what is undecided for long is read again."""

    def feed(self, piece: str) -> None:
        """More of the reply."""
        across = self.line.start > self._labels.place
        self.text.add(piece)
        self.line.feed(piece)
        if self.action is None and not self._doubt and not self._tells_nothing(piece, across=across):
            self._look()

    def _tells_nothing(self, piece: str, *, across: bool) -> bool:
        """Whether the piece need not be looked at; `across`: what is undecided began in an earlier line."""
        place, length = self._labels.place, len(self.text)
        if place == self.line.start and (self._labels.settled or not self.line.held):
            return True
        if length - place <= LONG or length >= self._again:
            return False
        return (across or "\n" not in piece) and _QUIET.fullmatch(piece) is not None

    def _look(self) -> None:
        base = self._labels.place
        text = self.text.part(base)
        for label in self._labels.found(text, last=False, base=base):
            self.label = label.start if self.label is None else self.label
            if label.opening is None or label.place == "quoted":
                continue
            if label.place == "alone":
                self._doubt = True
                return
            if self._formal is None:
                # What stands before the first label tells, and never changes.
                self._formal = is_formal(self.text.part(0, label.end))
            if is_meant(text, label, self.tools, formal=self._formal, base=base):
                self.action = label.opening
                return
        length = len(self.text)
        self._again = length + (length - self._labels.place) // 8
