"""How much of a history is shown, in user turns, by the kind of its chat (H-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codelaw.domain.messages import Message
from codelaw.transcript.repair.repairs import NOTHING, Repairs


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
