"""What an answer proposes, read off its text, and the place that it is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.domain.edits import Splice
from codelaw.lsp.documents.positions import line_at, line_starts
from codelaw.transcript.chat_file.fences import Fences

if TYPE_CHECKING:
    from codelaw.agent.turn.running import TurnTask


@dataclass(frozen=True, slots=True)
class BegunProposal:
    """A turn that was begun to propose something."""

    turn: TurnTask
    text: str
    """What was asked."""
    uri: str = ""
    """Of the document; empty for the message of a commit."""
    first: int = 0
    """The first of the lines that are to be replaced, zero-based."""
    before: tuple[str, ...] = ()


def last_block(answer: str) -> tuple[tuple[str, ...] | None, str]:
    """The lines of the last block of code of an answer, None without one, and what else it says.

    A block that is not closed is none: something of it may be missing.
    """
    lines = answer.replace("\r\n", "\n").split("\n")
    fences = Fences()
    begin: int | None = None
    found: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        before = fences.open
        fences.take(line)
        if before is None and fences.open is not None:
            begin = number
        elif before is not None and fences.open is None and begin is not None:
            found = (begin, number)
    if fences.open is not None or found is None:
        return None, answer.strip()
    first, last = found
    indent = len(lines[first]) - len(lines[first].lstrip(" "))
    block = tuple(_dedented(line, indent) for line in lines[first + 1 : last])
    return block, "\n".join([*lines[:first], *lines[last + 1 :]]).strip()


def splice_of(text: str, before: Sequence[str], first: int, lines: Sequence[str]) -> Splice | None:
    """What puts `lines` in the place of `before` in a document; None where that is not to be found, or twice.

    It is looked for at `first`, zero-based, and then everywhere. Lines end as the document's do.
    """
    starts = line_starts(text)
    every = [line_at(text, starts, line) for line in range(len(starts))]
    place = _place(every, list(before), first)
    if place is None:
        return None
    end = place + len(before)
    stop = starts[end - 1] + len(every[end - 1])
    if not lines:  # the old ones go with their breaks
        stop = starts[end] if end < len(starts) else len(text)
    return Splice(starts[place], stop, ("\r\n" if "\r\n" in text else "\n").join(lines))


def _place(lines: Sequence[str], before: list[str], first: int) -> int | None:
    count = len(before)
    if list(lines[first : first + count]) == before:
        return first
    if not any(line.strip() for line in before):
        return None
    places = [at for at in range(len(lines) - count + 1) if list(lines[at : at + count]) == before]
    return places[0] if len(places) == 1 else None


def _dedented(line: str, indent: int) -> str:
    """As Markdown reads a line of a block whose fence is indented: as many spaces as are there are taken away."""
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]
