"""What is said of a text that was not found: what was made of it, or where it nearly stands (T-5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codelaw.tools.mending.fitting import Fit
from codelaw.tools.mending.lookalikes import folded
from codelaw.tools.mending.nearest import Difference, Nearest, nearest
from codelaw.tools.mending.sheet import Sheet

MAX_SHOWN = 12
"""Lines of a difference that are shown."""
MAX_WIDTH = 160
"""Characters of each."""


def mended(sheet: Sheet, fit: Fit, label: str) -> str:
    """What the model is told of an edit that was mended."""
    at = _at(sheet, fit)
    return f"{label} is not in the file as sent. It fits {at} alone and was replaced there: {fit.what}."


def refused(sheet: Sheet, old: str, fits: Sequence[Fit], label: str) -> str:
    """Why an edit was not made, and what to copy instead."""
    said = f"{label} was not found"
    if not sheet.text:
        return f"{said}. The file is empty: use Write."
    if len({(fit.start, fit.end) for fit in fits}) > 1:
        lines = ", ".join(str(sheet.line_at(fit.start) + 1) for fit in fits[:5])
        return f"{said} as sent; it nearly fits {len(fits)} places (lines {lines}): add lines until it is unique."
    if len(fits) > 1:
        return f"{said} as sent; it fits {_at(sheet, fits[0])}, but can be read in {len(fits)} ways: {_ways(fits)}."
    at = None
    if fits:
        there = sheet.text[fits[0].start : fits[0].end]
        at = sheet.line_at(fits[0].start + len(there) - len(there.lstrip("\n")))
        said = f"{said} as sent; it would fit {_at(sheet, fits[0])} ({fits[0].what}), but {fits[0].doubt}"
    near = nearest(sheet, old, at)
    if near is None:
        return f"{said}, and nothing like it is in the file. Read the file again and copy the text from it."
    return f"{said}. {_shown(near)}"


def _shown(near: Nearest) -> str:
    where = _lines(near.first, near.last)
    if not near.differences:
        return f"The nearest is {where}: copy it with its line breaks."
    lines = [line for difference in near.differences for line in _difference(difference)]
    more = len(lines) - MAX_SHOWN
    rest = [f"… {more} more lines differ"] if more > 0 else []
    head = f"The nearest is {where}. What differs, as sent (-) and in the file (+):"
    return "\n".join([head, *lines[:MAX_SHOWN], *rest])


def _difference(difference: Difference) -> Iterator[str]:
    # What differs in white space or looks alone is spelt out.
    plain = [[" ".join(folded(line).split()) for line in lines] for lines in (difference.sent, difference.there)]
    spelt = plain[0] == plain[1]
    for line in difference.sent:
        yield f"- {_line(line, spelt=spelt)}"
    for number, line in enumerate(difference.there, difference.line):
        yield f"+ {number}: {_line(line, spelt=spelt)}"


def _line(line: str, *, spelt: bool) -> str:
    shown = ascii(line) if spelt else line
    return shown if len(shown) <= MAX_WIDTH else shown[: MAX_WIDTH - 1] + "…"


def _at(sheet: Sheet, fit: Fit) -> str:
    last = sheet.line_at(max(fit.start, fit.end - 1))
    return _lines(sheet.line_at(fit.start) + 1, last + 1)


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first >= last else f"lines {first}-{last}"


def _ways(fits: Sequence[Fit]) -> str:
    return "; ".join(dict.fromkeys(fit.what for fit in fits))
