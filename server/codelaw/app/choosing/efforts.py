"""The effort that a person chooses, for a chat or by the settings: only what the model takes (P-6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.app.models import OFFLINE, Told, answerer, profile_of
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.domain.chats import Chat, EffortChoice
    from codelaw.domain.models import Effort, ModelProfile
    from codelaw.settings import Settings


def problem(profile: ModelProfile | None, effort: Effort | None) -> str:
    """Why a model does not take an effort, with those that it takes; empty where it does, or nobody knows."""
    if effort is None or profile is None or effort in profile.efforts:
        return ""
    taken = f"only {', '.join(profile.efforts)}" if profile.efforts else "none: nothing can be said of it there"
    return f"{profile.name} does not take the effort {effort}, {taken}."


def check(profile: ModelProfile | None, effort: Effort | None) -> None:
    """Refuse what a model does not take.

    Raises:
        Refusal: `effort_not_taken`.
    """
    if said := problem(profile, effort):
        raise Refusal(
            "effort_not_taken", said, "Choose another effort (model.effort, or the chat's), or another model."
        )


def with_effort(settings: Settings, chat: Chat, effort: EffortChoice | None, told: Told) -> Chat:
    """The chat with the effort that was chosen for it; `default` takes the choice back.

    None leaves it as it is, but where the model of the chat does not take it any more.

    Raises:
        Refusal: `effort_not_taken`.
    """
    name = answerer(settings, chat).name
    profile = profile_of(name, told)
    if effort is None:
        return replace(chat, effort=None) if name != OFFLINE and problem(profile, chat.effort) else chat
    if effort == "default":
        return replace(chat, effort=None)
    check(profile, effort)
    return replace(chat, effort=effort)


def effort_of(settings: Settings, name: str, chat: Chat | None, once: Effort | None = None) -> Effort | None:
    """What holds for a turn of a chat: `once` for this turn alone, else the chat's own, else that of the settings."""
    return None if name == OFFLINE else once or (chat and chat.effort) or settings.model.effort
