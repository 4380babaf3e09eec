"""The outline of a chat file or transcript: rounds, steps, calls, and what can be folded (E-4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from codelaw.transcript.chat_file.chat_file import ChatFile, headings, is_question_heading, parse
from codelaw.transcript.chat_file.fences import Fences
from codelaw.transcript.chat_file.story import one_line

TITLE_CHARACTERS = 80

OutlineKind = Literal["title", "round", "block", "heading"]


@dataclass(slots=True)
class OutlineItem:
    """A part of the document; lines are zero-based, `last` is inclusive."""

    title: str
    kind: OutlineKind
    first: int
    last: int
    level: int
    """How deep it lies; only the order counts."""
    inside: list[OutlineItem] = field(default_factory=list["OutlineItem"])


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that can be folded into the first; zero-based, inclusive."""

    first: int
    last: int


def outline(text: str) -> list[OutlineItem]:
    """The parts of a text whose lines end with a line feed."""
    lines = text.split("\n")
    end = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    roots: list[OutlineItem] = []
    above: list[OutlineItem] = []
    for entry in [*_flat(parse(text), lines), OutlineItem("", "title", end + 1, end, -1)]:
        while above and above[-1].level >= entry.level:
            over = above.pop()
            if over.kind != "block":
                over.last = max(over.first, min(over.last, end, entry.first - 1))
        (above[-1].inside if above else roots).append(entry)
        above.append(entry)
    return roots[:-1]


def folds(text: str) -> list[Fold]:
    """Rounds, blocks, headings, blocks of code and collapsed details."""
    waiting = outline(text)
    for entry in waiting:  # which grows meanwhile
        waiting += entry.inside
    found = {*(Fold(entry.first, entry.last) for entry in waiting), *_code(text.split("\n"))}
    return sorted((fold for fold in found if fold.last > fold.first), key=lambda fold: (fold.first, -fold.last))


def _flat(file: ChatFile, lines: list[str]) -> list[OutlineItem]:
    entries: list[OutlineItem] = []
    place = 0
    asked = False
    for block in [*file.blocks, None]:
        upto = block.first if block is not None else len(lines)
        for line, level, words in headings(lines, place, upto - 1):
            if is_question_heading(lines[line]):
                entries.append(OutlineItem(_question(lines, line, upto), "round", line, len(lines) - 1, 0))
                asked = True
            elif asked:
                entries.append(OutlineItem(_short(words), "heading", line, upto - 1, 1 + level))
            else:
                entries.append(OutlineItem(_short(words), "title", line, upto - 1, 0))
        if block is None:
            break
        title = ("codelaw" if block.kind == "turn" else "Summary") + (" …" if block.running else "")
        level = int(asked and block.kind == "turn")
        entries.append(OutlineItem(title, "block", block.first, block.last, level))
        inner = block.last - 1 if block.closed else block.last
        entries += [
            OutlineItem(_short(words), "heading", line, inner, 10 + deep)
            for line, deep, words in headings(lines, block.first + 1, inner)
        ]
        place = block.last + 1
    return entries


def _question(lines: list[str], line: int, upto: int) -> str:
    first = next((text for text in lines[line + 1 : upto] if text.strip()), "")
    return f"You: {_short(first)}" if first else "You"


def _short(words: str) -> str:
    return one_line(words, TITLE_CHARACTERS) or "…"


def _code(lines: list[str]) -> list[Fold]:
    found: list[Fold] = []
    fences, begun = Fences(), 0
    details: list[int] = []
    for number, line in enumerate(lines):
        was = fences.open
        fences.take(line)
        if was is None and fences.open is not None:
            begun = number
        elif was is not None and fences.open is None:
            found.append(Fold(begun, number))
        elif was is None:
            if line.startswith("<details>"):
                details.append(number)
            elif line.startswith("</details>") and details:
                found.append(Fold(details.pop(), number))
    return found
