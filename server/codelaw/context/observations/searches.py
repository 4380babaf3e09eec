"""What reads and searches as text: Read, Glob, LS, Grep, the editor's services and the index (X-5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from codelaw.context.observations.layout import (
    SKILLS,
    ResultLayout,
    amount,
    block,
    counted,
    flag,
    grouped,
    items,
    listed,
    number,
    numbered,
    objects,
    one,
    places,
    row,
    text,
)
from codelaw.context.observations.layout import number as number_of

_NUMBER = re.compile(r" *(?=\d+\t)")
_NUMBERED = re.compile(r"\d+\t[^\n]*(?:\n\d+\t[^\n]*)*")


def read(data: Mapping[str, Any]) -> ResultLayout | None:
    """The lines as the file has them, each behind its number and a tab."""
    content = data.get("content")
    if not isinstance(content, str):
        return None
    path = text(data, "path")
    first, last, total = (number(data, name) for name in ("start_line", "end_line", "total_lines"))
    cut, note = items(data, "cut_lines"), text(data, "note")
    facts = (
        _extent(first, last, total),
        f"go on with start_line {last + 1}" if last is not None and total is not None and last < total else "",
        f"cut lines: {listed(cut)}" if cut else "",
        flag(data, "replaced", "bytes that are not UTF-8 are U+FFFD"),
        flag(data, "unsaved", "not saved yet"),
    )
    name = re.escape(path)
    said = (
        rf"(?:Lines \S+ of \d+ of {name}\.|{name} is empty\.)(?: Go on with start_line \d+\.)?"
        r"(?: Lines over \d+ characters are cut\.)?(?: Bytes that are not UTF-8 stand as U\+FFFD\.)?"
        rf"(?: ?{re.escape(note)})?"
    )
    body = (_lines(content),) if content else ()
    return ResultLayout(path, facts, body, (one(note),) if note else (), said)


def glob(data: Mapping[str, Any]) -> ResultLayout | None:
    """The files, one a line."""
    pattern, reason = text(data, "pattern"), text(data, "reason")
    said = rf"\d+ files match {re.escape(pattern)}(?: \({re.escape(reason)}\))?"
    return _names(data, "files", pattern, said, (_below(data), one(reason)))


def listing(data: Mapping[str, Any]) -> ResultLayout | None:
    """The entries of a folder, one a line."""
    path = text(data, "path")
    return _names(data, "entries", path, rf"\d+ entries in {re.escape(path)}(?:, the first \d+ shown)?")


def _names(
    data: Mapping[str, Any], what: str, target: str, said: str, more: tuple[str, ...] = ()
) -> ResultLayout | None:
    found = items(data, what)
    if found is None:
        return None
    facts = (counted(number(data, "total"), len(found), what), *more)
    return ResultLayout(target, facts, tuple(map(row, found)), (), said)


def _extent(first: int | None, last: int | None, total: int | None) -> str:
    if total == 0:
        return "empty"
    if first is None or last is None:
        return ""
    return amount(total or 0, "lines") if (first, last) == (1, total) else f"lines {first}-{last} of {total}"


def _lines(content: str) -> str:
    """Lines with their numbers, however these were padded; what has none is marked by a space."""
    if _NUMBERED.fullmatch(content):
        return content
    lines = (
        line[found.end() :] if (found := _NUMBER.match(line)) is not None else f" {line}"
        for line in content.split("\n")
    )
    return "\n".join(lines)


def _below(data: Mapping[str, Any]) -> str:
    path = text(data, "path")
    return "" if path in {"", "."} else f"in {one(path)}"


def grep(data: Mapping[str, Any]) -> ResultLayout | None:
    """The matching lines below their files."""
    matches = places(data, "matches")
    if matches is None:
        return None
    reason, files, buffers = text(data, "reason"), number(data, "files"), items(data, "buffers")
    facts = (
        counted(number(data, "total"), len(matches), "lines"),
        "" if files is None else f"in {amount(files, 'files')}",
        one(reason),
        f"as open in the editor: {listed(buffers, 1)}" if buffers else "",
        flag(data, "fallback", "without rg"),
    )
    said = rf"\d+ matching lines in \d+ files(?: \({re.escape(reason)}\))?"
    return ResultLayout(text(data, "pattern"), facts, grouped(matches), _withheld(data), said)


def symbols(data: Mapping[str, Any]) -> ResultLayout | None:
    """Definitions and references below their files."""
    found = places(data, "places")
    if found is None:
        return None
    symbol = text(data, "symbol")
    said = rf"\d+ \w+ of {re.escape(symbol)}(?:, the first \d+ shown)?\."
    facts = (counted(number(data, "total"), len(found), "places"),)
    return ResultLayout(symbol, facts, grouped(found), _withheld(data), said)


def diagnostics(data: Mapping[str, Any]) -> ResultLayout | None:
    """What is found wrong, below its files."""
    found = places(data, "diagnostics")
    if found is None:
        return None
    errors = number(data, "errors")
    facts = (
        counted(number(data, "total"), len(found), "diagnostics"),
        "" if errors is None else amount(errors, "errors"),
        flag(data, "unversioned", "of which text is not known"),
    )
    said = r"\d+ diagnostics, \d+ of them errors\.|Nothing is found wrong\."
    return ResultLayout(text(data, "path"), facts, findings(found), _withheld(data), said)


def tools(data: Mapping[str, Any]) -> ResultLayout | None:
    """Found tools by their manuals, or by their names where these were cut; found skills below them (X-11)."""
    found, skills = objects(data, "tools"), objects(data, "skills") or []
    if found is None:
        return None
    total = number(data, "total")
    fact = f"{len(found)} of {total} tools" if total is not None else amount(len(found), "tools")
    manuals = [block(text(entry, "manual") or one(entry.get("name", ""))) for entry in found]
    lines = [row(": ".join(filter(None, (one(entry.get("name", "")), text(entry, "description"))))) for entry in skills]
    said = r"\d+ tools and \d+ skills found\."
    return ResultLayout(text(data, "query"), (fact,), (*manuals, *([SKILLS, *lines] if lines else [])), said=said)


def findings(found: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Diagnostics as lines: severity, message, and who says so."""
    return grouped({**entry, "text": _finding(entry)} for entry in found)


