"""Where a text that was not found fits after all, with the new text as the file would have it (T-5)."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from codelaw.tools.mending.indexed_lines import MOST, IndexedLines, Relation, folded, folded_offsets, relation

MAX_TEXT = 2_000_000
"""Characters of a file in which an edit is mended."""
MAX_SENT = 100_000
"""Characters of an edit that is mended."""
MAX_LINES = 500
MAX_TOKENS = 1_000
"""Of an edit; what is larger is not compared piece by piece."""
_TOKENS = re.compile(r"\w+|\s|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fit:
    """A place for an edit, with the new text as the file would have it."""

    start: int
    end: int
    new: str | None
    """None where it would have to be guessed."""
    what: str
    """What was done to the texts as they were sent."""
    doubt: str = ""
    """Why the new text would be a guess."""


def fits(file: IndexedLines, old: str, new: str) -> list[Fit]:
    """The places where the old text fits, by the reading that takes the least for granted; at most `MOST`.

    Exactly one of them with a new text is an edit that can be mended. Empty where nothing fits.
    """
    if len(file.text) > MAX_TEXT or len(old) + len(new) > MAX_SENT or not any(map(str.isalnum, old)):
        return []
    group = next(filter(None, _groups(file, old, new)), list[Fit]())
    return _distinct(file, group)[:MOST]


def _groups(file: IndexedLines, old: str, new: str) -> Iterator[list[Fit]]:
    """Fits by what they take for granted, the least first."""
    plain, decoded = EditReading(old, new), readings(old, new)
    ends, leads = _by_blanks(file, plain)
    yield ends
    yield [fit for reading in decoded for fit in _exact(file, reading)]
    yield list(_by_looks(file, old, new))
    yield leads
    yield [fit for reading in decoded for fits in _by_blanks(file, reading) for fit in fits]


def _exact(file: IndexedLines, reading: EditReading) -> Iterator[Fit]:
    for start in file.found(reading.old):
        end = start + len(reading.old)
        if _may_be(reading, file.text, start, end):
            yield Fit(start, end, reading.new, reading.what, reading.doubt)


def _may_be(reading: EditReading, text: str, start: int, end: int) -> bool:
    """Whether a place begins and ends where the reading's text can."""
    begins, ends = text[max(0, start - 1) : start] in {"", "\n"}, "\n" in f"{text[end - 1 : end + 1]}\n"[:2]
    return (not reading.last or end == len(text)) and (not reading.whole or (begins and ends))


def _by_looks(file: IndexedLines, old: str, new: str) -> Iterator[Fit]:
    """Where characters stand that look alike."""
    for start, end in file.found_folded(old):
        made, doubt = None, "the edit changes nothing but how characters look"
        if folded(old) != folded(new):
            made = _with_characters(old, new, file.text[start:end], file.text)
            doubt = "" if made is not None else "which characters of new_string are meant as they are is not certain"
        yield Fit(start, end, made, "look-alike characters read as the file's", doubt)


def _by_blanks(file: IndexedLines, reading: EditReading) -> tuple[list[Fit], list[Fit]]:
    """Where the same lines stand with other blanks behind them, and with other blanks before them."""
    found: tuple[list[Fit], list[Fit]] = [], []
    sent = reading.old.split("\n")
    body = sent[:-1] if sent[-1] == "" else sent
    if not any(char.isalnum() for line in body for char in line):
        return found
    for first in file.blocks(body):
        last = first + len(body)
        if last == len(file.lines) if len(body) < len(sent) else reading.last and last < len(file.lines):
            continue  # the line break behind it is not there, or more than that
        there = [*file.lines[first:last], *sent[len(body) :]]
        related = relation(list(zip(body, there, strict=False)))
        what = _words(reading.what, "other white space" if related is None else related.what)
        made, doubt = None, reading.doubt
        if related is None:  # it cannot be this place, but keeps another from being the only one
            doubt = "its lines differ unevenly"
        elif reading.new is not None:
            made, doubt = _with_blanks(sent, reading.new.split("\n"), there, related)
        fit = Fit(file.starts[first], file.starts[last] - (len(body) == len(sent)), made, what, doubt)
        found[related is None or related.moves].append(fit)
    return found


def _with_blanks(
    old: Sequence[str], new: Sequence[str], there: Sequence[str], relation: Relation
) -> tuple[str | None, str]:
    """The new lines, those that were sent before as the file has them, the others with its blanks; or why not."""
    if "".join("".join(old).split()) == "".join("".join(new).split()):
        return None, "the edit changes nothing but white space"
    if len(old) == 1 < len(new) and relation.added:
        return None, "how further lines of new_string are meant to be indented is not certain"
    made: list[str | None] = []
    if max(len(old), len(new)) <= MAX_LINES:
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            made += there[i1:i2] if tag == "equal" else map(relation.applied, new[j1:j2])
    lines = [line for line in made if line is not None]
    if not made or len(lines) < len(made):
        return None, "which white space new_string is meant to have is not certain"
    return "\n".join(lines), ""


