"""JSON as people write it by hand: with comments, and a comma behind the last item."""

from __future__ import annotations

import json
import re
from typing import Any

_STRING = r'"(?:[^"\\\n]|\\.)*"?'
_COMMENT = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?"
_TOKEN = re.compile(f"{_STRING}|{_COMMENT}")
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])")


def lenient_json(text: str) -> Any:
    """The value of a JSON text in which comments and last commas are allowed.

    Raises:
        ValueError: it is not such a text; the message says where.
    """
    plain = _TOKEN.sub(_without_comment, text.removeprefix("\ufeff"))
    try:
        return json.loads(_COMMA.sub(lambda match: match[1] or " ", plain))
    except RecursionError as error:
        message = "it is nested too deeply"
        raise ValueError(message) from error


def _without_comment(match: re.Match[str]) -> str:
    """A string as it is; blanks for a comment, so that what follows keeps its place."""
    found = match[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)
