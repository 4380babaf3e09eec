"""Keeping a turn's block up to date in a text that a person edits at the same time (E-3).

What stands in the file is looked up anew for every change, so that nothing depends on places of a moment ago. Only text
that is still as it was put there is changed; as soon as the person has touched it, it is theirs, and what is still to
be told goes below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from codelaw.domain.edits import Splice
from codelaw.transcript.chat_file.chat_file import YOU, Block, ChatFile, block, closing, closing_mark, header, parse
from codelaw.transcript.chat_file.fences import left_open

FOUND_AGAIN = 12
"""Characters by which the rest of a text is known again that the person has changed."""
_SPACE = re.compile(r"\s(?=\S*\Z)")


@dataclass(frozen=True, slots=True)
class Telling:
    """What is to be told of a turn now."""

    turn_id: str
    body: str
    running: bool
    status: str = ""


@dataclass(frozen=True, slots=True)
class Woven:
    """How much of a telling stands in the file."""

    settled: str = ""
    """Its beginning that is not touched any more."""
    shown: str = ""
    """What was put behind that."""
    status: str | None = ""
    """What was put before the closing comment; None: the person has written there."""


@dataclass(frozen=True, slots=True)
class Weave:
    """A change of the file, and what stands there once it is made."""

    splices: tuple[Splice, ...]
    woven: Woven


def begun(file: ChatFile, chat_id: str, telling: Telling, asked: str) -> Weave:
    """Tie the file to its chat, and open the turn's block below the question that was asked.

    What was written below it meanwhile is the next question.
    """
    splices: list[Splice] = []
    if file.chat_id != chat_id:
        if file.chat_span is not None:
            splices.append(Splice(*file.chat_span, header(chat_id)))
        else:
            splices.append(Splice(file.head, file.head, f"{header(chat_id)}\n\n"))
    text = file.text
    whole = _block(telling)
    if file.question is None:
        splices.append(_below(file, whole))
    else:
        fence = left_open(asked)
        close = f"{fence}\n" if fence is not None else ""
        end = _asked_until(file, asked)
        if text[end : end + 1] == "\n":
            after = "" if text[end + 1 : end + 2] == "\n" else "\n"
            splices.append(Splice(end + 1, end + 1, f"{close}\n{whole}\n\n{YOU}\n{after}"))
        else:
            splices.append(Splice(end, end, f"\n{close}\n{whole}\n\n{YOU}\n\n"))
    return Weave(_merged(splices), Woven("", telling.body, telling.status))


def _asked_until(file: ChatFile, asked: str) -> int:
    """Where the last line of what was asked ends."""
    if file.question is None:
        return len(file.text)
    last = file.text.rfind(asked, 0, file.question.end) if asked else -1
    if last < 0 or last < (file.blocks[-1].end if file.blocks else 0):
        return file.question.end
    end = file.text.find("\n", last + len(asked))
    return end if end >= 0 else len(file.text)


def weave(file: ChatFile, telling: Telling, woven: Woven) -> Weave | None:
    """The next change of the turn's block; None when there is no such block any more."""
    found = file.block(telling.turn_id)
    if found is None:
        return None
    woven = _kept(file.text[found.start : found.end], telling.body, woven)
    settled, rest = woven.settled, telling.body[len(woven.settled) :]
    if settled and not woven.shown:  # it begins a paragraph of its own
        settled += rest[: len(rest) - len(rest.lstrip("\n"))]
        rest = rest.lstrip("\n")
    splices: list[Splice] = []
    if woven.shown:
        if rest != woven.shown:
            at = found.start + file.text[found.start : found.end].rfind(woven.shown)
            same = len(_same(woven.shown, rest))
            splices.append(Splice(at + same, at + len(woven.shown), rest[same:]))
    elif rest:
        splices.append(Splice(found.end, found.end, _spaced(file.text, found, rest)))
    line, status = _closing(file.text, found, telling, woven)
    return Weave(_merged([*splices, *line]), Woven(settled, rest, status))


def restored(file: ChatFile, telling: Telling) -> Weave:
    """Put in a block that is not there, above the question that is being written."""
    return Weave((_below(file, _block(telling)),), Woven("", telling.body, telling.status))


