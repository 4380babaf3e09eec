"""What the index finds and what files define, as text: lines of files, grouped by file (X-5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from codelaw.context.observations.layout import Told, amount, counted, numbered, one, places, row, text
from codelaw.context.observations.layout import number as number_of


def found_code(data: Mapping[str, Any]) -> Told | None:
    """Each place with its range, what it is, why it was found, and its first lines."""
    found = places(data, "places")
    if found is None:
        return None
    note = text(data, "note")
    said = r"(?:\d+ places?\.|Nothing like it: try other words, or Grep\.)" + (f" {re.escape(note)}" if note else "")
    facts = (counted(number_of(data, "total"), len(found), "places"),)
    return Told(text(data, "query"), facts, tuple(_found(found)), (one(note),) if note else (), said)


def outline(data: Mapping[str, Any]) -> Told | None:
    """The symbols below their files, inner ones indented."""
    symbols = places(data, "symbols")
    if symbols is None:
        return None
    total = number_of(data, "total")
    several = len({symbol.get("file") for symbol in symbols}) > 1
    facts = [amount(len(symbols), "symbols"), amount(total or 0, "files") if several else ""]
    if data.get("truncated") is True:
        facts.append("more left out")
    said = r"\d+ (?:symbols|files that define something)(?:, the first \d+ symbols shown)?\."
    return Told(text(data, "path"), tuple(facts), tuple(_outlined(symbols)), (), said)


def _found(found: list[Mapping[str, Any]]) -> Iterator[str]:
    for place in found:
        what = " ".join(one(place[name]) for name in ("kind", "symbol") if place.get(name))
        why = f" ({one(place['why'])})" if place.get("why") else ""
        yield row(f"{one(place.get('file', ''))} {_lines(place)} {what}{why}")
        lines = place.get("lines")
        if isinstance(lines, list) and lines:
            yield "\n".join(numbered(place["line"] + at, line) for at, line in enumerate(cast("list[Any]", lines)))


def _outlined(symbols: list[Mapping[str, Any]]) -> Iterator[str]:
    file: object = None
    for symbol in symbols:
        if symbol.get("file") != file:
            file = symbol.get("file")
            yield row(file)
        level = symbol.get("level")
        indent = "  " * level if type(level) is int and 0 < level < 20 else ""
        name = f"{one(symbol.get('kind', ''))} {one(symbol.get('name', ''))}"
        yield numbered(symbol["line"], f"{indent}{name}, lines {_lines(symbol)}")


def _lines(place: Mapping[str, Any]) -> str:
    end = number_of(place, "end_line")
    return str(place["line"]) if end is None or end <= place["line"] else f"{place['line']}-{end}"
