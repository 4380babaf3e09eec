"""What a person chooses for a chat: where its text goes (P-4), and how much the model does for an answer (P-6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.app.models import OFFLINE, Answerer, Told, answerer, check_choice, profile_of
from codelaw.domain.chats import Chat, Notice
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.domain.chats import EffortChoice
    from codelaw.domain.models import Effort, ModelProfile
    from codelaw.settings.model import Settings


def leaves(chat: Chat, who: Answerer) -> bool:
    """Whether the chat was answered on this machine alone, and its text would leave it now."""
    return bool(who.host) and bool(chat.places) and set(chat.places) == {OFFLINE}


def chosen(settings: Settings, chat: Chat, name: str) -> Chat:
    """The chat with the model that a person chose for it. Where that one answers is no news to them.

    Raises:
        Refusal: `auth_failed`, `model_unavailable`: that model would not be the one to answer.
    """
    check_choice(settings, name)
    changed = replace(chat, model=name, chosen=True)
    return sent(changed, answerer(settings, changed)) if chat.places else changed


def sent(chat: Chat, who: Answerer) -> Chat:
    """The chat when its text goes to `who`."""
    others = tuple(place for place in chat.places if place != who.place)
    model = chat.model if chat.chosen else who.name
    return replace(chat, model=model, places=(*others, who.place))


def moved(chat: Chat, who: Answerer) -> list[Notice]:
    """What is told when the chat goes elsewhere than it went before."""
    before = chat.places[-1] if chat.places else who.place
    if before == who.place:
        return []
    if who.host:
        message = f"From here on this chat goes to {who.host}; until now it went to {_spelt(before)}."
        return [Notice("warning", "endpoint_changed", message)]
    wanted = f"{chat.model} cannot be asked" if chat.chosen else f"{before} cannot be asked"
    message = f"{wanted}: nothing is configured to reach it. The model {who.name} answers, on this machine."
    return [Notice("warning", "endpoint_changed", message)]


def _spelt(place: str) -> str:
    return "nobody outside this machine" if place == OFFLINE else place


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


def with_effort(settings: Settings, chat: Chat, effort: EffortChoice | None, reported: Told) -> Chat:
    """The chat with the effort that was chosen for it; `default` takes the choice back.

    None leaves it as it is, but where the model of the chat does not take it any more.

    Raises:
        Refusal: `effort_not_taken`.
    """
    name = answerer(settings, chat).name
    profile = profile_of(name, reported)
    if effort is None:
        return replace(chat, effort=None) if name != OFFLINE and problem(profile, chat.effort) else chat
    if effort == "default":
        return replace(chat, effort=None)
    check(profile, effort)
    return replace(chat, effort=effort)


def effort_of(settings: Settings, name: str, chat: Chat | None, once: Effort | None = None) -> Effort | None:
    """What holds for a turn of a chat: `once` for this turn alone, else the chat's own, else that of the settings."""
    return None if name == OFFLINE else once or (chat and chat.effort) or settings.model.effort
