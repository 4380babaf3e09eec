"""What is let in of the words of whoever serves tools: bounded values, and a line for whatever is left out (S-6)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from codelaw.domain.served import ServedImage, ServedResult

TEXT = 1_000_000
"""Characters of one result."""
IMAGES = 8
IMAGE_BYTES = 5_000_000
BLOCKS = 2_000
"""Parts of one result."""
TOOLS = 5_000
"""Of one server; as many prompts and as many resources."""
TOOL_CHARACTERS = 64_000
"""Of a description, and of a schema as JSON."""
NAME_CHARACTERS = 256


def fits(name: str, description: str, schema: Mapping[str, Any]) -> bool:
    """Whether a tool can be told to a model."""
    is_named = 0 < len(name) <= NAME_CHARACTERS
    is_an_object = schema.get("type", "object") == "object"
    return is_named and is_an_object and max(len(description), size(schema)) <= TOOL_CHARACTERS


def size(value: object) -> int:
    """Characters of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class ResultBuilder:
    """Takes the parts of one result."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._images: list[ServedImage] = []
        self._room = TEXT
        self._cut = False

    def say(self, text: str) -> None:
        if len(text) > self._room:
            self._cut = True
        self._texts.append(text[: self._room])
        self._room = max(0, self._room - len(text) - 1)

    def leave_out(self, why: str) -> None:
        self._texts.append(f"[{why}]")
        self._cut = True

    def image(self, kind: str, data: str) -> None:
        """One that comes in base64."""
        if len(self._images) == IMAGES:
            self.leave_out(f"An image is left out: a result has at most {IMAGES}.")
        elif len(data) * 3 // 4 > IMAGE_BYTES:
            self.leave_out(f"An image of more than {IMAGE_BYTES // 1_000_000} MB is left out.")
        else:
            try:
                self._images.append(ServedImage(kind[:NAME_CHARACTERS], base64.b64decode(data, validate=True)))
            except ValueError:
                self.leave_out("An image that is not in base64 is left out.")

    def result(self, structured: dict[str, Any] | None = None, *, failed: bool = False) -> ServedResult:
        text = "\n".join(self._texts)[: TEXT + BLOCKS]
        return ServedResult(text, structured, tuple(self._images), failed, self._cut)
