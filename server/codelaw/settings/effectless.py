"""Settings that do nothing, which whoever sets one is told (V-2)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from codelaw.domain.chats import Notice
from codelaw.settings.model import Settings
from codelaw.settings.reading import KeyPath, dotted


def _unless_embedding(*providers: str) -> Callable[[Settings], bool]:
    return lambda settings: settings.embedding.provider not in providers


IDLE: dict[KeyPath, tuple[Callable[[Settings], bool], str]] = {
    ("model", "script"): (
        lambda settings: settings.model.chosen_provider != "scripted",
        "it is read by the provider `scripted` alone, and model.provider is another one",
    ),
    ("embedding", "path"): (
        _unless_embedding("local"),
        "it is read by the provider `local` alone, and embedding.provider is another one",
    ),
    ("embedding", "model"): (
        _unless_embedding("local", "openai"),
        "the provider `hashing` has no model; set embedding.provider",
    ),
    ("embedding", "baseUrl"): (
        _unless_embedding("openai"),
        "it is read by the provider `openai` alone, and embedding.provider is another one",
    ),
    ("embedding", "apiKey"): (
        _unless_embedding("openai"),
        "it is read by the provider `openai` alone, and embedding.provider is another one",
    ),
    ("tools", "webSearch"): (
        lambda settings: settings.model.dialect == "react" or settings.model.chosen_provider != "anthropic",
        "the search is a tool of the vendor's, which needs the dialect `native` and the provider `anthropic`",
    ),
    ("memory", "topK"): (lambda settings: not settings.memory.enabled, "memory.enabled is false"),
    ("memory", "minSimilarity"): (lambda settings: not settings.memory.enabled, "memory.enabled is false"),
    ("memory", "category"): (lambda settings: not settings.memory.enabled, "memory.enabled is false"),
}
"""What other settings leave without a use: when that is so, and why."""


def notices(settings: Settings, leaves: Collection[tuple[KeyPath, Any]], sources: dict[str, str]) -> list[Notice]:
    """One for every setting of `leaves` that was set and does nothing; `sources` are by dotted key."""
    defaults = Settings().model_dump(by_alias=True)
    found: list[Notice] = []
    for path, value in leaves:
        idle, why = IDLE.get(path, (lambda _: False, ""))
        key = dotted(path)
        if idle(settings) and key in sources and value != defaults[path[0]][path[1]]:
            found.append(Notice("warning", "setting_without_effect", f"{key} has no effect: {why} ({sources[key]})"))
    return found
