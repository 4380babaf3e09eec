"""Where the text of a chat goes, and what of a change of place the user is told (P-4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.app.models import OFFLINE, Answerer, answerer, check_choice
from codelaw.domain.chats import Chat, Notice

if TYPE_CHECKING:
    from codelaw.settings import Settings


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


def wanted(settings: Settings, chat: Chat | None, name: str | None) -> Chat | None:
    """The chat of a message that names a model, or of one that names none; None: a new one without a choice.

    Raises:
        Refusal: as `chosen`.
    """
    if name is None:
        return chat
    return chosen(
        settings,
        chat
        or Chat(
            id="", title="", kind="panel", mode="agent", model=name, strategy="layered", created_at=0.0, updated_at=0.0
        ),
        name,
    )


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
