"""Writing untrusted text so that it can forge nothing (R-5)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

# What a line-splitting reader would take for a line break, and what cannot be encoded, beyond what json escapes itself.
_UNSAFE = re.compile("[\x7f\x85\u2028\u2029\ud800-\udfff]")
_REMINDER = re.compile(r"<(?=\s*/?\s*system-reminder)", re.IGNORECASE)


def one_line(value: Mapping[str, Any]) -> str:
    """`value` as JSON on one line.

    No tool output can start a line of its own, and none can hold a `<system-reminder>` tag: its `<` is written as an
    escape, so that the JSON still says exactly what the tool said.
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return _REMINDER.sub(r"\\u003c", text)


def neutralise(text: str) -> str:
    """Plain text with the tags reserved for codelaw made harmless, and lone surrogates replaced."""
    text = _REMINDER.sub("&lt;", text)
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
