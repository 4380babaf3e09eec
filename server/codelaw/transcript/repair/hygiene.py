"""A history that a vendor takes, whatever the record holds: all passes, in their order, and its limit (H-1, H-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codelaw.domain.messages import Message, Metadata
from codelaw.transcript.repair.pairing import paired
from codelaw.transcript.repair.repairs import NOTHING, Ids, Repairs
from codelaw.transcript.repair.sanitise import OMITTED, sanitised


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


def chat_key(kind: str, chat_id: str) -> str:
    """The name under which one chat can be limited: `panel:<id>`, `headless:<id>`, `shared:<id>`, `inline:<uri>`.

    A kind that says already what the chat belongs to, such as `inline:file:///a.py`, is its own key.
    """
    general, _, belongs_to = kind.partition(":")
    return kind if belongs_to else f"{general}:{chat_id}"


def turn_limit(kind: str, chat_id: str, settings: Mapping[str, int]) -> int:
    """User turns to show; 0 for all. What is set for the chat beats what is set for its kind, a 0 included.

    Args:
        kind: `Chat.kind`, with or without what the chat belongs to.
        chat_id: `Chat.id`.
        settings: `context.historyLimits`: user turns by kind, or by the key of a chat.
    """
    general = kind.partition(":")[0]
    for key in (chat_key(kind, chat_id), f"{general}:{chat_id}", general):
        if key in settings:
            return max(0, settings[key])
    return 0


def limited(messages: Sequence[Message], turns: int) -> tuple[Sequence[Message], Repairs]:
    """The newest `turns` user turns, and all summaries; the same object when there are no more, or `turns` is 0.

    Steers and reminders begin no turn. What stands before the first user turn belongs to it.
    """
    if turns <= 0:
        return messages, NOTHING
    cut = _start_of(messages, turns)
    kept = [message for message in messages[:cut] if message.role == "summary"]
    if len(kept) == cut:
        return messages, NOTHING
    return (*kept, *messages[cut:]), Repairs(limited=cut - len(kept))


def _start_of(messages: Sequence[Message], turns: int) -> int:
    """Where the newest `turns` user turns begin; 0 when there are not more than that."""
    start, found = 0, 0
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.role == "user" and message.metadata.note is None:
            if found == turns:
                return start
            start, found = place, found + 1
    return 0
