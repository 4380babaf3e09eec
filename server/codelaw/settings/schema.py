"""The settings as a JSON Schema, for clients that show them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from codelaw.settings.model import Settings

_PLACE = "#/settings/$defs/{model}"
"""Where the groups lie in what `codelaw schema` prints."""


def settings_schema() -> dict[str, Any]:
    """Every setting with its description and default; references lead into the document's member `settings`."""
    document = Settings.model_json_schema(ref_template=_PLACE)
    groups = document["$defs"]
    for group, described in ((Settings, document), *((group, groups[group.__name__]) for group in _groups(Settings))):
        for name, field in group.model_fields.items():
            spec = described["properties"][field.alias or name]
            spec.pop("title", None)
            made = field.get_default(call_default_factory=True)
            if not isinstance(made, BaseModel) and not field.is_required():
                spec["default"] = [*made] if isinstance(made, tuple) else made
    return document


def _groups(group: type[BaseModel]) -> list[type[BaseModel]]:
    found: list[type[BaseModel]] = []
    for field in group.model_fields.values():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            found += [inner, *_groups(inner)]
    return found
