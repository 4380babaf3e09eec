"""Where a text that was not found fits after all (T-5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codelaw.tools.mending.composing import with_blanks, with_characters
from codelaw.tools.mending.indentation import LEVELS, Relation, relation
from codelaw.tools.mending.lookalikes import folded
from codelaw.tools.mending.readings import Reading, readings
from codelaw.tools.mending.sheet import MOST, Sheet

MAX_TEXT = 2_000_000
"""Characters of a file in which an edit is mended."""
MAX_SENT = 100_000
"""Characters of an edit that is mended."""


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


def fits(sheet: Sheet, old: str, new: str) -> list[Fit]:
    """The places where the old text fits, by the reading that takes the least for granted; at most `MOST`.

    Exactly one of them with a new text is an edit that can be mended. Empty where nothing fits.
    """
    if len(sheet.text) > MAX_TEXT or len(old) + len(new) > MAX_SENT or not any(map(str.isalnum, old)):
        return []
    plain, decoded = Reading(old, new), readings(old, new)
    for group in _groups(sheet, plain, decoded):
        if group:
            return _distinct(sheet, group)[:MOST]
    return []


def _groups(sheet: Sheet, plain: Reading, decoded: Sequence[Reading]) -> Iterator[list[Fit]]:
    """Fits by what they take for granted, the least first."""
    ends, leads = _by_blanks(sheet, plain)
    yield ends
    yield [fit for reading in decoded for fit in _exact(sheet, reading)]
    yield _by_looks(sheet, plain)
    yield leads
    read = [_by_blanks(sheet, reading) for reading in decoded]
    yield [fit for ends, _ in read for fit in ends]
    yield [fit for _, leads in read for fit in leads]
    yield [fit for reading in decoded for fit in _by_looks(sheet, reading)]


def _exact(sheet: Sheet, reading: Reading) -> list[Fit]:
    fits: list[Fit] = []
    for start in sheet.found(reading.old):
        end = start + len(reading.old)
        if _may_be(reading, sheet.text, start, end):
            fits.append(Fit(start, end, reading.new, reading.what, reading.doubt))
    return fits


def _may_be(reading: Reading, text: str, start: int, end: int) -> bool:
    """Whether a place begins and ends where the reading's text can."""
    if reading.last and end < len(text):
        return False
    begins = start == 0 or text[start - 1] == "\n"
    return not reading.whole or (begins and (end == len(text) or "\n" in (text[end], text[end - 1])))


def _by_looks(sheet: Sheet, reading: Reading) -> list[Fit]:
    """Where characters stand that look alike."""
    what = _words(reading.what, "look-alike characters read as the file's")
    same = reading.new is not None and folded(reading.old) == folded(reading.new)
    fits: list[Fit] = []
    for start, end in sheet.found_folded(reading.old):
        if sheet.text[start:end] == reading.old or not _may_be(reading, sheet.text, start, end):
            continue
        if same or reading.new is None:
            doubt = reading.doubt or "the edit changes nothing but how characters look"
            fits.append(Fit(start, end, None, what, doubt))
            continue
        made = with_characters(reading.old, reading.new, sheet.text[start:end], sheet.text)
        doubt = "" if made is not None else "which characters of new_string are meant as they are is not certain"
        fits.append(Fit(start, end, made, what, doubt))
    return fits


def _by_blanks(sheet: Sheet, reading: Reading) -> tuple[list[Fit], list[Fit]]:
    """Where the same lines stand with other blanks behind them, and with other blanks before them."""
    fits: tuple[list[Fit], list[Fit]] = [], []
    lines = reading.old.split("\n")
    body = lines[:-1] if lines[-1] == "" else lines
    if not any(char.isalnum() for line in body for char in line):
        return fits
    for first in sheet.blocks(body):
        if reading.last and first + len(body) < len(sheet.lines):
            continue
        if len(body) < len(lines) and first + len(body) >= len(sheet.lines):
            continue  # the line break behind it is not there
        there = sheet.lines[first : first + len(body)]
        related = relation(list(zip(body, there, strict=True)))
        begun = False
        if len(body) > 1 and body[0] == body[0].lstrip() and (related is None or related.level != "ends"):
            # The text may begin behind the indentation of its first line.
            inner = [there[0].lstrip(), *there[1:]]
            other = relation(list(zip(body, inner, strict=True)))
            if other is not None and (related is None or LEVELS.index(other.level) < LEVELS.index(related.level)):
                related, begun, there = other, True, inner
        if related is None:
            # It cannot be this place, but keeps another from being the only one.
            start, end = sheet.starts[first], sheet.starts[first + len(body)] - 1
            fits[1].append(
                Fit(start, end, None, _words(reading.what, "other white space"), "its lines differ unevenly")
            )
            continue
        place = _Block(first, tuple(body), tuple(there), begun)
        fits[related.level != "ends"].append(_fit(sheet, reading, place, related))
    return fits


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines of the file that hold the same as those that were sent, but for blanks."""

    first: int
    sent: tuple[str, ...]
    there: tuple[str, ...]
    begun: bool
    """The place begins behind the indentation of its first line."""


def _fit(sheet: Sheet, reading: Reading, block: _Block, related: Relation) -> Fit:
    last = block.first + len(block.there) - 1
    start = sheet.starts[block.first] + (len(sheet.lines[block.first]) - len(block.there[0]) if block.begun else 0)
    end = sheet.starts[last] + len(sheet.lines[last])
    closed = reading.old.endswith("\n")
    what = _words(reading.what, related.what)
    fit = Fit(start, end + closed, None, what, reading.doubt)
    if reading.new is None:
        return fit
    if "".join(reading.old.split()) == "".join(reading.new.split()):
        return replace(fit, doubt="the edit changes nothing but white space")
    sent, there, new = list(block.sent), list(block.there), reading.new.split("\n")
    if closed:
        sent, there = [*sent, ""], [*there, ""]
    if len(sent) == 1 < len(new) and (related.level == "both" or related.added):
        return replace(fit, doubt="how further lines of new_string are meant to be indented is not certain")
    made = with_blanks(sent, new, there, related, begun=block.begun)
    if made is None:
        return replace(fit, doubt="which white space new_string is meant to have is not certain")
    return replace(fit, new=made)


def _distinct(sheet: Sheet, found: Sequence[Fit]) -> list[Fit]:
    """The fits that lead to different texts; one with a new text makes those at its place without one needless."""
    certain: dict[tuple[int, int, str], Fit] = {}
    for fit in found:
        if fit.new is not None:
            certain.setdefault(_change(sheet.text[fit.start : fit.end], fit), fit)
    places = {(fit.start, fit.end) for fit in certain.values()}
    doubtful = {(fit.start, fit.end): fit for fit in found if fit.new is None}
    return [*certain.values(), *(fit for place, fit in doubtful.items() if place not in places)]


def _change(there: str, fit: Fit) -> tuple[int, int, str]:
    """What really changes, whatever else is in the place."""
    new = fit.new or ""
    head = _common(there, new)
    tail = _common(there[head:][::-1], new[head:][::-1])
    return fit.start + head, fit.end - tail, new[head : len(new) - tail]


def _common(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _words(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
