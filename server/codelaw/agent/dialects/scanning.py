"""Where a `react` reply acts (R-3).

A label in running text is no action: not inside a code fence that holds more than the action, and, in a reply that
begins with neither a thought nor an action, not in front of words that are no call. An action alone in a code fence
counts, unless the reply goes on in running text, to its real action or, without a thought in front, to its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal

from codelaw.agent.dialects.grammar import FINISH, CallEnd, Opening, answer_end, is_formal

_LABEL = re.compile(r"[ \t>*_]*?(?P<before>[*_]*)Action(?P<inner>[*_]*):(?P<after>[*_]*)[ \t]*")
_NAME = re.compile(r"(?P<quote>\s*```[\w-]*[ \t]*\n|[ \t]*`)?\s*(?P<name>[A-Za-z_][\w.-]*)[ \t]*\[")
_NAME_BEGUN = re.compile(r"(?:\s*```[\w-]*[ \t]*\n|[ \t]*`)?\s*(?:[A-Za-z_][\w.-]*[ \t]*)?\Z|\s*`{1,3}[\w-]*[ \t]*\Z")
_BARE = re.compile(r"[ \t]*(?P<quote>`?)[ \t]*Finish[ \t]*\[")
_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n`]*)(?:\n|\Z)")
_SPEAKS = re.compile(r"^[ \t>*_]*(?:Thought|Action|Observation)[*_]*:|^\[(?:tool|user|assistant)\]", re.MULTILINE)
_WORD = re.compile(r"[ \t]*`?(?P<word>[A-Za-z_][\w.-]*)`?[ \t]*(?P<open>[({]|$)?", re.MULTILINE)

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
    _mark: str = ""
    """Of the code fence that is open."""
    _fence: tuple[int, int] = (0, 0)
    """Where that fence and its first line begin."""

    def found(self, text: str, *, last: bool) -> Iterator[Label]:
        """The next labels in `text`, of which more may follow unless it is the `last`."""
        while self.place < len(text):
            begin = self.place
            newline = text.find("\n", begin)
            label = self._at(text, begin, last=last)
            if newline < 0 and not last:
                if label and label.opening:
                    yield label  # and again, until its line has ended
                return
            if label is None:
                return
            self.place = len(text) if newline < 0 else newline + 1
            if label:
                yield label
            elif fence := _FENCE.match(text, begin):
                if not self._mark:
                    self._mark, self._fence = fence["mark"], (begin, fence.end())
                elif fence["mark"].startswith(self._mark) and not fence["info"].strip():
                    self._mark = ""

    def _at(self, text: str, begin: int, *, last: bool) -> Label | Literal[False] | None:
        """The label that begins here; False: none does; None: more text is needed to tell."""
        label = _LABEL.match(text, begin)
        if label is None:
            bare = _BARE.match(text, begin)
            return self._opened(text, Opening(begin, FINISH, bare.end(), _marks(bare["quote"]))) if bare else False
        name = _NAME.match(text, label.end())
        if name is None:
            if not last and _NAME_BEGUN.match(text, label.end()):
                return None
            return Label(begin, label.end(), self._standing(text, begin))
        if not last and not text[name.end() :].strip() and name["name"] != FINISH:
            return None  # what follows tells whether it is meant
        bold = "" if label["inner"] or label["after"] else label["before"]
        wrap = _marks(bold, (name["quote"] or "").strip()[:3])
        return self._opened(text, Opening(begin, name["name"], name.end(), wrap))

    def _opened(self, text: str, opening: Opening) -> Label:
        place = self._standing(text, opening.start)
        if place == "alone":
            opening = Opening(self._fence[0], opening.name, opening.inside, (self._mark, *opening.wrap))
        return Label(opening.start, opening.inside, place, opening)

    def _standing(self, text: str, begin: int) -> Place:
        if not self._mark:
            return "plain"
        start, inside = self._fence
        return "quoted" if text[inside:begin].strip() and text[:start].strip() else "alone"


def _marks(*marks: str) -> tuple[str, ...]:
    return tuple(filter(None, marks))


@dataclass(frozen=True, slots=True)
class Found:
    """What a whole reply does: acts, tried to (`failed` is where), or neither."""

    action: Opening | None = None
    failed: int | None = None


def find(text: str, tools: AbstractSet[str] = frozenset()) -> Found:
    """What a whole reply does; `tools` are the names that a call may have."""
    formal = is_formal(text)
    labels, alone, failed = Labels(), None, None
    for label in labels.found(text, last=True):
        meant = is_meant(text, label, tools, formal=formal)
        if alone is not None:
            if not _prose(text, alone.end, label.start) or (formal and _SPEAKS.search(text, alone.end, label.start)):
                return Found(alone.opening)
            if meant and label.opening and label.place == "plain":
                return Found(label.opening)
        elif meant and label.opening and label.place == "plain":
            return Found(label.opening)
        elif meant and label.opening and label.place == "alone":
            end = _end_alone(text, label.opening, formal=formal)
            if end == len(text):
                return Found(label.opening)
            if end is not None:
                alone, labels.place = Label(label.start, end, "alone", label.opening), end
        elif meant and label.place == "plain" and failed is None:
            failed = label.start
    if alone is not None and (formal or not _prose(text, alone.end, len(text))):
        return Found(alone.opening)
    return Found(failed=failed)


def is_meant(text: str, label: Label, tools: AbstractSet[str], *, formal: bool) -> bool:
    """Whether a label is meant as one: always in a reply that speaks in the dialect, else in front of a call."""
    if formal:
        return True
    if label.opening is None:
        word = _WORD.match(text, label.end)
        return word is not None and word["open"] is not None and word["word"] in {*tools, FINISH}
    if label.opening.name in tools or label.opening.name == FINISH:
        return True
    return text[label.end :].lstrip()[:1] in {"{", "]"}


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
    """A reply as it arrives, and its action as soon as nothing that follows can change it."""

    tools: AbstractSet[str] = frozenset()
    text: str = ""
    action: Opening | None = None
    label: int | None = None
    """The first label, meant or not: what stands before it is a thought."""
    _labels: Labels = field(default_factory=Labels)
    _doubt: bool = False
    """Something stood alone in a code fence: the end of the reply decides."""

    def feed(self, text: str) -> None:
        """More of the reply."""
        self.text += text
        if self.action is not None or self._doubt:
            return
        for label in self._labels.found(self.text, last=False):
            self.label = label.start if self.label is None else self.label
            if label.opening is None or label.place == "quoted":
                continue
            if label.place == "alone":
                self._doubt = True
                return
            if is_meant(self.text, label, self.tools, formal=is_formal(self.text)):
                self.action = label.opening
                return
