"""Writing untrusted text so that it can forge nothing (R-5)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from codelaw.domain.safety.own_tags import DISTINCT, REMINDER, disarmed, replaced

# What a line-splitting reader would take for a line break, and what cannot be encoded, beyond what json escapes itself.
_UNSAFE = re.compile("[\x7f\x85\u2028\u2029\ud800-\udfff]")
# What turns the order of text, has no width, or spells words that only a model reads. What joins letters stays.
_SMUGGLED = "\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"
_HIDING = re.compile(f"[{_SMUGGLED}]")
_BROKEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff{_SMUGGLED}]")
"""What a text of several lines may not hold as it is: line ends but line feed, controls but tab, and what hides."""
_UNPRINTABLE = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{_SMUGGLED}]")


def json_line(value: Mapping[str, Any]) -> str:
    """`value` as JSON on one line.

    No tool output can start a line of its own, and none can hold a tag such as `<system-reminder>`, however spelt: what
    opens it is written as an escape, so that the JSON still says exactly what the tool said. So is what hides in it.
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = replaced(text, DISTINCT, lambda mark: _escaped(mark[0]) + mark[1:])
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDING.sub(_escape, _UNSAFE.sub(_escape, text))


def escaped(text: str) -> str:
    """A text of several lines with the escapes of `json_line`; its line feeds and tabs stay as they are."""
    text = replaced(text, DISTINCT, lambda mark: _escaped(mark[0]) + mark[1:])
    return _BROKEN.sub(_escape, text)


def one_name(name: str) -> str:
    """A file or folder name as it may stand in a sentence of ours: on one line, and opening or closing no tag."""
    return disarmed(_UNPRINTABLE.sub(_escape, name))


def quoted(text: str) -> str:
    """A body that stands inside a tag of ours, which it cannot close."""
    return disarmed(neutralise(text))


def neutralise(text: str) -> str:
    """What the user typed, unable to open or close a reminder; lone surrogates are replaced."""
    text = disarmed(text, REMINDER)
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escape(found: re.Match[str]) -> str:
    return _escaped(found[0])


def _escaped(character: str) -> str:
    """As JSON spells it: the two halves of what lies beyond the basic plane."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
