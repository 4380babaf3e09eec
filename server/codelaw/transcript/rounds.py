"""Rounds: what a finished turn leaves in the history; when to compact, and which of them (W-2, K-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from codelaw.domain.messages import Message


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """A turn's messages: the user's, the steps with their results, the final one. Never parted."""

    turn_id: str
    messages: tuple[Message, ...]


def own(messages: Iterable[Message]) -> tuple[Message, ...]:
    """What the chat's own turns said: without the steps of their children, which no view of the history shows (X-4)."""
    return tuple(message for message in messages if message.metadata.parent is None)


def rounds(messages: Sequence[Message]) -> tuple[Round, ...]:
    """The rounds of a record, in order; summaries belong to none."""
    spoken = (message for message in messages if message.role != "summary")
    return tuple(Round(turn_id, tuple(group)) for turn_id, group in groupby(spoken, lambda message: message.turn_id))


def due(used: int, asked: int, *, window: int, threshold: float, messages: int, min_messages: int) -> bool:
    """The trigger: the tokens of the latest real answer and of the input reach the threshold (W-2).

    `asked` is the input's length over three; `messages` are those that were said before it.
    """
    # Rounded, since 0.55 × 100 000 is a little more than 55 000 in binary fractions.
    return messages >= min_messages and used + asked >= round(threshold * window, 6)


@dataclass(frozen=True, slots=True)
class Cut:
    """The rounds on either side of a boundary; the older ones are archived."""

    archived: tuple[Round, ...]
    kept: tuple[Round, ...]


def cut(rounds: Sequence[Round], *, keep: int, room: float, sizes: Mapping[str, int]) -> Cut:
    """Keep the newest `keep` rounds, and more while all that is kept fits into `room` tokens (K-2).

    `sizes` gives the tokens of each turn; one that is not in it shows nothing. A `room` of 0 keeps exactly `keep`
    rounds; a `keep` of 1 keeps what fits, when the window is in danger (K-8).
    """
    place = max(0, len(rounds) - keep)
    used = sum(sizes.get(round_.turn_id, 0) for round_ in rounds[place:])
    while place > 0 and (used := used + sizes.get(rounds[place - 1].turn_id, 0)) <= room:
        place -= 1
    return Cut(tuple(rounds[:place]), tuple(rounds[place:]))
