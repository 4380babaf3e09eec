"""The view as text: `[user] …`, `[assistant] Thought: …`, `[tool] {…}` (L-5, S4 E1)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from codelaw.domain.messages import Message

_ACTION = re.compile(r"^[ \t>*_]*Action[*_]*:", re.MULTILINE)
_SET_APART = r"· \g<0>"


def action_text(message: Message) -> str:
    """An assistant message in the text dialect, whichever dialect it was written in.

    A message written by a native tool user has its calls spelt as actions, so that a chat may change dialects.
    """
    facts, content = message.metadata, message.content
    calls, answer = facts.calls, facts.answer
    if (not calls and answer is None) or facts.interrupted or (not facts.native and _ACTION.search(content)):
        return content
    if not calls:
        return f"Action: Finish[{answer}]" if content.strip() == (answer or "").strip() else content
    actions = "\n".join(f"Action: {call.tool}[{json.dumps(call.arguments, ensure_ascii=False)}]" for call in calls)
    # What only looks like an action in the prose of a native tool user must not be read as one.
    return f"Thought: {_ACTION.sub(_SET_APART, content)}\n{actions}" if content else actions


def user_texts(message: Message) -> list[str]:
    """The parts of a user message in the order they are sent: what was typed, its fragments, what stands behind it."""
    return [*asked_texts(message), *(part.text for part in message.metadata.asides if part.text)]


def asked_texts(message: Message) -> list[str]:
    """What was typed, and its fragments; pictures follow them where there are any."""
    return [text for text in (message.content, *(part.text for part in message.metadata.fragments)) if text]


def render_message(message: Message) -> str:
    """One message of the view as text (S4 E1); summaries stand verbatim, results are their JSON."""
    match message.role:
        case "user":
            return "[user] " + "\n\n".join(user_texts(message))
        case "assistant":
            return f"[assistant] {action_text(message)}"
        case "tool":
            return "\n\n".join((f"[tool] {message.content}", *(part.text for part in message.metadata.asides)))
        case "summary":
            return message.content


def render_messages(messages: Sequence[Message]) -> str:
    """Messages as text, a blank line between them."""
    return "\n\n".join(map(render_message, messages))
