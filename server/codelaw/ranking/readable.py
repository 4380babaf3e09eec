"""Messages as text that can be searched: what a person would read of them (B-5)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from codelaw.domain.messages import Message

MAX_CALL_CHARS = 1_200
"""Of the arguments of one call: a written file is on disk, what it is about stands in its beginning."""
MAX_RESULT_CHARS = 2_400
"""Of a tool's result: two thirds from its beginning, one third from its end."""
_MAX_VALUES = 400


def readable(message: Message) -> str:
    """What is searched for of a message; always text that can be encoded, and without NUL."""
    if message.role == "tool":
        text = _shortened(_result(message.content), MAX_RESULT_CHARS)
    else:
        answer = message.metadata.answer
        parts = [message.content]
        if answer and answer not in message.content:
            parts.append(answer)
        if message.metadata.native:
            parts += (
                f"{call.tool} {_shortened(_flat(call.arguments), MAX_CALL_CHARS)}" for call in message.metadata.calls
            )
        text = "\n\n".join(part for part in parts if part)
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _result(content: str) -> str:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    return _flat(value) if isinstance(value, dict | list) else content


def _flat(value: Any) -> str:
    """The values of JSON, texts as they are, with the names of what is not a text."""
    lines: list[str] = []
    for name, leaf in _leaves(value, ""):
        lines.append(leaf if isinstance(leaf, str) else f"{name}: {leaf}")
        if len(lines) == _MAX_VALUES:
            break
    return "\n".join(lines)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    waiting: list[tuple[str, Any]] = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            waiting += [(str(key), inner) for key, inner in reversed(list(items))]
        elif isinstance(value, list | tuple):
            waiting += [(name, inner) for inner in reversed(cast("Sequence[Any]", value))]
        elif value is not None and value != "":
            yield name, value


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n\n{text[head - limit :]}"
