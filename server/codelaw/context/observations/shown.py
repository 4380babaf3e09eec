"""What is sent of a tool message: the text of its result, made once (C-7)."""

from __future__ import annotations

from codelaw.context.memo import Memo
from codelaw.context.observations.text import observation_text
from codelaw.domain.messages import Message

_LIMIT = 4_000_000
"""Characters of results whose texts are kept."""


def _text(key: tuple[str, ...]) -> str:
    return observation_text(*key)


_texts = Memo(_text, _LIMIT)


def shown(message: Message) -> str:
    """A tool message's result as its turn shows it: as text (`metadata.as_text`), or its JSON as it stands (C-7)."""
    facts = message.metadata
    return _texts.of((facts.tool_name or "Result", message.content)) if facts.as_text else message.content
