"""What a vendor would be sent of a history, and whether it would take it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from codelaw.adapters.models.messages.body import BodyWriter
from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.context.builder import Gathered, History, build
from codelaw.context.sections import text_section
from codelaw.domain.chats import Dialect
from codelaw.domain.messages import Message
from codelaw.tools.toolbox import default_toolbox
from tests.loopback.checks import refusal

DIALECTS: tuple[Dialect, ...] = ("react", "native")
QUESTION = Message("the-question", "now", "user", "And now?")
_TOOLBOX = default_toolbox()
_SYSTEM = Gathered((text_section("L1", "core", "You are codelaw."),), (text_section("L2", "law", "# Law"),))


def body(messages: Sequence[Message], dialect: Dialect) -> bytes:
    """The request's body, as the adapter writes it."""
    view = build(History.of(messages), (), QUESTION, _SYSTEM)
    spelling = React() if dialect == "react" else Native()
    return BodyWriter().write(spelling.request(view, model="m", max_tokens=100, toolbox=_TOOLBOX))


def wire(messages: Sequence[Message], dialect: Dialect) -> list[dict[str, Any]]:
    """The messages of the body."""
    return json.loads(body(messages, dialect))["messages"]


def blocks(messages: Sequence[Message], dialect: Dialect = "native") -> list[dict[str, Any]]:
    """All blocks of the body's messages, in order, without their cache marks."""
    found = [block for message in wire(messages, dialect) for block in message["content"]]
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in found]


def problem(messages: Sequence[Message]) -> str | None:
    """Why the vendor would refuse the history in one of the dialects; None when it takes it in both."""
    for dialect in DIALECTS:
        wrong = refusal(json.loads(body(messages, dialect)), window=10**9)
        if wrong is not None:
            return f"{dialect}: {wrong}"
    ids = Counter(block["id"] for block in blocks(messages) if block["type"] == "tool_use")
    # The checker of the loopback vendor does not look for these.
    twice = [call_id for call_id, count in ids.items() if count > 1]
    long = [call_id for call_id in ids if len(call_id) > 128]
    return f"ids used twice {twice}, too long {long}" if twice or long else None
