"""The tags that are ours alone, found in foreign text in every spelling (R-5, S-7).

A model reads more into a text than a parser: capitals, spaces, letters of full width, hidden characters between the
letters and HTML entities all look like the tag that they imitate.
Below them stands how text of a model or a tool is made unable to pass for anybody else's.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator

from codelaw.domain.safety.unseen import HIDDEN

REMINDER = ("system-reminder",)
OURS = (
    *REMINDER,
    *("attachment", "active-editor", "environment", "todo-recap", "pin", "earlier-messages", "earlier-summary"),
    *("remembered", "restricted-mode", "typed-command", "loaded-skill", "folder-law", "hook-context"),
    "server-instructions",
)
"""What a name of ours begins with."""
DISTINCT = tuple(name for name in OURS if "-" in name or name == "remembered")
"""Those of them that are not common words of other people's documents."""

PIPED = "stdin"
"""The tag around what was piped into a message."""
_PIPED = re.compile(rf"<{PIPED}>.*?(?:</{PIPED}>|\Z)", re.DOTALL)
_OPENING = re.compile(
    "(?:[<\uff1c\ufe64]|&(?:amp;){0,8}(?:lt|#0{0,8}60|#x0{0,8}3c)(?![0-9a-z]);?)"
    f"(?=[\\s/{HIDDEN}]{{0,32}}(?:[aefhlprst&\\\\]|[^\\x00-\\x7f]))",
    re.IGNORECASE,
)
"""What may open a tag, before what may begin one of the names."""
_WINDOW = 160
"""Characters behind it that are looked at: a name, with what may stand between its letters."""
_SKIPPED = re.compile(f"[\\s/_{HIDDEN}\\u2010-\\u2015\\u2212\\ufe58\\ufe63\\uff0d-]|\\\\(?:u[0-9a-f]{{4}}|.)?")
"""What may stand between the letters of a name: nothing that is seen as one, and escapes of JSON."""
_END = re.compile(r"[<>\uff1c\uff1e\ufe64\ufe65]|\\u(?:003[ce]|ff1[ce]|fe6[45])|&(?:amp;){0,8}[lg]t", re.IGNORECASE)
"""What ends a name: a mark, also one that is written as an escape already."""
_ENTITIES = 3
"""So many times an entity may be one itself."""


def replaced(text: str, names: tuple[str, ...], instead: Callable[[str], str]) -> str:
    """The text with the mark that opens each such tag, or closes it, as `instead` spells it."""
    pieces: list[str] = []
    at = 0
    for start, end in openings(text, names):
        pieces += [text[at:start], instead(text[start:end])]
        at = end
    return "".join((*pieces, text[at:])) if pieces else text


def not_piped(text: str) -> str:
    """A message without what was piped into it, which names nothing for the user."""
    return _PIPED.sub(" ", text)


def disarmed(text: str, names: tuple[str, ...] = OURS) -> str:
    """The text in which those tags are none: each opens with `&lt;`."""
    return replaced(text, names, lambda _mark: "&lt;")


def openings(text: str, names: tuple[str, ...] = OURS) -> Iterator[tuple[int, int]]:
    """Where the marks stand that open or close such a tag, in code points."""
    if text.isascii() and "<" not in text and "&" not in text:
        return
    plain = tuple(name.replace("-", "") for name in names)
    for mark in _OPENING.finditer(text):
        if _name(text[mark.end() : mark.end() + _WINDOW]).startswith(plain):
            yield mark.span()


def _name(text: str) -> str:
    """What a text begins with, as a reader takes it: letters only."""
    text = _END.split(text, maxsplit=1)[0]
    if text.isascii() and "&" not in text:
        return _SKIPPED.sub("", text).casefold()
    for _ in range(_ENTITIES if "&" in text else 0):
        text = html.unescape(text)
    return _SKIPPED.sub("", unicodedata.normalize("NFKC", _SKIPPED.sub("", text))).casefold()


_ROLE = re.compile(r"^([ \t>*_-]*)\[(user|assistant|tool|system)\]", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"^([ \t>*_-]*(?:Thought|Action|Observation|Finish)[*_]*)(?=:|\[)", re.MULTILINE)
_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def plain(text: str) -> str:
    """The text with line breaks of one kind, without control characters and lone surrogates."""
    text = _CONTROL.sub("", _BREAK.sub("\n", text))
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def escape(text: str) -> str:
    """The text, unable to open a reminder, to speak for a role or to call a tool; otherwise `plain`."""
    text = disarmed(plain(text))
    text = _ROLE.sub(r"\1(\2)", text)
    return _LABEL.sub(r"\1 ", text)
