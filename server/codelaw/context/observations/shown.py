"""What is sent of a tool message: the text of its result, made once (C-7)."""

from __future__ import annotations

from codelaw.context.observations.text import observation_text
from codelaw.domain.messages import Message

_LIMIT = 8_000_000
"""Characters of results and texts that are kept."""


class _Memo:
    """Texts already made; forgets all when they and their results grow past a bound."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._known: dict[tuple[str, str], str] = {}

    def text(self, tool: str, content: str) -> str:
        text = self._known.get((tool, content))
        if text is None:
            text = observation_text(tool, content)
            if self._held > self._limit:
                self._known = {}
                self._held = 0
            self._known[tool, content] = text
            self._held += len(content) + len(text)
        return text


_memo = _Memo(_LIMIT)


def shown(message: Message) -> str:
    """A tool message's result as its turn shows it: as text (`metadata.as_text`), or its JSON as it stands (C-7)."""
    facts = message.metadata
    return _memo.text(facts.tool_name or "Result", message.content) if facts.as_text else message.content
