"""What was said earlier, quoted: roles readable, nothing in it able to pass for an order, a label or a tag (R-5)."""

from __future__ import annotations

import json
import re

from codelaw.context.escaping import quoted
from codelaw.context.observations.text import shown
from codelaw.domain.messages import Message
from codelaw.domain.safety.own_tags import escape

ARGUMENTS = 200
"""Characters of a call's arguments."""

_THOUGHT = re.compile(r"\A[ \t>*_]*Thought[*_]*:[*_]*[ \t]*")
_ACTION = re.compile(r"^[ \t>*_]*Action[*_]*:.*\Z", re.MULTILINE | re.DOTALL)
_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
_RUNS = re.compile(r"\n{3,}")


def speaker(message: Message) -> str:
    """Who speaks, in a word or two."""
    match message.role:
        case "tool":
            return f"result of {message.metadata.tool_name or 'a tool'}"
        case "user" if message.metadata.note in {"reminder", "hint"}:
            return "codelaw"
        case role:
            return role


def spoken(message: Message, characters: int | None = None) -> str:
    """The words of a message without dialect and reminders, head and tail of them when they are too many."""
    match message.role:
        case "assistant":
            text = _assistant(message)
        case "user":
            text = _REMINDER.sub("", message.content)
        case "tool":
            text = shown(message)
        case _:
            text = message.content
    text = _RUNS.sub("\n\n", quoted(escape(text))).strip()
    return text if characters is None else ends(text, characters)


def ends(text: str, characters: int) -> str:
    """Head and tail of a text, with a word on what is missing between them; the text when it is short enough."""
    if len(text) <= characters:
        return text
    mark = f" … {len(text) - characters} characters left out … "
    head = max(1, (characters - len(mark)) * 2 // 3)
    tail = max(0, characters - len(mark) - head)
    return text[:head].rstrip() + mark + (text[-tail:].lstrip() if tail else "")


def _assistant(message: Message) -> str:
    facts = message.metadata
    if facts.answer is not None:
        return facts.answer
    said = message.content if facts.native else _ACTION.sub("", _THOUGHT.sub("", message.content))
    calls = [f"(calls {call.tool} {_arguments(dict(call.arguments))})" for call in facts.calls]
    return "\n".join([*([said.strip()] if said.strip() else []), *calls])


def _arguments(arguments: dict[str, object]) -> str:
    return ends(json.dumps(arguments, ensure_ascii=False, default=str), ARGUMENTS)
