"""Settings that do nothing, which whoever sets one is told (V-2)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from codelaw.domain.chats import Notice
from codelaw.settings.model import Settings

NEEDS: tuple[tuple[str, str, tuple[object, ...]], ...] = (
    ("model.script", "model.chosen_provider", ("scripted",)),
    ("embedding.path", "embedding.provider", ("local",)),
    ("embedding.model", "embedding.provider", ("local", "openai")),
    ("embedding.baseUrl", "embedding.provider", ("openai",)),
    ("embedding.apiKey", "embedding.provider", ("openai",)),
    ("tools.webSearch", "model.chosen_provider", ("anthropic",)),
    ("tools.webSearch", "model.dialect", ("auto", "native")),
    ("memory.topK", "memory.enabled", (True,)),
    ("memory.minSimilarity", "memory.enabled", (True,)),
    ("memory.category", "memory.enabled", (True,)),
)
"""A setting, another one, and the values of that without which it has no use."""


def notices(settings: Settings, sources: Mapping[str, str]) -> list[Notice]:
    """One for every setting that was set and does nothing; `sources` are by dotted key."""
    now, defaults = (one.model_dump(by_alias=True) for one in (settings, Settings()))
    found: list[Notice] = []
    for key, needed, values in NEEDS:
        group, _, name = key.partition(".")
        if key not in sources or now[group][name] == defaults[group][name] or attrgetter(needed)(settings) in values:
            continue
        wanted = " or ".join(str(value).lower() for value in values)
        why = f"{needed.replace('chosen_', '')} would have to be {wanted}"
        found.append(Notice("warning", "setting_without_effect", f"{key} has no effect: {why} ({sources[key]})"))
    return found
