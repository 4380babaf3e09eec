"""Where a `react` reply acts (R-3).

A label in running text is not an action: not inside a code fence that holds more than the action, and, in a reply that
begins with neither a thought nor an action, not in front of words that are not a call. An action alone in a code fence
counts, unless the reply goes on in running text, to its real action or, without a thought in front, to its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from io import SEEK_END, StringIO
from typing import Literal

from codelaw.agent.dialects.grammar import FINISH, CallEnd, Opening, answer_end, is_formal


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


# All is bounded, so that a line is decided after a few hundred characters, however it arrives.
_LABEL = re.compile(r"(?P<lead>[ \t>*_]{0,64}+)Action(?P<inner>[*_]{0,8}):(?P<after>[*_]{0,8})[ \t]{0,64}")
_QUOTE = r"\s{0,64}```[\w-]{0,32}[ \t]{0,64}\n|[ \t]{0,64}`"
_NAME = re.compile(rf"(?P<quote>{_QUOTE})?\s{{0,64}}(?P<name>[A-Za-z_][\w.-]{{0,127}})[ \t]{{0,64}}\[")
_NAME_BEGUN = re.compile(
    rf"(?:{_QUOTE})?\s{{0,64}}(?:[A-Za-z_][\w.-]{{0,127}}[ \t]{{0,64}})?\Z"
    r"|\s{0,64}`{1,3}[\w-]{0,32}[ \t]{0,64}\Z"
)
_BARE = re.compile(r"[ \t]{0,64}(?P<quote>`?)[ \t]{0,64}Finish[ \t]{0,64}\[")
_BEGUN = re.compile(
    r"[ \t>*_`]{0,64}(?:A(?:c(?:t(?:i(?:o(?:n[*_]{0,8})?)?)?)?)?|F(?:i(?:n(?:i(?:s(?:h[ \t]{0,64})?)?)?)?)?)?\Z"
)
_BLANK = re.compile(r"\s{0,64}\Z")
_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)(?:\n|\Z)")
_SPEAKS = re.compile(r"^[ \t>*_]*(?:Thought|Action|Observation)[*_]*:|^\[(?:tool|user|assistant)\]", re.MULTILINE)
_WORD = re.compile(r"[ \t]*`?(?P<word>[A-Za-z_][\w.-]*)`?[ \t]*(?P<open>[({]|$)?", re.MULTILINE)
_SOLID = re.compile(r"\S")


@dataclass(slots=True)
class Labels:
    """Finds what looks like an action line by line, while the reply arrives."""

    place: int = 0
    """Before it, all has been looked at."""
    open: bool = True
    """What begins at `place` may yet become an action."""
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

    def found(self, text: str, *, last: bool, base: int = 0) -> Iterator[Opening]:
        """The next labels, of which more may follow unless it is the `last`; `text` is the reply from `base` on."""
        self.open = True
        while self.place < base + len(text):
            begin = self.place - base
            newline = text.find("\n", begin)
            label = self._at(text, begin, last=last, base=base)
            if newline < 0 and not last:
                self.open = label is None or (not label and _BEGUN.match(text, begin) is not None)
                if label:
                    yield label
                return
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

    def _at(self, text: str, begin: int, *, last: bool, base: int) -> Opening | Literal[False] | None:
        """The label that begins here; False: none does; None: more text is needed to tell."""
        label = _LABEL.match(text, begin)
        if label is None:
            bare = _BARE.match(text, begin)
            return bare is not None and self._opened(begin + base, FINISH, bare.end() + base, bare["quote"])
        name = _NAME.match(text, label.end())
        if name is None:
            if not last and _NAME_BEGUN.match(text, label.end()):
                return None
            return Opening(begin + base, "", label.end() + base, (), self._standing)
        if not last and name["name"] != FINISH and _BLANK.match(text, name.end()):
            return None  # what follows tells whether it is meant
        lead = label["lead"]
        bold = "" if label["inner"] or label["after"] else lead[len(lead.rstrip("*_")) :]
        return self._opened(begin + base, name["name"], name.end() + base, bold, (name["quote"] or "").strip()[:3])

    def _opened(self, start: int, name: str, inside: int, *wrap: str) -> Opening:
        opening = Opening(start, name, inside, tuple(filter(None, wrap)), self._standing)
        if opening.place == "alone":
            opening = replace(opening, start=self._fence, wrap=(self._mark, *opening.wrap))
        return opening

    @property
    def _standing(self) -> Literal["plain", "alone", "quoted"]:
        if not self._mark:
            return "plain"
        return "quoted" if self._said_inside and self._said_before else "alone"


def find(text: str, tools: AbstractSet[str] = frozenset()) -> Opening | None:
    """Where a whole reply acts, or, without a name, tries to; `tools` are the names that a call may have."""
    formal = is_formal(text)
    labels, alone, failed = Labels(), None, None
    prose, looked, end = False, 0, None
    for label in labels.found(text, last=True):
        meant = is_meant(text, label, tools, formal=formal)
        if alone is not None:
            prose = prose or _prose(text, end or 0, label.start)
            if not prose or (formal and _SPEAKS.search(text, looked, label.start)):
                return alone
            looked = max(looked, label.start)
        if meant and label.place == "plain" and label.name:
            return label
        if meant and alone is None and label.place == "plain":
            failed = failed or label
        if meant and alone is None and label.place == "alone" and label.name:
            end = _end_alone(text, label, formal=formal)
            if end == len(text):
                return label
            if end is not None:
                alone, labels.place, looked = label, end, end
    if alone is not None and (formal or not _prose(text, end or 0, len(text))):
        return alone
    return failed


def is_meant(text: str, label: Opening, tools: AbstractSet[str], *, formal: bool, base: int = 0) -> bool:
    """Whether a label is meant as one: always in a reply that speaks in the dialect, else in front of a call.

    `text` is the reply from `base` on.
    """
    if formal or label.name in tools or label.name == FINISH:
        return True
    if not label.name:
        word = _WORD.match(text, label.inside - base)
        return word is not None and word["open"] is not None and (word["word"] in tools or word["word"] == FINISH)
    first = _SOLID.search(text, label.inside - base)
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
class Scan:
    """A reply as it arrives, and its action as soon as nothing that follows can change it.

    It takes time in proportion to the reply, in however many pieces that comes.
    """

    tools: AbstractSet[str] = frozenset()
    text: GrowingText = field(default_factory=GrowingText)
    action: Opening | None = None
    _label: int | None = None
    """The first label, meant or not: what stands before it is a thought."""
    _labels: Labels = field(default_factory=Labels)
    _formal: bool | None = None
    """Whether the reply speaks in the dialect; None before it is asked."""
    _doubt: bool = False
    """Something stood alone in a code fence: the end of the reply decides."""

    @property
    def thought_end(self) -> int:
        """Up to where the thought goes as far as is known."""
        if self._label is not None:
            return self._label
        return self._labels.place if self._labels.open else len(self.text)

    def feed(self, piece: str) -> None:
        """More of the reply."""
        self.text.add(piece)
        if self.action is not None or self._doubt or not (self._labels.open or "\n" in piece):
            return
        base = self._labels.place
        text = self.text.part(base)
        for label in self._labels.found(text, last=False, base=base):
            self._label = label.start if self._label is None else self._label
            if label.name and label.place == "alone":
                self._doubt = True
                return
            if self._formal is None and label.name:
                # What stands before the first label tells, and never changes.
                self._formal = is_formal(self.text.part(0, label.inside))
            meant = label.name and is_meant(text, label, self.tools, formal=bool(self._formal), base=base)
            if meant and label.place == "plain":
                self.action = label
                return
