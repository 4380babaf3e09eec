"""The bodies of loaded skills: which of their results no batch shortens, so that what was loaded counts on (X-2).

A batch looks at these sets alone; when the window is in danger they give way like any other result (C-5, W-6).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from codelaw.context.sections import message_tokens
from codelaw.domain.messages import Message

LOADER = "load_skill"
"""The tool whose results hold them."""
EACH = 5_000
"""Tokens of one body that outlive a compaction."""
TOGETHER = 25_000
"""Tokens of all of them."""
_SHARE = 8
"""The part of the window that they may take at most."""
_BESIDE = 1_000
"""Tokens of a result beside its body."""


def body_of(message: Message) -> Mapping[str, Any] | None:
    """The data of a result that loaded a skill; None for all other messages, and for one of a skill's files."""
    if message.role != "tool" or message.metadata.tool_name != LOADER:
        return None
    try:
        given: Any = json.loads(message.content)
    except (ValueError, RecursionError):
        return None
    data: Any = cast("Mapping[str, Any]", given).get("data") if isinstance(given, Mapping) else None
    if not isinstance(data, Mapping):
        return None
    found = cast("Mapping[str, Any]", data)
    named = all(isinstance(found.get(name), str) for name in ("name", "body"))
    return found if named and not found.get("file") else None


def together(window: int) -> int:
    """Tokens that all bodies may take in a window of that size."""
    return min(TOGETHER, window // _SHARE)


def lasting(messages: Sequence[Message], window: int) -> frozenset[str]:
    """The results that stay as they are: of each skill the newest, the newest skills first, within the bounds."""
    stays, seen, room = set[str](), set[str](), together(window)
    for message in reversed(messages):
        data = body_of(message)
        if data is None or data["name"] in seen:
            continue
        seen.add(data["name"])
        tokens = message_tokens(message)
        if tokens <= min(room, EACH + _BESIDE):
            room -= tokens
            stays.add(message.id)
    return frozenset(stays)
