"""Odd values of damaged or foreign records, as the text or the JSON they come closest to (H-1). Never raises."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

OMITTED = "…"
"""Stands where something was, and no words are left."""
MAX_DEPTH = 64
"""Levels of nesting that the arguments of a call may have."""
_MAX_BITS = 14_000
"""Of an integer that Python still writes as decimal digits."""

# What some reader takes for the end of a line, and what could open a tag of ours.
BREAKS = ("\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e")
WIDE_BREAKS = ("\x85", "\u2028", "\u2029")
_STATUSES = ("success", "partial", "error")
_BEGINNINGS = tuple(f'{{"status":{gap}"{status}"' for status in _STATUSES for gap in (" ", ""))
_ESCAPES = {mark: f"\\u{ord(mark):04x}" for mark in ("\x7f", "<", *WIDE_BREAKS)}


def one_line(content: str) -> bool:
    """Whether no reader sees more than one line in it (R-5)."""
    for mark in BREAKS:
        if mark in content:
            return False
    return content.isascii() or not any(mark in content for mark in WIDE_BREAKS)


def text_of(value: Any) -> str:
    """The words in a value: a text as it is, the texts of a list of blocks, of anything else its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, list | tuple):
        texts = [_block_text(item) for item in cast("list[Any]", value)]
        return "\n\n".join(text for text in texts if text)
    return _block_text(value)


def is_observation(content: str) -> bool:
    """Whether it is what a tool's result is kept as: one JSON object on one line, with a status (R-5)."""
    if not one_line(content):
        return False
    return (content.startswith(_BEGINNINGS) and content.endswith("}")) or _has_status(_read(content))


def observation(value: Any) -> str:
    """A result's content as one line of JSON; what has no status of its own is data, as with any foreign tool."""
    if isinstance(value, str):
        value = _read(value)
    fit = _fit(value, 0)
    body = value if fit and _has_status(value) else {"status": "success", "data": value if fit else text_of(value)}
    text = _json(body)
    for mark, escape in _ESCAPES.items():
        text = text.replace(mark, escape)
    return text


def _has_status(value: Any) -> bool:
    return isinstance(value, dict) and cast("dict[str, Any]", value).get("status") in _STATUSES


def arguments_of(value: Any) -> Mapping[str, Any]:
    """A call's arguments, also where they were kept as JSON text; none where they are not a JSON object."""
    if isinstance(value, str):
        value = _read(value)
    if not isinstance(value, Mapping):
        return {}
    found = dict(cast("Mapping[Any, Any]", value))
    return found if fit_arguments(found) else {}


def fit_arguments(value: Any) -> bool:
    """Whether a value can be sent as the arguments of a call: a plain object of JSON values, not too deep."""
    if type(value) is not dict:
        return False
    for key, item in cast("dict[Any, Any]", value).items():
        if type(key) is not str or not (type(item) is str or _fit(item, 1)):
            return False
    return True


def _fit(value: Any, depth: int) -> bool:
    kind = cast("type[Any]", type(value))
    if kind is int:
        return value.bit_length() <= _MAX_BITS
    if kind is str or kind is bool or value is None:
        return True
    if kind is float:
        return math.isfinite(value)
    if depth > MAX_DEPTH:
        return False
    if kind is list or kind is tuple:
        return all(_fit(item, depth + 1) for item in value)
    return kind is dict and all(type(key) is str and _fit(item, depth + 1) for key, item in value.items())


def _block_text(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        block = cast("Mapping[Any, Any]", value)
        if isinstance(block.get("text"), str) and block.keys() <= {"type", "text"}:
            return block["text"]
    return _json(value)


def _read(text: str) -> Any:
    """The JSON in a text, or the text itself."""
    try:
        value = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return cast("Any", value) if isinstance(value, dict) else text


def _json(value: Any) -> str:
    """JSON of a value; of what JSON cannot hold, the name of its type, so that equal records give equal bytes."""
    try:
        return json.dumps(value, ensure_ascii=False, skipkeys=True, default=_unlisted)
    except (ValueError, RecursionError):
        return json.dumps(OMITTED, ensure_ascii=False)


def _unlisted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else type(value).__name__