def _with_characters(old: str, new: str, there: str, text: str) -> str | None:
    """The new text with the file's characters where `old` had others that look alike.

    What is new has them replaced too, where they stood for plain ones and are nowhere in the file's `text`. None where
    that cannot be told.
    """
    ours, sent = _TOKENS.findall(old), _TOKENS.findall(new)
    if max(len(ours), len(sent)) > MAX_TOKENS:
        return None
    places: dict[int, int] = {}
    for at, offset in enumerate(folded_offsets(there)):
        places.setdefault(offset, at)
    offsets = folded_offsets(old)
    theirs = {at: places[offset] for at, offset in enumerate(offsets[:-1]) if offset in places} | {len(old): len(there)}
    meant: dict[str, set[str]] = {}
    for at, char in enumerate(old):
        if not char.isascii() and at in theirs and at + 1 in theirs:
            meant.setdefault(char, set()).add(there[theirs[at] : theirs[at + 1]])
    starts = [0]
    for token in ours:
        starts.append(starts[-1] + len(token))
    made: list[str | None] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, sent, autojunk=False).get_opcodes():
        if tag == "equal":
            first, last = theirs.get(starts[i1]), theirs.get(starts[i2])
            made.append(None if first is None or last is None else there[first:last])
        else:
            made += [_meant(char, meant, text) for token in sent[j1:j2] for char in token]
    pieces = [piece for piece in made if piece is not None]
    return "".join(pieces) if len(pieces) == len(made) else None


def _meant(char: str, meant: dict[str, set[str]], text: str) -> str | None:
    """A new character as the file would have it; None where that is a guess."""
    plain = folded(char)
    plainly = any(plain != char for char, plain in ((char, "".join(theirs)) for char, theirs in meant.items()))
    if plain == char or not plain.isascii() or not plainly or meant.get(char) == {char}:
        return char
    return plain if char not in text and meant.get(char) == {plain} else None


def _distinct(file: IndexedLines, found: Sequence[Fit]) -> list[Fit]:
    """The fits that lead to different texts; one with a new text makes those at its place without one needless."""
    certain: dict[tuple[int, int, str], Fit] = {}
    for fit in found:
        if fit.new is not None:
            certain.setdefault(_change(file.text[fit.start : fit.end], fit.new, fit), fit)
    places = {(fit.start, fit.end) for fit in certain.values()}
    doubtful = {(fit.start, fit.end): fit for fit in found if fit.new is None}
    return [*certain.values(), *(fit for place, fit in doubtful.items() if place not in places)]


def _change(there: str, new: str, fit: Fit) -> tuple[int, int, str]:
    """What really changes, whatever else is in the place."""
    head = _common(there, new)
    tail = _common(there[head:][::-1], new[head:][::-1])
    return fit.start + head, fit.end - tail, new[head : len(new) - tail]


def _common(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _words(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


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
        bare, plain = _bare_lines(old.split("\n"), style), _bare_lines(lines, style)
        if bare is None:
            continue
        meant = lines if not any(map(style.match, lines)) else None
        if plain is not None:
            meant = plain[1] if plain[0] == bare[0] else None
        doubt = "" if meant is not None else "the line numbers of new_string are not like those of old_string"
        text = None if meant is None else "\n".join(meant)
        yield EditReading("\n".join(bare[1]), text, "line numbers taken off", doubt, whole=True)


def _bare_lines(lines: Sequence[str], style: re.Pattern[str]) -> tuple[int, list[str]] | None:
    """The first number, and the lines without theirs, which must go up one by one."""
    body = list(lines[:-1] if lines[-1] == "" else lines)
    found = [style.match(line) or _BARE.match(line) for line in body]
    numbers = [int(one[1]) for one in found if one is not None]
    if not numbers or None in found or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    bare = [line[one.end() :] for line, one in zip(body, found, strict=True) if one is not None]
    return numbers[0], [*bare, *lines[len(body) :]]


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
    breaks = old[len(kept) :]
    if breaks:
        meant = new.removesuffix(breaks) if new.endswith(breaks) else None
        doubt = "" if meant is not None else "new_string ends with other line breaks"
        yield EditReading(kept, meant, "line breaks at its end left out", doubt, last=True)
