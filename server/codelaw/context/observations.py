"""Writing untrusted text so that it can forge nothing (R-5)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from codelaw.transcript.harmless import TAGS

# What a line-splitting reader would take for a line break, and what cannot be encoded, beyond what json escapes itself.
_UNSAFE = re.compile("[\x7f\x85\u2028\u2029\ud800-\udfff]")
_REMINDER = re.compile(r"<(?=\s*/?\s*system-reminder)", re.IGNORECASE)
_OURS = re.compile(rf"<(?=\s*/?\s*(?:{TAGS}))", re.IGNORECASE)
# Control characters, line breaks of any kind, and what changes the direction of text.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(value: Mapping[str, Any]) -> str:
    """`value` as JSON on one line.

    No tool output can start a line of its own, and none can hold a `<system-reminder>` tag: its `<` is written as an
    escape, so that the JSON still says exactly what the tool said.
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return _REMINDER.sub(r"\\u003c", text)


def one_name(name: str) -> str:
    """A file or folder name as it may stand in a sentence of ours: on one line, and opening or closing no tag."""
    return _OURS.sub("&lt;", _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", name))


def quoted(text: str) -> str:
    """A body that stands inside a tag of ours, which it cannot close."""
    return _OURS.sub("&lt;", neutralise(text))


def neutralise(text: str) -> str:
    """What the user typed, unable to open or close a reminder; lone surrogates are replaced."""
    text = _REMINDER.sub("&lt;", text)
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
