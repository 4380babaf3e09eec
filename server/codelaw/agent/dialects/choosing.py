"""Which dialect a chat is held in (R-3, R-4). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from codelaw.agent.dialects.binding import Binding
from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React

if TYPE_CHECKING:
    from codelaw.domain.chats import Dialect, DialectChoice
    from codelaw.domain.messages import Message
    from codelaw.domain.models import ModelProfile

SWITCHED = "dialect_switched"
"""The notice of a chat whose model has refused to write down its reasoning; it is kept with the chat."""


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
    wanted: DialectChoice,
    model: str,
    profile: ModelProfile | None,
    before: Dialect | None = None,
    *,
    switched: bool = False,
    searching: bool = False,
) -> tuple[React | Native, Native | None]:
    """How a model is spoken to, and how instead when it refuses to write down its reasoning, where there is a way.

    The text dialect asks for no reasoning where the model may refuse that. With `searching` the vendor may search the
    web. Else as for `chosen`.
    """
    binding = Binding(model) if profile is None else Binding(profile.provider, binds=profile.binds)
    native = Native(searching=searching, binding=binding)
    if chosen(wanted, profile, before, switched=switched) == "native":
        return native, None
    reasoning = profile is None or not profile.refuses_reasoning
    return React(reasoning=reasoning), native if profile is not None and profile.tools else None
