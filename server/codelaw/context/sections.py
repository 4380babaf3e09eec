"""The layers of the view and their sections (L-1, L-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.context.observations.shown import tool_texts
from codelaw.context.rendering import action_text, render_messages, user_texts
from codelaw.context.tokens import CALL_OVERHEAD, estimate
from codelaw.domain.messages import Message
from codelaw.domain.reports import Dropped, Layer

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
        return render_messages(self.messages) if self.messages else self.content


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
    return texts + CALL_OVERHEAD * len(message.metadata.calls) + image_tokens(message) + kept_tokens(message)


def kept_tokens(message: Message) -> int:
    """What is counted for thinking that goes back, whose text is mostly sealed (P-5)."""
    kept = message.metadata.kept
    return 0 if kept is None else sum(len(item.body) for item in kept.items) // SEALED


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
    def tokens(self) -> int:
        """Estimated tokens of the whole view."""
        return sum(section.tokens for section in self.sections)

    def layer(self, layer: Layer) -> tuple[Section, ...]:
        """The sections of one layer, in order."""
        return tuple(section for section in self.sections if section.layer == layer)

    def named(self, name: str) -> Section | None:
        """The section of that name, if the view has it."""
        return next((section for section in self.sections if section.name == name), None)
