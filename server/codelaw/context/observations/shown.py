"""What is sent of a tool message: the text of its result, made once, and what stands behind it (C-7, L-3)."""

from __future__ import annotations

from codelaw.context.memo import Memo
from codelaw.context.observations.text import observation_text
from codelaw.domain.messages import Message

_LIMIT = 4_000_000
"""Characters of results whose texts are kept."""


_texts = Memo[tuple[str, ...], str](_LIMIT)


def tool_texts(message: Message) -> list[str]:
    """The parts of a tool message in the order they are sent: its result as its turn shows it, what stands behind."""
    return [shown(message), *(part.text for part in message.metadata.asides)]


def shown(message: Message) -> str:
    """A tool message's result as its turn shows it: as text (`metadata.as_text`), or its JSON as it stands (C-7)."""
    facts = message.metadata
    if not facts.as_text:
        return message.content
    key = (facts.tool_name or "Result", message.content)
    known = _texts.find(key)
    return _texts.keep(key, observation_text(*key)) if known is None else known
