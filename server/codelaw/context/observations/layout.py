"""The parts that every result's text is made of (C-7): a header of at most one line, and marked lines below it (R-5).

A line of foreign text begins with a space, or with a number and a tab. A line that begins otherwise is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from codelaw.context.escaping import escaped, one_name, quoted
from codelaw.context.tokens import estimate

HEADER = 40
"""Tokens of a header (C-7)."""
STDOUT = "stdout:"
STDERR = "stderr:"
REFUSED = "refused:"
DIAGNOSTICS = "diagnostics:"
DATA = "data:"
NOTE = "note:"
SKILLS = "skills:"
LABELS = frozenset({STDOUT, STDERR, REFUSED, DIAGNOSTICS, DATA, NOTE, SKILLS})
"""The lines of ours that a body may hold."""

_PLAIN = re.compile(r"[\w./@+~=*,-]+(?: \d+-\d+)?")
_ROOMS = (40, 20, 8, 0)
"""Characters of a target, the first that leaves the header short enough."""


@dataclass(frozen=True, slots=True)
class ResultLayout:
    """What a result says, laid out by the one who knows the tool."""

    target: str = ""
    """What the call was about: a path, a pattern, a command."""
    facts: tuple[str, ...] = ()
    """Few words each, for the header: how much it is, what was left out."""
    body: tuple[str, ...] = ()
    """Marked lines; a part may be several of them."""
    notes: tuple[str, ...] = ()
    """Sentences for the end of the body."""
    said: str = ""
    """A regular expression of those words of the envelope's `text` that are told already."""
    opening: str = DATA
    """The label of the body where something stands before it."""


def cleaned(value: Any, key: str = "") -> Any:
    """The JSON value with every string escaped (R-5). Line breaks are of one kind, but for the lines of a file."""
    if isinstance(value, str):
        return escaped(value if key == "content" else value.replace("\r\n", "\n"))
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {escaped(name): cleaned(item, name) for name, item in items}
    if isinstance(value, list):
        return [cleaned(item) for item in cast("list[Any]", value)]
    return value


def header(tool: str, status: str, reported: ResultLayout) -> str:
    """The first line, with as much of the target as `HEADER` tokens allow; then without the first facts."""
    facts = [fact for fact in reported.facts if fact]
    forms = [*((room, 0) for room in _ROOMS), *((0, gone) for gone in range(1, len(facts) + 1))]
    lines = (_header(tool, status, _target(reported.target, room), facts[gone:]) for room, gone in forms)
    short = (line for line in lines if estimate(line) <= HEADER)
    return next(short, None) or _header(tool[:HEADER], status[:HEADER], "", ())


def row(value: Any) -> str:
    """A value as one marked line."""
    return f" {one(value)}"


def block(text: str) -> str:
    """A text as marked lines; a final line break ends the last one and begins no other."""
    return " " + text.removesuffix("\n").replace("\n", "\n ")


def foreign(text: str) -> str:
    """A text as marked lines inside a tag of ours, so that none can be a label or close the tag (R-5)."""
    return quoted(block(escaped(text)))


def numbered(line: int, text: Any) -> str:
    """A line of a file."""
    return f"{line}\t{one(text)}"


def one(value: Any) -> str:
    """A value on one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.replace("\n", "\\u000a")


def grouped(places: Iterable[Mapping[str, Any]], text: str = "text") -> tuple[str, ...]:
    """Lines of files below the names of these; without such a name right away."""
    files: dict[Any, list[str]] = {}
    for place in places:
        files.setdefault(place.get("file"), []).append(numbered(place["line"], place.get(text, "")))
    return tuple(
        part for name, lines in files.items() for part in (*([] if name is None else [row(name)]), "\n".join(lines))
    )


def items(data: Mapping[str, Any], name: str) -> list[Any] | None:
    """A list of the data; None where there is none."""
    value = data.get(name)
    return cast("list[Any]", value) if isinstance(value, list) else None


def objects(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]] | None:
    """A list of objects; None where it is none."""
    found = items(data, name)
    if found is None or not all(isinstance(item, Mapping) for item in found):
        return None
    return cast("list[Mapping[str, Any]]", found)


def places(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]] | None:
    """A list of objects that each have a line's number; None where it is none."""
    found = objects(data, name)
    return found if found is not None and all(type(place.get("line")) is int for place in found) else None


def text(data: Mapping[str, Any], name: str) -> str:
    """A string of the data, or nothing."""
    value = data.get(name)
    return value if isinstance(value, str) else ""


def number(data: Mapping[str, Any], name: str) -> int | None:
    """A whole number of the data."""
    value = data.get(name)
    return value if type(value) is int else None


def flag(data: Mapping[str, Any], name: str, words: str, *, value: bool = True) -> str:
    """The words where the data has that flag so, else nothing."""
    return words if data.get(name) is value else ""


def counted(total: int | None, shown: int, what: str) -> str:
    """How many there are, and how many of them are shown where that is less."""
    count = shown if total is None else total
    reported = amount(count, what)
    return reported if shown >= count else f"{reported}, the first {shown} shown"


def amount(count: int, what: str) -> str:
    """So many of these, which are named in the plural."""
    return f"{count} {what}" if count != 1 else f"1 {'entry' if what == 'entries' else what.removesuffix('s')}"


def listed(values: Iterable[Any], most: int = 3) -> str:
    """The first of some values, and how many there are more."""
    every = [one(value) for value in values]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return f"{', '.join(every[:most])}{more}"


def _header(tool: str, status: str, target: str, facts: Iterable[str]) -> str:
    line = " ".join(filter(None, (tool, target)))
    line = line if status == "success" else f"{line}, {status}"
    rest = "; ".join(facts)
    return one_name(f"{line}: {rest}" if rest else line)


def _target(text: str, room: int) -> str:
    """A target in at most so many characters, of a path its end; in quotes that it cannot close."""
    text = " ".join(text.split())
    if len(text) > room:
        text = f"…{text[len(text) - room :]}" if _PLAIN.fullmatch(text) else f"{text[:room]}…"
    if room == 0 or not text:
        return ""
    return text if _PLAIN.fullmatch(text) else '"' + text.replace('"', "'") + '"'
