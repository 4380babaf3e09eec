"""Which dialect a chat is held in (R-3, R-4). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codelaw.agent.dialects.base import Binding
from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.domain.chats import Dialect, DialectChoice
from codelaw.domain.messages import Message
from codelaw.domain.models import ModelProfile
from codelaw.domain.presets import Vendor

SWITCHED = "dialect_switched"
"""The notice of a chat whose model has refused to write down its reasoning; it is kept with the chat."""


@dataclass(frozen=True, slots=True)
class DialectFacts:
    """What else decides how a model is spoken to."""

    before: Dialect | None = None
    """What the chat began with."""
    switched: bool = False
    """The model has refused to write down its reasoning in this chat."""
    searching: bool = False
    """The vendor may search the web."""
    plain: bool = False
    """The endpoint takes no system messages between the others."""
    vendor: Vendor = "anthropic"
    """Who is asked: what one has given, another one could not read, even where it sells the same model."""


def begun(messages: Iterable[Message]) -> Dialect | None:
    """The dialect of the first thing that the model has said; None where it has said nothing whole."""
    first = next((one for one in messages if one.role == "assistant" and not one.metadata.interrupted), None)
    return None if first is None else "native" if first.metadata.native else "react"


def chosen(
    wanted: DialectChoice, profile: ModelProfile | None, before: Dialect | None = None, *, switched: bool = False
) -> Dialect:
    """The dialect of the next turn.

    Args:
        wanted: The setting.
        profile: Of the model that will be asked; None where nothing is known of it.
        before: What the chat began with.
        switched: The model has refused to write down its reasoning in this chat.
    """
    calls = profile is not None and profile.tools
    if switched and calls:
        return "native"
    if wanted != "auto":
        return wanted
    if profile is None or not calls:
        return "react"
    return before or ("react" if profile.thinks == "never" else "native")


def dialects(
    wanted: DialectChoice, model: str, profile: ModelProfile | None, way: DialectFacts
) -> tuple[React | Native, Native | None]:
    """How a model is spoken to, and how instead when it refuses to write down its reasoning, where there is a way.

    The text dialect asks for no reasoning where the model may refuse that.
    """
    maker = model if profile is None else profile.provider
    maker += "" if way.vendor == "anthropic" else f"/{way.vendor}"
    binding = Binding(maker, binds=profile is not None and profile.binds)
    telling = profile is not None and profile.system_messages and not way.plain
    native = Native(searching=way.searching, binding=binding, system_messages=telling)
    if chosen(wanted, profile, way.before, switched=way.switched) == "native":
        return native, None
    reasoning = profile is None or not profile.refuses_reasoning
    text = React(reasoning=reasoning, system_messages=telling)
    return text, native if profile is not None and profile.tools else None
