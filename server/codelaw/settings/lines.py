"""Where a key stands in a TOML file: the library tells the line of an error, and not that of a value."""

from __future__ import annotations

import re

_KEY = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_HEADER = re.compile(rf"\s*\[\[?\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]")
_VALUE = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=")
_PART = re.compile(_KEY)
_QUOTES = ('"""', "'''")
"""Around texts of several lines, which may hold what looks like a key."""


def line_of(text: str, path: tuple[str, ...], value: object = None) -> int | None:
    """The line, from 1, of the key `path`, or of what stands nearest above it; None where nothing of it does.

    With a text as `value`, the first line from there on that holds it.
    """
    lines, table, quote = text.splitlines(), (), ""
    found, depth = None, 0
    for number, line in enumerate(lines, 1):
        if not quote and (match := _HEADER.match(line) or _VALUE.match(line)):
            keys = tuple(part.strip("\"'") for part in _PART.findall(match[1]))
            if match.re is _HEADER:
                table = keys
            else:
                keys = table + keys
            shared = next((at for at, pair in enumerate(zip(keys, path, strict=False)) if pair[0] != pair[1]), None)
            shared = min(len(keys), len(path)) if shared is None else shared
            if shared > depth:
                found, depth = number, shared
        opened = quote or next((one for one in _QUOTES if one in line), "")
        if opened and line.count(opened) % 2:
            quote = "" if quote else opened
    if found is not None and isinstance(value, str) and value:
        found = next((number for number, line in enumerate(lines[found - 1 :], found) if value in line), found)
    return found
