"""What a pasted text may stand for: numbered lines, escaped text, entities (T-5).

A reading decodes `old_string` and `new_string` alike. Where the new text does not show that it was written the same
way, its reading is a guess: it has no new text, and says why.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NUMBER = r"[ ]{0,8}(\d{1,7})"
_MARKS = ("\t", "\u2192", ": ", ":\t", ":", r"[ ]?\| ", r"[ ]?\|", *(rf"[ ]{{{width}}}" for width in (1, 2, 3, 4, 8)))
_STYLES = tuple(re.compile(_NUMBER + mark) for mark in _MARKS)
"""Line numbers with what may stand behind them; spaces may stand for a tab."""
_BARE = re.compile(_NUMBER + r"[\t\u2192:| ]*$")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#39|#x27|apos|nbsp);", re.IGNORECASE)
_BREAK = re.compile(r"\\[nt]")
_QUOTE = re.compile(r"(?<!\\)\"")


@dataclass(frozen=True, slots=True)
class EditReading:
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


def readings(old: str, new: str) -> list[EditReading]:
    """All readings but the plain one; several may agree."""
    read = [*_unnumbered(old, new), *_unescaped(old, new), *_without_entities(old, new), *_without_breaks(old, new)]
    return [reading for reading in read if reading.old.strip() and reading.old != old]


def _unnumbered(old: str, new: str) -> Iterator[EditReading]:
    lines = new.split("\n")
    for style in _STYLES:
        first = _bare_lines(old.split("\n"), style, 0)
        for skipped, bare in ((0, first), (1, None if first else _bare_lines(old.split("\n"), style, 1))):
            if bare is None:
                continue
            plain = _bare_lines(lines, style, 0) or (_bare_lines(lines, style, 1) if skipped else None)
            meant = lines if not any(map(style.match, lines)) else None
            if plain is not None:
                meant = plain[1] if plain[0] == bare[0] else None
            doubt = "" if meant is not None else "the line numbers of new_string are not like those of old_string"
            text = None if meant is None else "\n".join(meant)
            yield EditReading("\n".join(bare[1]), text, "line numbers taken off", doubt, whole=not skipped)


def _bare_lines(lines: Sequence[str], style: re.Pattern[str], skipped: int) -> tuple[int, list[str]] | None:
    """The first number, and the lines without theirs, which must go up one by one; the `skipped` ones have none."""
    body = list(lines[:-1] if lines[-1] == "" else lines)
    found = [style.match(line) or _BARE.match(line) for line in body[skipped:]]
    numbers = [int(one[1]) for one in found if one is not None]
    if not numbers or None in found or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    bare = [line[one.end() :] for line, one in zip(body[skipped:], found, strict=True) if one is not None]
    return numbers[0], [*body[:skipped], *bare, *lines[len(body) :]]


def _unescaped(old: str, new: str) -> Iterator[EditReading]:
    if "\\" not in old:
        return
    whole, other = _json_text(old), _json_text(new)
    if whole is not None:
        yield _escaped(whole, new if "\\" not in new else other)
    if r"\"" in old:
        alike = r"\"" not in new or not _QUOTE.search(new)
        yield _escaped(old.replace(r"\"", '"'), new.replace(r"\"", '"') if alike else None)
    if _BREAK.search(old) and "\n" not in old and not (whole is not None and other is not None and r"\"" in new):
        yield _escaped(_broken(old), _broken_safely(new) if _BREAK.search(new) else new)


def _escaped(old: str, new: str | None) -> EditReading:
    doubt = "" if new is not None else "it is not certain which escapes of new_string are meant as such"
    return EditReading(old, new, "escapes read as the characters they stand for", doubt)


def _json_text(text: str) -> str | None:
    r"""The inside of a JSON string as text; None when it is none, or leaves no text."""
    try:
        value = json.loads(f'"{text}"')
        value.encode()
    except ValueError:
        return None
    return value


def _broken(text: str) -> str:
    return text.replace(r"\n", "\n").replace(r"\t", "\t")


def _broken_safely(text: str) -> str | None:
    r"""The text with `\n` as line breaks; None when one of them may belong to a string in the text."""
    broken = _broken(text)
    whole = all(line.count(quote) % 2 == 0 for line in broken.split("\n") for quote in "\"'`")
    return broken if whole and "\n" not in text else None


def _without_entities(old: str, new: str) -> Iterator[EditReading]:
    if _ENTITY.search(old):
        mixed = _ENTITY.search(new) is not None and any(char in _ENTITY.sub("", new) for char in "<>&")
        doubt = "new_string has both HTML entities and the characters they stand for" if mixed else ""
        meant = None if mixed else _plain(new)
        yield EditReading(_plain(old), meant, "HTML entities read as the characters they stand for", doubt)


def _plain(text: str) -> str:
    return _ENTITY.sub(lambda found: html.unescape(found[0].lower()), text)


def _without_breaks(old: str, new: str) -> Iterator[EditReading]:
    """Without the line breaks at the end of the old text, which the new one must have too: the file has none there."""
    kept = old.rstrip("\n")
    count = len(old) - len(kept)
    if count:
        alike = new.endswith("\n" * count)
        doubt = "" if alike else "new_string ends with other line breaks"
        meant = new[: len(new) - count] if alike else None
        yield EditReading(kept, meant, "line breaks at its end left out", doubt, last=True)
