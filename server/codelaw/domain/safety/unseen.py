"""Characters that a person does not see, or sees as something else, and how they are shown (S-2, S-7).

One list for every place that shows a text to a person, or takes what hides in it away from a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""As a part of a character class: controls but tab and line feed, marks that turn the order of text, what has no width
or no shape, halves of characters, variation selectors, and the block of tags."""
_BLANK = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Likewise: what looks like a space and is none."""
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010fffd"
"""Likewise: what every font draws as it likes."""

_UNSEEN = re.compile(f"[{HIDDEN}{_BLANK}{_PRIVATE}]")
_HIDDEN = re.compile(f"[{HIDDEN}]")
_STEERING = re.compile(f"(?![\u034f\u200c\u200d\u2800\ufe00-\ufe0f])[{HIDDEN}]")
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ENDS = re.compile("[\t\n]")
_RUN = re.compile(f"(?:(?!\r)[{HIDDEN}])+")
_JOINING = re.compile("[\u200c\u200d\ufe00-\ufe0f]")
"""What scripts and pictures are joined by: one behind a character beyond ASCII is not a secret."""
_KEYCAP = re.compile("[0-9#*]\ufe0f\u20e3")


def visible(text: str) -> str:
    """The text with each unseen character as its code, such as `⟨U+202E⟩`; tabs and line ends stay what they are."""
    return _UNSEEN.sub(_code, text.replace("\r\n", "\n"))


def legible(text: str) -> str:
    """The same of prose: blanks of every kind stay, and what joins letters and pictures; no carriage return does."""
    return _STEERING.sub(_code, text)


def visible_line(text: str) -> str:
    """The same of a text that belongs on one line: its tabs and line ends are shown by their codes as well."""
    return _ENDS.sub(_code, visible(text))


def has_unseen(text: str) -> bool:
    """Whether `visible` shows a code in it."""
    return _UNSEEN.search(text.replace("\r\n", "\n")) is not None


def title(text: str, most: int) -> str:
    """The first line of a text, visible, its spaces single; an ellipsis says that the text goes on."""
    whole = visible(text).strip(" \t\n")
    first = whole.partition("\n")[0]
    line = re.sub("[ \t]+", " ", first).strip()
    if len(line) > most:
        return line[: most - 1].rstrip() + "…"
    return line if first == whole else f"{line} …"


def without_hidden(text: str) -> str:
    """The text without what hides in it, its line ends of one kind; blanks of every kind stay."""
    return _HIDDEN.sub("", _BREAK.sub("\n", text))


def concealed(text: str) -> Iterator[tuple[int, int]]:
    """Where runs of hidden characters stand that no ordinary text has: begin and end, in code points.

    Line ends, a byte order mark at the very beginning, and what joins letters and pictures are ordinary.
    """
    for run in _RUN.finditer(text):
        start, end = run.span()
        if start == 0 and run[0] == "\ufeff":
            continue
        if end - start == 1 and _JOINING.match(run[0]):
            joined = start > 0 and not text[start - 1].isascii()
            if joined or _KEYCAP.match(text, max(0, start - 1)):
                continue
        yield start, end


def _code(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"
