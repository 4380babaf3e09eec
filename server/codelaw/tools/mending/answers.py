"""What is said of a text that was not found: what was made of it, or where it nearly stands (T-5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

from codelaw.tools.mending.fitting import Fit
from codelaw.tools.mending.indexed_lines import IndexedLines, folded

MAX_SHOWN = 12
"""Lines of a difference that are shown."""
MAX_WIDTH = 160
"""Characters of each."""
MAX_COMPARED = 400
"""Lines of a text that are compared one by one."""
MAX_CANDIDATES = 2_000
"""Lines of a file among which a similar one is looked for."""
MAX_SIMILAR = 500
"""Characters of a line up to which it can be similar to another."""
SIMILAR = 0.6
COMMON = 30
"""Lines of a file that hold the same, above which they say nothing about the place."""


def mended(file: IndexedLines, fit: Fit, label: str) -> str:
    """What the model is told of an edit that was mended."""
    return f"{label} is not in the file as sent. It fits {_at(file, fit)} alone and was replaced there: {fit.what}."


def refused(file: IndexedLines, old: str, fits: Sequence[Fit], label: str) -> str:
    """Why an edit was not made, and what to copy instead."""
    said = f"{label} was not found"
    if not file.text:
        return f"{said}. The file is empty: use Write."
    if len({(fit.start, fit.end) for fit in fits}) > 1:
        lines = ", ".join(str(file.line_at(fit.start) + 1) for fit in fits[:5])
        return f"{said} as sent; it nearly fits {len(fits)} places (lines {lines}): add lines until it is unique."
    if len(fits) > 1:
        ways = "; ".join(dict.fromkeys(fit.what for fit in fits))
        return f"{said} as sent; it fits {_at(file, fits[0])}, but can be read in {len(fits)} ways: {ways}."
    lines = old.strip("\n").split("\n")[:MAX_COMPARED]
    if not fits:
        first, room = _by_lines(file, lines), min(20, len(lines))
        if first is None:
            first, room = _by_likeness(file, lines), 0
        if first is None:
            return f"{said}, and nothing like it is in the file. Read the file again and copy the text from it."
        return f"{said}. {_nearest(file, lines, first, room)}"
    there = file.text[fits[0].start : fits[0].end]
    first = file.line_at(fits[0].start + len(there) - len(there.lstrip("\n")))
    said = f"{said} as sent; it would fit {_at(file, fits[0])} ({fits[0].what}), but {fits[0].doubt}"
    return f"{said}. {_nearest(file, lines, first, 0)}"


def _by_lines(file: IndexedLines, lines: Sequence[str]) -> int | None:
    """Where most of the lines stand, at the distances that they have; rare lines weigh more."""
    votes: Counter[int] = Counter()
    for index, line in enumerate(lines):
        numbers = file.numbers.get(line.strip(), ())
        if any(map(str.isalnum, line)) and len(numbers) <= COMMON:
            for number in numbers:
                votes[number - index] += 1_000 // len(numbers)
    return min(votes, key=lambda first: (-votes[first], first), default=None)


def _by_likeness(file: IndexedLines, lines: Sequence[str]) -> int | None:
    """Where a line stands that is like one of the longest."""
    candidates = list(dict.fromkeys(line for line in file.stripped if 0 < len(line) <= MAX_SIMILAR))[:MAX_CANDIDATES]
    for index in sorted(range(len(lines)), key=lambda index: -len(lines[index].strip()))[:2]:
        line = lines[index].strip()
        if 0 < len(line) <= MAX_SIMILAR and (close := get_close_matches(line, candidates, 1, SIMILAR)):
            return file.numbers[close[0]][0] - index
    return None


def _nearest(file: IndexedLines, lines: Sequence[str], first: int, room: int) -> str:
    """The lines of the file from about `first` on, and what differs; with `room` for lines that were left out."""
    begin, end = max(0, first - room), max(first, 0) + len(lines) + room
    window, keys = file.lines[begin:end], file.stripped[begin:end]
    codes = SequenceMatcher(None, [line.strip() for line in lines], keys, autojunk=False).get_opcodes()
    # What the file has before and behind is no difference, and a replacement takes no more of that than it has lines.
    if codes[0][0] == "insert":
        codes = codes[1:]
    if codes[-1][0] == "insert":
        codes = codes[:-1]
    if len(codes) > 1:
        tag, i1, i2, j1, j2 = codes[0]
        codes[0] = (tag, i1, i2, max(j1, j2 - (i2 - i1)), j2) if tag == "replace" else codes[0]
        tag, i1, i2, j1, j2 = codes[-1]
        codes[-1] = (tag, i1, i2, j1, min(j2, j1 + i2 - i1)) if tag == "replace" else codes[-1]
    shown: list[str] = []
    for tag, i1, i2, j1, j2 in codes:
        if tag != "equal":
            shown += _difference(lines[i1:i2], window[j1:j2], begin + j1 + 1)
            continue
        for sent, there, number in zip(lines[i1:i2], window[j1:j2], range(begin + j1 + 1, begin + j2 + 1), strict=True):
            shown += _difference([sent], [there], number) if sent != there else []
    where = _lines(begin + codes[0][3] + 1, begin + codes[-1][4])
    if not shown:
        return f"The nearest is {where}: copy it with its line breaks."
    more = [f"… {len(shown) - MAX_SHOWN} more lines differ"] if len(shown) > MAX_SHOWN else []
    head = f"The nearest is {where}. What differs, as sent (-) and in the file (+):"
    return "\n".join([head, *shown[:MAX_SHOWN], *more])


def _difference(sent: Sequence[str], there: Sequence[str], number: int) -> list[str]:
    """Lines as sent, and as the file has them; what differs in white space or looks alone is spelt out."""
    plain = [[" ".join(folded(line).split()) for line in lines] for lines in (sent, there)]
    lines = [("- ", line) for line in sent] + [(f"+ {at}: ", line) for at, line in enumerate(there, number)]
    spelt = [(mark, ascii(line) if plain[0] == plain[1] else line) for mark, line in lines]
    return [mark + (line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 1]}…") for mark, line in spelt]


def _at(file: IndexedLines, fit: Fit) -> str:
    return _lines(file.line_at(fit.start) + 1, file.line_at(max(fit.start, fit.end - 1)) + 1)


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first >= last else f"lines {first}-{last}"
