"""Rounds: what a finished turn leaves in the history (K-2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