def adopted(file: ChatFile, telling: Telling) -> Woven:
    """What stands in a file that was written by somebody else: an earlier server, or another editor."""
    found = file.block(telling.turn_id)
    there = file.text[found.start : found.end].strip() if found is not None else ""
    status = found.status if found is not None else ""
    if telling.body.startswith(there):
        return Woven("", there, status)
    same = _same(there, telling.body)
    return Woven(same[: same.rfind("\n") + 1], "", status)


def landed(text: str, telling: Telling, woven: Woven) -> bool:
    """Whether a change has arrived in the text, wherever the person has moved it."""
    found = parse(text).block(telling.turn_id)
    return (
        found is not None
        and found.closed
        and found.running == telling.running
        and (woven.status is None or found.status == woven.status)
        and woven.shown in text[found.start : found.end]
    )


def _kept(region: str, body: str, woven: Woven) -> Woven:
    """`woven`, with that taken as settled which the person has changed."""
    settled, shown = woven.settled, woven.shown
    if not body.startswith(settled):  # a step is asked again
        same = _same(settled, body)
        settled = same[: same.rfind("\n") + 1]
    if shown and not _untouched(region, shown):
        # What follows their change may still be as it was: it is gone on with there.
        kept = _longest_end(region, shown)
        if kept >= FOUND_AGAIN and _untouched(region, shown[-kept:]):
            return Woven(settled + shown[:-kept], shown[-kept:], woven.status)
        same = _same(body[len(settled) :], shown)
        space = _SPACE.search(same)
        settled += same if len(same) == len(body) - len(settled) else same[: space.end()] if space else ""
        shown = ""
    return Woven(settled, shown, woven.status)


def _untouched(region: str, shown: str) -> bool:
    """Whether a text stands there, and nothing behind it on its last line."""
    at = region.rfind(shown)
    return at >= 0 and not region[at + len(shown) :].split("\n", 1)[0].strip()


def _longest_end(region: str, shown: str) -> int:
    """How many of the last characters of `shown` stand somewhere in the region."""
    low, high = 0, len(shown)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if shown[-middle:] in region else (low, middle - 1)
    return low


def _spaced(text: str, found: Block, rest: str) -> str:
    """`rest` as a paragraph at the end of a block's inside."""
    before = text[: found.end]
    gap = "" if before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    return f"{gap}{rest}\n\n"


def _closing(text: str, found: Block, telling: Telling, woven: Woven) -> tuple[list[Splice], str | None]:
    """How the closing line changes, and what then stands before its comment."""
    wanted = closing(telling.turn_id, running=telling.running, status=telling.status)
    if not found.closed:
        before = text[: found.end]
        gap = "" if before.endswith("\n\n") or not before else "\n" if before.endswith("\n") else "\n\n"
        return [Splice(found.end, found.end, f"{gap}{wanted}\n\n")], telling.status
    end = text.find("\n", found.end)
    line = text[found.end : end if end >= 0 else len(text)]
    if line.rstrip() == wanted:
        return [], telling.status
    if found.status == woven.status:
        return [Splice(found.end, found.end + len(line), wanted)], telling.status
    span = closing_mark(line)
    mark = closing(telling.turn_id, running=telling.running)
    if span is None or line[slice(*span)] == mark:
        return [], None
    return [Splice(found.end + span[0], found.end + span[1], mark)], None


def _below(file: ChatFile, whole: str) -> Splice:
    """A block above the heading for the next question; without one at the end, and with such a heading."""
    text = file.text
    place = file.you
    if place is not None:
        gap = "" if place == 0 or text[:place].endswith("\n\n") else "\n"
        return Splice(place, place, f"{gap}{whole}\n\n")
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return Splice(len(text), len(text), f"{gap}{whole}\n\n{YOU}\n\n")


def _block(telling: Telling) -> str:
    return block(telling.turn_id, telling.body, running=telling.running, status=telling.status)


def _merged(splices: list[Splice]) -> tuple[Splice, ...]:
    """In order, and those that touch made one."""
    found: list[Splice] = []
    for splice in sorted(splices, key=lambda splice: (splice.start, splice.end)):
        if found and splice.start <= found[-1].end:
            last = found.pop()
            found.append(Splice(last.start, max(last.end, splice.end), last.text + splice.text))
        elif splice.start != splice.end or splice.text:
            found.append(splice)
    return tuple(found)


def _same(one: str, other: str) -> str:
    """How far two texts are the same."""
    if other.startswith(one):
        return one
    return next((one[:place] for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), other)
