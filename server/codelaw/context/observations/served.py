"""What servers of the user's give back, as text (X-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codelaw.context.observations.layout import DATA, Told, amount, block, objects, row, text
from codelaw.domain.listing import plain_lines

SERVED = "mcp__"
"""What the names of their tools begin with."""
FIELDS = frozenset({"server", "tool", "text", "structured", "images", "truncated", "head", "tail"})
_IMAGES = 3


def served(data: Mapping[str, Any]) -> Told | None:
    """The server's text, below it what it gave as values where that is something else."""
    if not isinstance(data.get("text"), str):
        return None
    said, values = text(data, "text"), data.get("structured")
    images = objects(data, "images") or []
    facts = (
        "its middle left out" if data.get("truncated") is True else "",
        "" if not images else amount(len(images), "images"),
        "" if said or values else "no text",
    )
    body = [block(said)] if said else []
    if values:
        body += [DATA, block(values if isinstance(values, str) else "\n".join(plain_lines(values)))]
    body += [row(f"{text(image, 'media_type')}, {image.get('bytes')} bytes") for image in images[:_IMAGES]]
    return Told("", facts, tuple(body))
