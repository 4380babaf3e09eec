"""What servers of the user's give back, as text (X-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codelaw.context.observations.layout import DATA, Told, amount, block, objects, row, text
from codelaw.context.pictures import GONE, SHOWN
from codelaw.domain.listing import plain_lines

SERVED = "mcp__"
"""What the names of their tools begin with."""
FIELDS = frozenset({"server", "tool", "text", "structured", "images", "truncated", "head", "tail"})
_IMAGES = 8


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
    body += [row(_image(image)) for image in images[:_IMAGES]]
    return Told("", facts, tuple(body))


def _image(image: Mapping[str, Any]) -> str:
    """What is said of an image, and whether it is shown with the result."""
    if image.get(SHOWN) is True:
        seen = "shown with this result"
    elif image.get(GONE) is True:
        seen = "not shown any more"
    else:
        seen = f"not shown: {text(image, 'unseen')}" if text(image, "unseen") else ""
    size = f"{image.get('bytes')} bytes"
    return ", ".join(filter(None, (text(image, "media_type"), text(image, "size"), size, seen)))
