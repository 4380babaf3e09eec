"""Read, Glob and LS as text: numbered lines, and one name a line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codelaw.context.observations.layout import Told, amount, counted, items, listed, number, one, row, text

_NUMBER = re.compile(r" *(?=\d+\t)")
_NUMBERED = re.compile(r"\d+\t[^\n]*(?:\n\d+\t[^\n]*)*")


def read(data: Mapping[str, Any]) -> Told | None:
    """The lines as the file has them, each behind its number and a tab."""
    content = data.get("content")
    if not isinstance(content, str):
        return None
    path = text(data, "path")
    first, last, total = (number(data, name) for name in ("start_line", "end_line", "total_lines"))
    facts = [_extent(first, last, total)]
    if last is not None and total is not None and last < total:
        facts.append(f"go on with start_line {last + 1}")
    cut = items(data, "cut_lines")
    if cut:
        facts.append(f"cut lines: {listed(cut)}")
    if data.get("replaced") is True:
        facts.append("bytes that are not UTF-8 are U+FFFD")
    if data.get("unsaved") is True:
        facts.append("not saved yet")
    note = text(data, "note")
    name = re.escape(path)
    said = (
        rf"(?:Lines \S+ of \d+ of {name}\.|{name} is empty\.)(?: Go on with start_line \d+\.)?"
        r"(?: Lines over \d+ characters are cut\.)?(?: Bytes that are not UTF-8 stand as U\+FFFD\.)?"
        rf"(?: ?{re.escape(note)})?"
    )
    body = (_lines(content),) if content else ()
    return Told(path, tuple(facts), body, (one(note),) if note else (), said)


def glob(data: Mapping[str, Any]) -> Told | None:
    """The files, one a line."""
    files = items(data, "files")
    if files is None:
        return None
    pattern, reason = text(data, "pattern"), text(data, "reason")
    facts = (counted(number(data, "total"), len(files), "files"), _below(data), one(reason))
    said = rf"\d+ files match {re.escape(pattern)}(?: \({re.escape(reason)}\))?"
    return Told(pattern, facts, tuple(map(row, files)), (), said)


def listing(data: Mapping[str, Any]) -> Told | None:
    """The entries of a folder, one a line."""
    entries = items(data, "entries")
    if entries is None:
        return None
    path = text(data, "path")
    said = rf"\d+ entries in {re.escape(path)}(?:, the first \d+ shown)?"
    return Told(path, (counted(number(data, "total"), len(entries), "entries"),), tuple(map(row, entries)), (), said)


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
