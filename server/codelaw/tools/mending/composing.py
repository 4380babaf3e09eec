"""The new text as the file would have it: what stays keeps the file's own characters (T-5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from codelaw.tools.mending.indentation import Relation
from codelaw.tools.mending.lookalikes import chunks, folded

MAX_LINES = 500
MAX_TOKENS = 1_000
"""Of an edit; what is larger is not compared piece by piece."""
_TOKENS = re.compile(r"\w+|\s|.", re.DOTALL)


def with_blanks(
    old: Sequence[str], new: Sequence[str], there: Sequence[str], relation: Relation, *, begun: bool
) -> str | None:
    """The new lines, those that were sent before as the file has them, the others with its blanks.

    None where one of them would be a guess. `begun`: the first line's indentation stands before the place.
    """
    if max(len(old), len(new)) > MAX_LINES:
        return None
    if not begun:
        return _joined(_lines(old, new, there, relation))
    first = there[0] if new[0] == old[0] else relation.applied(new[0], begun=True)
    rest = _lines(old[1:], new[1:], there[1:], relation)
    return None if first is None or rest is None else "\n".join([first, *rest])


def with_characters(old: str, new: str, there: str, text: str) -> str | None:
    """The new text with the file's characters where `old` had others that look alike.

    What is new has them replaced too, where they stood for plain ones and are nowhere in the file's `text`. None where
    that cannot be told.
    """
    ours, theirs, sent = old.split("\n"), there.split("\n"), new.split("\n")
    if max(len(ours), len(sent)) > MAX_LINES:
        return None
    made: list[str] = []
    meant = _meant(old, there)
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, sent, autojunk=False).get_opcodes():
        if tag == "equal":
            made += theirs[i1:i2]
            continue
        block = _block("\n".join(ours[i1:i2]), "\n".join(sent[j1:j2]), "\n".join(theirs[i1:i2]), (meant, text))
        if block is None:
            return None
        if j2 > j1:
            made.append(block)
    return "\n".join(made)


def _lines(old: Sequence[str], new: Sequence[str], there: Sequence[str], relation: Relation) -> list[str] | None:
    made: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            made += there[i1:i2]
            continue
        for line in new[j1:j2]:
            applied = relation.applied(line)
            if applied is None:
                return None
            made.append(applied)
    return made


def _joined(lines: list[str] | None) -> str | None:
    return None if lines is None else "\n".join(lines)


def _block(old: str, new: str, there: str, known: tuple[dict[str, set[str]], str]) -> str | None:
    """Changed lines, token by token."""
    ours, sent = _TOKENS.findall(old), _TOKENS.findall(new)
    if max(len(ours), len(sent)) > MAX_TOKENS:
        return None
    places = {chunk.first[0]: chunk.second[0] for chunk in chunks(old, there)} | {len(old): len(there)}
    starts = [0]
    for token in ours:
        starts.append(starts[-1] + len(token))
    made: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, sent, autojunk=False).get_opcodes():
        if tag == "equal":
            first, last = places.get(starts[i1]), places.get(starts[i2])
            piece = None if first is None or last is None else there[first:last]
        else:
            piece = _plain("".join(sent[j1:j2]), *known)
        if piece is None:
            return None
        made.append(piece)
    return "".join(made)


def _meant(old: str, there: str) -> dict[str, set[str]]:
    """What each foreign character of the old text stands for."""
    meant: dict[str, set[str]] = {}
    for chunk in chunks(old, there):
        sent, theirs = old[slice(*chunk.first)], there[slice(*chunk.second)]
        if sent and not sent.isascii():
            meant.setdefault(sent, set()).add(theirs)
    return meant


def _plain(piece: str, meant: dict[str, set[str]], text: str) -> str | None:
    """A new piece with its foreign characters as the file would have them."""
    if not any(sent.isascii() != next(iter(theirs)).isascii() for sent, theirs in meant.items()):
        return piece  # the file has the foreign ones, and what is new stays as it was sent
    made: list[str] = []
    for char in piece:
        plain = folded(char)
        if plain == char or not plain.isascii() or meant.get(char) == {char}:
            made.append(char)
        elif char in text or meant.get(char) != {plain}:
            return None
        else:
            made.append(plain)
    return "".join(made)
