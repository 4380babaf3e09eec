"""What a person types at an approval, read (S-2)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

STAY = "stay"
"""The answer that a chat stays on this machine: an option of its own beside the no (P-4)."""
_WORDS = {
    "allow_once": ("y", "yes", "ok", "okay", "allow", "once"),
    "allow_chat": ("a", "chat"),
    "allow_always": ("p", "always"),
    "reject": ("n", "no", "reject", "deny"),
    STAY: ("o", "offline", "stay"),
}
KEYS = {kind: words[0] for kind, words in _WORDS.items()}
"""The key of each kind of option, as it is offered."""
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words}
_YES = ("y", "yes", "ok", "okay")
_SEQUENCE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
"""What an arrow, a function key or a mark of a paste sends."""
_REASON = re.compile(r"(?:no?|reject|deny)\s*[:,\uff1a\uff0c]\s*(.*)", re.IGNORECASE | re.DOTALL)


def without_keys(typed: str) -> str:
    """`typed` without escape sequences and other controls, which are keys and no words."""
    text = _SEQUENCE.sub("", typed)
    return "".join(character for character in text if character == "\t" or character.isprintable()).strip()


def single_yes(offered: Container[str]) -> bool:
    """Whether the one yes there is counts for the whole chat, as where a chat may be sent to a vendor (P-4)."""
    return STAY in offered and "allow_chat" in offered and "allow_once" not in offered


def verdict(typed: str, offered: Container[str]) -> tuple[str, str] | None:
    """The kind of the chosen option and a comment; None: it is no choice, and has to be asked again.

    A comment comes only with a refusal, in the form `n: reason`. `offered` are the kinds that can be chosen.
    """
    text = without_keys(typed)
    word = unicodedata.normalize("NFKC", text).casefold().rstrip(".!")
    if word in _YES and single_yes(offered):
        return "allow_chat", ""
    if (kind := _KINDS.get(word)) is not None:
        return (kind, "") if kind in offered else None
    if "reject" in offered and (reason := _REASON.fullmatch(text)) is not None:
        return "reject", reason[1].strip()
    return None
