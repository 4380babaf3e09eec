"""Text of a model's or a tool's own, made unable to pass for anybody else's (R-5)."""

from __future__ import annotations

import re

from codelaw.domain.safety.own_tags import disarmed

_ROLE = re.compile(r"^([ \t>*_-]*)\[(user|assistant|tool|system)\]", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"^([ \t>*_-]*(?:Thought|Action|Observation|Finish)[*_]*)(?=:|\[)", re.MULTILINE)
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def plain(text: str) -> str:
    """The text with line breaks of one kind, without control characters and lone surrogates."""
    text = _CONTROL.sub("", _BREAK.sub("\n", text))
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def harmless(text: str) -> str:
    """The text, unable to open a reminder, to speak for a role or to call a tool; otherwise `plain`."""
    text = disarmed(plain(text))
    text = _ROLE.sub(r"\1(\2)", text)
    return _LABEL.sub(r"\1 ", text)
