"""The view of a transcript: archived rounds left out, demoted bodies as one line, each call with its result (H-1)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.context.builder import History
from codelaw.context.demotion import demoted
from codelaw.context.sections import message_tokens
from codelaw.domain.messages import Message
from codelaw.domain.reports import Dropped
from codelaw.templates.render import render
from codelaw.transcript.hygiene import hygiene
from codelaw.transcript.transcript import Transcript

ARCHIVE = "archive:"
"""With a number, from 1: the path under which the Read tool gives a summary that the view leaves out."""


def project(transcript: Transcript, *, limit: int = 0, summary_room: int | None = None) -> History:
    """L3 as the model sees it; the record behind it is untouched.

    `limit` is the most user turns shown (H-5, 0 for all). Of the summaries the newest that fit into `summary_room`
    tokens stand verbatim; one line tells of older ones and how to read them, so that a chat of hundreds of turns does
    not drown in its own archive.
    """
    archived = transcript.messages[: transcript.cut]
    kept = transcript.shown
    clean, _ = hygiene(kept, limit)
    dropped: list[Dropped] = []
    if archived:
        turns = len({message.turn_id for message in archived})
        dropped.append(Dropped("archived rounds", f"{turns} older rounds were archived by compaction"))
    withdrawn = _turns([message for message in transcript.messages if message.turn_id in transcript.withdrawn])
    if withdrawn:
        dropped.append(Dropped("withdrawn rounds", f"{withdrawn} rounds were taken out of the context by a revert"))
    shown = demoted(clean, transcript.demoted)
    left_out = _turns(kept) - _turns(clean)
    if left_out > 0:
        dropped.append(Dropped("older rounds", f"context.historyLimits shows the newest {limit} user turns"))
    summaries = _within(transcript.summaries, summary_room)
    if len(summaries) < len(transcript.summaries):
        dropped.append(Dropped("older summaries", "the archive's share of the window is full; Read brings them back"))
    return History.of([*summaries, *shown], dropped)


def in_turn(question: Message, scratchpad: Sequence[Message]) -> Sequence[Message]:
    """The running turn's own messages, repaired (H-1); the same object when nothing was wrong."""
    whole = (question, *scratchpad)
    clean, _ = hygiene(whole)
    return scratchpad if clean is whole else [message for message in clean if message.id != question.id]


def _turns(messages: Sequence[Message]) -> int:
    return len({message.turn_id for message in messages})


def _within(summaries: tuple[Message, ...], room: int | None) -> tuple[Message, ...]:
    """The newest summaries in `room` tokens, at least one; a line of their own stands for the others."""
    if room is None:
        return summaries
    place, used = len(summaries), 0
    while place > 0:
        used += message_tokens(summaries[place - 1])
        if used > room and place < len(summaries):
            break
        place -= 1
    if place == 0:
        return summaries
    line = render("archive", count=place, first=f"{ARCHIVE}1", last=f"{ARCHIVE}{place}")
    return (Message(f"archive_{place}", "", "summary", line), *summaries[place:])
