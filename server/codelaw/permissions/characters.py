"""Characters by which what is shown of a command differs from what runs (S-2)."""

from __future__ import annotations

import re

_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]")
"""What is printable and yet not seen, or not seen as it is."""
_LAYOUT = str.maketrans("", "", "\n\t")


def seen_whole(text: str) -> bool:
    """Whether every character is seen as what it is.

    Not so: controls (a lone carriage return and ESC among them), what turns the direction of writing, what has no
    width, and blanks that are none to a shell.
    """
    return text.translate(_LAYOUT).isprintable() and _UNSEEN.search(text) is None
