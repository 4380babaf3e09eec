"""load_skill as text: the body of a skill, and its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codelaw.context.observations.layout import Told, block, items, listed, text


def loaded(data: Mapping[str, Any]) -> Told | None:
    """The text of a skill or of one of its files."""
    body = data.get("body")
    if not isinstance(body, str):
        return None
    name, file = text(data, "name"), text(data, "file")
    files, by = items(data, "files"), text(data, "by")
    notes = (f"Files of the skill, which {by} brings: {listed(files, len(files))}.",) if files else ()
    facts = (f"in {text(data, 'folder')}", "cut" if data.get("truncated") is True else "")
    return Told(f"{name}/{file}" if file else name, facts, (block(body),) if body else (), notes)
