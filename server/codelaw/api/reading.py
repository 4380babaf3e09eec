"""Messages of a vendor's shape as ours: who speaks, what it weighs, and which of them belong together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from codelaw.domain.messages import Message, Metadata, Role

ApiMessage = Mapping[str, Any]
"""`{"role": …, "content": …}`, and whatever else a vendor knows."""

_ROLES: dict[str, Role] = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "tool": "tool"}
SYSTEM = frozenset({"system", "developer"})


def read(messages: Sequence[ApiMessage]) -> list[Message]:
    """The messages with the round that each belongs to: one begins with every message of the user (B-1).

    Results of tools begin none, whether they have a role of their own or stand in a user's message. The id of a message
    is its place, with an `m` in front.

    Raises:
        ValueError: a message has no role, or one that is not known.
    """
    found: list[Message] = []
    turn = 0
    for place, message in enumerate(messages):
        role = role_of(message, place)
        if role == "user" and found:
            turn += 1
        name = message.get("name")
        facts = Metadata(tool_name=name if role == "tool" and isinstance(name, str) else None)
        found.append(Message(f"m{place}", f"t{turn}", role, text_of(message), facts))
    return found


def text_of(message: ApiMessage) -> str:
    """All that a message says, its calls and results included: what is searched and counted."""
    parts = [_text(message.get("content"))]
    calls = [message[field] for field in ("tool_calls", "function_call") if message.get(field)]
    parts += [json.dumps(call, ensure_ascii=False, default=str) for call in calls]
    return "\n".join(part for part in parts if part)


def role_of(message: ApiMessage, place: int = 0) -> Role:
    """Who speaks; a user's message that holds results of tools is a tool's.

    Raises:
        ValueError: `messages[place]` has no role, or one that is not known.
    """
    given = str(message.get("role", ""))
    if given == "function":
        return "tool"
    role = _ROLES.get(given)
    if role is None:
        raise ValueError(f"messages[{place}] has the role {given!r}; known are {', '.join(_ROLES)}, system")
    results = any(block.get("type") == "tool_result" for block in _blocks(message.get("content")))
    return "tool" if role == "user" and results else role


def _blocks(content: object) -> list[Mapping[str, Any]]:
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    return [cast("Mapping[str, Any]", block) for block in blocks if isinstance(block, Mapping)]


def _text(content: object) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    texts: list[str] = []
    for block in _blocks(content):
        if isinstance(block.get("text"), str):
            texts.append(cast("str", block["text"]))
        else:
            texts.append(json.dumps(dict(block), ensure_ascii=False, default=str))
    return "\n".join(texts)