def _finding(entry: Mapping[str, Any]) -> str:
    source = " ".join(one(entry[name]) for name in ("source", "code") if name in entry)
    words = f"{one(entry.get('severity', 'error'))}: {one(entry.get('message', ''))}"
    return f"{words} ({source})" if source else words


def _withheld(data: Mapping[str, Any]) -> tuple[str, ...]:
    withheld = text(data, "withheld")
    return (one(withheld),) if withheld else ()


def found_code(data: Mapping[str, Any]) -> ResultLayout | None:
    """Each place with its range, what it is, why it was found, and its first lines."""
    found = places(data, "places")
    if found is None:
        return None
    note = text(data, "note")
    said = r"(?:\d+ places?\.|Nothing like it: try other words, or Grep\.)" + (f" {re.escape(note)}" if note else "")
    facts = (counted(number_of(data, "total"), len(found), "places"),)
    return ResultLayout(text(data, "query"), facts, tuple(_found(found)), (one(note),) if note else (), said)


def outline(data: Mapping[str, Any]) -> ResultLayout | None:
    """The symbols below their files, inner ones indented."""
    symbols = places(data, "symbols")
    if symbols is None:
        return None
    total = number_of(data, "total")
    several = len({symbol.get("file") for symbol in symbols}) > 1
    files = amount(total or 0, "files") if several else ""
    facts = (amount(len(symbols), "symbols"), files, flag(data, "truncated", "more left out"))
    said = r"\d+ (?:symbols|files that define something)(?:, the first \d+ symbols shown)?\."
    return ResultLayout(text(data, "path"), facts, tuple(_outlined(symbols)), (), said)


def _found(found: list[Mapping[str, Any]]) -> Iterator[str]:
    for place in found:
        what = " ".join(one(place[name]) for name in ("kind", "symbol") if place.get(name))
        why = f" ({one(place['why'])})" if place.get("why") else ""
        yield row(f"{one(place.get('file', ''))} {_range(place)} {what}{why}")
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
        yield numbered(symbol["line"], f"{indent}{name}, lines {_range(symbol)}")


def _range(place: Mapping[str, Any]) -> str:
    end = number_of(place, "end_line")
    return str(place["line"]) if end is None or end <= place["line"] else f"{place['line']}-{end}"
