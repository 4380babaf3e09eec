"""The numbers of a strategy for one request, over those of the settings (B-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codelaw.settings import Settings


def applied(settings: Settings, options: Mapping[str, float]) -> Settings:
    """The settings with `options` in place of theirs, by names of settings of `context` and `retrieval`."""
    if not options:
        return settings
    groups = {"context": settings.context, "retrieval": settings.retrieval}
    changed = {
        name: group.model_copy(update={key: value for key, value in options.items() if key in type(group).model_fields})
        for name, group in groups.items()
    }
    return settings.model_copy(update=changed)
