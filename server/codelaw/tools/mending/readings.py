"""What a pasted text may stand for: numbered lines, escaped text, entities (T-5).

A reading decodes `old_string` and `new_string` alike. Where the new text does not show that it was written the same
way, its reading is a guess: it has no new text, and says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

WIDTHS = (1, 2, 3, 4, 8)
"""Spaces that may stand for the tab behind a line number."""
_NUMBER = r"[ ]{0,8}(\d{1,7})"
_STYLES = (
    *(re.compile(rf"{_NUMBER}{mark}") for mark in ("\t", "\u2192", ": ", ":\t", ":", r"[ ]?\| ", r"[ ]?\|")),
    *(re.compile(rf"{_NUMBER}[ ]{{{width}}}") for width in WIDTHS),
)
_BARE = re.compile(_NUMBER + r"[\t\u2192:| ]*$")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "#39": "'", "#x27": "'", "apos": "'", "nbsp": "\u00a0"}
_ENTITY = re.compile(rf"&({'|'.join(_ENTITIES)});", re.IGNORECASE)
_BREAKS = {r"\n": "\n", r"\t": "\t"}
_BREAK = re.compile(r"\\[nt]")
_QUOTE = re.compile(r"(?<!\\)\"")


@dataclass(frozen=True, slots=True)
class Reading:
    """Both texts of an edit as they may have been meant."""

    old: str
    new: str | None
    """None where it would have to be guessed."""
    what: str = ""
    """What was done to the texts as they were sent."""
    doubt: str = ""
    """Why the new text would be a guess."""
    whole: bool = False
    """The old text can only be whole lines."""
    last: bool = False
    """The old text can only be the last of the file."""


def readings(old: str, new: str) -> list[Reading]:
    """All readings but the plain one; several may agree."""
    read = [
        *_unnumbered(old, new),
        *_unescaped(old, new),
        *_without_entities(old, new),
        *_without_last_breaks(old, new),
    ]
    return [reading for reading in read if reading.old.strip() and reading.old != old]


def _unnumbered(old: str, new: str) -> list[Reading]:
    what, doubt = "line numbers taken off", "the line numbers of new_string are not like those of old_string"
    read: list[Reading] = []
    for style in _STYLES:
        for skipped in (0, 1):
            bare = _bare_lines(old.split("\n"), style, skipped)
            if bare is None or (skipped and _bare_lines(old.split("\n"), style, 0) is not None):
                continue
            lines = new.split("\n")
            plain = _bare_lines(lines, style, 0) or (_bare_lines(lines, style, 1) if skipped else None)
            if plain is not None and _first(lines, style) != _first(old.split("\n"), style):
                plain = None
            numbered = any(style.match(line) for line in lines)
            written = plain if plain is not None else None if numbered else lines
            meant = None if written is None else "\n".join(written)
            read.append(Reading("\n".join(bare), meant, what, "" if meant is not None else doubt, whole=not skipped))
    return read


def _bare_lines(lines: Sequence[str], style: re.Pattern[str], skipped: int) -> list[str] | None:
    """The lines without their numbers, which must go up one by one; the first `skipped` ones have none."""
    body = list(lines[:-1] if lines[-1] == "" else lines)
    numbers: list[int] = []
    bare: list[str] = []
    for line in body[skipped:]:
        found = style.match(line)
        if found is None and (found := _BARE.match(line)) is None:
            return None
        numbers.append(int(found[1]))
        bare.append(line[found.end() :])
    if not numbers or any(after != before + 1 for before, after in pairwise(numbers)):
        return None
    return [*body[:skipped], *bare, *lines[len(body) :]]


def _first(lines: Sequence[str], style: re.Pattern[str]) -> str | None:
    """The first line number."""
    return next((found[1] for line in lines if (found := style.match(line))), None)


def _unescaped(old: str, new: str) -> list[Reading]:
    if "\\" not in old:
        return []
    doubt = "it is not certain which escapes of new_string are meant as such"
    read: list[Reading] = []
    whole = _json_text(old)
    quoted = whole is not None and r"\"" in new and _json_text(new) is not None
    if whole is not None:
        meant = new if "\\" not in new else _json_text(new)
        read.append(_escaped(whole, meant, doubt))
    if r"\"" in old:
        alike = r"\"" in new and not _QUOTE.search(new)
        meant = new.replace(r"\"", '"') if alike else new if r"\"" not in new else None
        read.append(_escaped(old.replace(r"\"", '"'), meant, doubt))
    if _BREAK.search(old) and "\n" not in old and not quoted:
        meant = _broken(new) if _BREAK.search(new) else new
        read.append(_escaped(_BREAK.sub(lambda found: _BREAKS[found[0]], old), meant, doubt))
    return read


def _escaped(old: str, new: str | None, doubt: str) -> Reading:
    return Reading(old, new, "escapes read as the characters they stand for", "" if new is not None else doubt)


def _json_text(text: str) -> str | None:
    r"""The inside of a JSON string as text; None when it is none, or leaves no text."""
    try:
        value = json.loads(f'"{text}"')
    except ValueError:
        return None
    return value if isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value) else None


def _broken(text: str) -> str | None:
    r"""The text with `\n` as line breaks; None when one of them may belong to a string in the text."""
    if "\n" in text:
        return None
    broken = _BREAK.sub(lambda found: _BREAKS[found[0]], text)
    whole = all(line.count(quote) % 2 == 0 for line in broken.split("\n") for quote in "\"'`")
    return broken if whole else None


def _without_entities(old: str, new: str) -> list[Reading]:
    if not _ENTITY.search(old):
        return []
    meant = new
    if _ENTITY.search(new):
        bare = _ENTITY.sub("", new)
        meant = None if any(char in bare for char in "<>&") else _plain(new)
    doubt = "new_string has both HTML entities and the characters they stand for" if meant is None else ""
    return [Reading(_plain(old), meant, "HTML entities read as the characters they stand for", doubt)]


def _plain(text: str) -> str:
    return _ENTITY.sub(lambda found: _ENTITIES[found[1].lower()], text)


def _without_last_breaks(old: str, new: str) -> list[Reading]:
    """Without the line breaks at the end of the old text, which the new one must have too: the file has none there."""
    kept = old.rstrip("\n")
    count = len(old) - len(kept)
    if not count:
        return []
    alike = new.endswith("\n" * count)
    meant = new[: len(new) - count] if alike else None
    doubt = "" if alike else "new_string ends with other line breaks"
    return [Reading(kept, meant, "line breaks at its end left out", doubt, last=True)]
