"""What changes in a chat file while a turn runs: its block is opened, grows, and is finished (E-3).

Where somebody has typed into a block, it stays as it is until the turn has ended: then the rest goes below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from codelaw.domain.edits import Splice
from codelaw.transcript.chat_file.chat_file import YOU, ChatFile, block, closing, header
from codelaw.transcript.chat_file.fences import left_open

_STATUS = re.compile(r"(\*[^*]*…\*)?")
"""What we write in front of a closing comment."""


@dataclass(frozen=True, slots=True)
class TurnText:
    """What a turn's block is to say."""

    turn_id: str
    body: str
    running: bool
    status: str = ""

    @property
    def block(self) -> str:
        """The whole block."""
        return block(self.turn_id, self.body, running=self.running, status=self.status)


def opened(file: ChatFile, chat_id: str, turn: TurnText, asked: str) -> tuple[Splice, ...]:
    """Tie the file to its chat, and open the turn's block below the question that was asked.

    What was written below it meanwhile is the next question.
    """
    splices: list[Splice] = []
    if file.chat_id != chat_id:
        if file.chat_span is not None:
            splices.append(Splice(*file.chat_span, header(chat_id)))
        else:
            splices.append(Splice(file.head, file.head, f"{header(chat_id)}\n\n"))
    if file.question is None:
        splices.append(_above_the_question(file, turn))
    else:
        fence = left_open(asked)
        inserted = f"{fence}\n\n{turn.block}" if fence is not None else f"\n{turn.block}"
        end = _end_of_asked(file, asked, file.question.end)
        after = file.text[end : end + 2]
        if after.startswith("\n"):
            gap = "" if after == "\n\n" else "\n"
            splices.append(Splice(end + 1, end + 1, f"{inserted}\n\n{YOU}\n{gap}"))
        else:
            splices.append(Splice(end, end, f"\n{inserted}\n\n{YOU}\n\n"))
    splices.sort(key=lambda splice: splice.start)
    if len(splices) > 1 and splices[0].end == splices[1].start:
        first, second = splices
        return (Splice(first.start, second.end, first.text + second.text),)
    return tuple(splices)


def updated(file: ChatFile, turn: TurnText, written: TurnText | None) -> tuple[Splice, ...] | None:
    """Bring a turn's block up to date; None where that has to wait for the end of the turn.

    `written` is what was put in last. With None it is not known, and a block is taken as untouched that says the
    beginning of the new body.
    """
    found = file.block(turn.turn_id)
    if found is None:
        return None if turn.running and written is not None else (_above_the_question(file, turn),)
    if found.closed and not found.running:
        return ()
    inside = file.text[found.start : found.end].strip("\n")
    untouched = turn.body.startswith(inside) if written is None else inside == written.body
    if turn.running and not untouched:
        return None
    body = (
        turn.body
        if untouched
        else f"{inside}\n\n{_rest(turn.body, inside if written is None else written.body)}".strip()
    )
    ours = _STATUS.fullmatch(found.status) is not None if written is None else found.status == written.status
    last = closing(turn.turn_id, running=turn.running, status=turn.status if ours else found.status)
    new = f"\n{body}\n\n{last}" if body else f"\n{last}"
    if found.closed:
        line = file.text.find("\n", found.end)
        end = line if line >= 0 else len(file.text)
    else:
        end = found.end
        new += "\n\n"
    old = file.text[found.start : end]
    same = _same(old, new)
    return () if old == new else (Splice(found.start + same, end, new[same:]),)


def _rest(body: str, written: str) -> str:
    """What of a body is not written yet, from the beginning of a word on."""
    same = _same(body, written)
    if same == len(body):
        return ""
    return body[max(body.rfind(" ", 0, same), body.rfind("\n", 0, same)) + 1 :].lstrip("\n")


def _end_of_asked(file: ChatFile, asked: str, end: int) -> int:
    """Where the last line of what was asked ends."""
    last = file.text.rfind(asked, 0, end) if asked else -1
    if last < (file.blocks[-1].end if file.blocks else 0):
        return end
    line = file.text.find("\n", last + len(asked))
    return line if line >= 0 else len(file.text)


def _above_the_question(file: ChatFile, turn: TurnText) -> Splice:
    """A block above the heading for the next question; without one at the end, and with such a heading."""
    place = file.you if file.you is not None else len(file.text)
    before = file.text[:place]
    gap = "" if not before or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"
    heading = "" if file.you is not None else f"{YOU}\n\n"
    return Splice(place, place, f"{gap}{turn.block}\n\n{heading}")


def _same(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(one), len(other)))
