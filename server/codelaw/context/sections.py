"""The layers of the view, their sections and messages as text: `[user] …`, `[assistant] …`, `[tool] {…}` (L-1, L-5)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.context.observations.text import tool_texts
from codelaw.context.tokens import CALL_OVERHEAD, estimate
from codelaw.domain.messages import Message
from codelaw.domain.reports import Dropped, Layer

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


SEALED = 5
"""Characters of sealed thinking in a token, roughly: a token of text, and what sealing adds."""


NEWS = frozenset({"law", "law files", "skills", "todo", "pin"})
"""Texts behind messages that are codelaw's own words: system messages where a model takes those (L-6)."""


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A named part of the view: either text, as it is sent, or messages, which a dialect spells; counted once."""

    layer: Layer
    name: str
    tokens: int
    """Estimated (W-4)."""
    content: str = ""
    messages: tuple[Message, ...] = ()
    cut: bool = False
    anchors: tuple[int, ...] = (0,)
    """Places in front of messages that a batch may still shorten; up to the first all is settled (C-6)."""
    reused: tuple[int, ...] = ()
    """After a batch: how many were settled before it, and how many are as they were sent before it (L-6)."""

    @property
    def rendered(self) -> str:
        """The section in the S4 E1 rendering."""
        return "\n\n".join(map(render_message, self.messages)) if self.messages else self.content


def message_texts(message: Message) -> Sequence[str]:
    """The texts of one message as they are sent."""
    match message.role:
        case "user":
            return user_texts(message)
        case "assistant":
            return [action_text(message)]  # a native call's arguments stand beside its text
        case "tool":
            return tool_texts(message)
        case _:
            return [message.content]


def message_tokens(message: Message) -> int:
    """Estimated tokens of one message as it is sent."""
    texts = sum(map(estimate, message_texts(message)))
    kept = message.metadata.kept
    # Of thinking that goes back the text is mostly sealed (P-5).
    sealed = 0 if kept is None else sum(len(item.body) for item in kept.items) // SEALED
    return texts + CALL_OVERHEAD * len(message.metadata.calls) + image_tokens(message) + sealed


def image_tokens(message: Message) -> int:
    """What the vendor counts for the pictures of a message."""
    return sum(image.tokens for image in message.metadata.images)


def text_section(layer: Layer, name: str, content: str) -> Section:
    """A section of plain text."""
    return Section(layer, name, estimate(content), content=content)


def message_section(layer: Layer, name: str, messages: Sequence[Message]) -> Section:
    """A section of messages."""
    return Section(layer, name, sum(map(message_tokens, messages)), messages=tuple(messages))


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What the model is shown at one step: sections in the order they are sent."""

    sections: tuple[Section, ...]
    dropped: tuple[Dropped, ...] = ()

    @property
    def rendered(self) -> str:
        """The whole view as text (S4 E1)."""
        return "\n\n".join(section.rendered for section in self.sections)

    @property
    def tokens(self) -> int:
        """Estimated tokens of the whole view."""
        return sum(section.tokens for section in self.sections)

    def layer(self, layer: Layer) -> tuple[Section, ...]:
        """The sections of one layer, in order."""
        return tuple(section for section in self.sections if section.layer == layer)

    def named(self, name: str) -> Section | None:
        """The section of that name, if the view has it."""
        return next((section for section in self.sections if section.name == name), None)
