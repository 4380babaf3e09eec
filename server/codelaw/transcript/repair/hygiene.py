"""A history that a vendor takes, whatever the record holds: all passes, in their order (H-1)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.domain.messages import Message, Metadata
from codelaw.transcript.repair.foreign_values import OMITTED
from codelaw.transcript.repair.ids import Ids
from codelaw.transcript.repair.limits import limited
from codelaw.transcript.repair.pairing import paired
from codelaw.transcript.repair.repairs import NOTHING, Repairs
from codelaw.transcript.repair.sanitise import sanitised


def hygiene(messages: Sequence[Message], limit: int = 0) -> tuple[Sequence[Message], Repairs]:
    """Sanitised, begun by the user, limited, and every call with its one result (H-1, H-2, H-5).

    Pure, and the same object comes back when nothing had to be done. What was repaired needs no repair again. Pairs are
    made before the limit, so that no result is parted from its call by it, and once more behind it.

    Args:
        messages: the history as its cuts leave it; the fields of a message may hold anything.
        limit: user turns to show, 0 for all.
    """
    messages, mended = sanitised(messages)
    messages, pairs = paired(messages)
    messages, begun = opened(messages)
    messages, cut = limited(messages, limit)
    messages, again = paired(messages) if cut else (messages, NOTHING)
    done = [repairs for repairs in (mended, pairs, begun, cut, again) if repairs is not NOTHING]
    return messages, sum(done, NOTHING)


def opened(messages: Sequence[Message]) -> tuple[Sequence[Message], Repairs]:
    """A history in which the user has the first word, in every turn whose beginning was lost (H-1).

    An ellipsis stands for what was lost, so that the work that followed is not lost too, and does not run together with
    the words of an earlier turn: where a view is spelt, neighbours of one role are merged (H-3). The messages must be
    `paired`.
    """
    lost = _without_question(messages)
    if not lost:
        return messages, NOTHING
    ids = Ids(message.id for message in messages)
    found: list[Message] = []
    for place, message in enumerate(messages):
        if place in lost:
            own = ids.take(f"opening_{message.turn_id}")
            found.append(Message(own, message.turn_id, "user", OMITTED, Metadata(note="hint")))
        found.append(message)
    return tuple(found), Repairs(opened=len(lost))


def _without_question(messages: Sequence[Message]) -> set[int]:
    """The places of assistant's messages that nothing of their turn leads to."""
    lost: set[int] = set()
    previous: Message | None = None
    for place, message in enumerate(messages):
        if message.role == "summary":
            continue
        if message.role == "assistant" and (previous is None or _is_apart(previous, message)):
            lost.add(place)
        previous = message
    return lost


def _is_apart(previous: Message, message: Message) -> bool:
    """Whether an assistant's message cannot go on from the one before, which is the last one of a turn."""
    if previous.role != "assistant":
        return False
    return previous.turn_id != message.turn_id or previous.metadata.interrupted or bool(message.metadata.calls)
