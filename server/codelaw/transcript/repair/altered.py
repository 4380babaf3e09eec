"""A message that the disk has altered says so, wherever it is shown or sent (D-1)."""

from __future__ import annotations

import json
from dataclasses import replace

from codelaw.domain.messages import Message

ALTERED = "[damaged on the disk: what follows is what can still be read of this message, and may be wrong]\n"
RESULT = "damaged on the disk: `damaged` is what can still be read of this result, and may be wrong"


def altered(message: Message) -> Message:
    """The message, marked in its content, in its answer, and for clients in its metadata."""
    facts = message.metadata
    marked = replace(facts, answer=None if facts.answer is None else ALTERED + facts.answer, damaged=True)
    if message.role == "tool":
        error = {"code": "EXECUTION_ERROR", "message": RESULT}
        content = json.dumps({"status": "error", "data": {"damaged": message.content}, "error": error})
        return replace(message, content=content.replace("<", "\\u003c"), metadata=marked)  # it opens no tag
    return replace(message, content=ALTERED + message.content, metadata=marked)
