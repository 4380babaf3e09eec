"""Text as PostgreSQL takes it: a NUL and lone surrogates, which it refuses, are spelt by two characters (D-3).

The spelling is undone by the loader of the same connection, so that what is read equals what was written. All else is
stored as it is and can be searched with the database's own means.
"""

from __future__ import annotations

import re
from typing import Any

from psycopg import Connection
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format

_ESCAPE = "\x10"
"""DLE, the data link escape; itself written twice."""
_REFUSED = re.compile("[\0\x10\ud800-\udfff]")
_SPELT = re.compile("\x10([\x10\U000f0000-\U000f0800])")
_BASE = 0xF0000
"""In a private use area; the escape character stands before it, so that text from there keeps its meaning."""
_NUL = chr(_BASE + 0x800)
_SURROGATES = 0xD800


def spelt(text: str) -> str:
    """`text` without what PostgreSQL refuses."""
    return _REFUSED.sub(_spell, text)


def unspelt(text: str) -> str:
    """What `spelt` was given."""
    return _SPELT.sub(_read, text) if _ESCAPE in text else text


def speak(connection: Connection[Any]) -> None:
    """Let all text of the connection be spelt so, and a truth value be a number, as it is in SQLite."""
    connection.adapters.register_dumper(str, _TextDumper)
    connection.adapters.register_dumper(bool, _TruthDumper)
    for name in ("text", "varchar"):
        connection.adapters.register_loader(name, _TextLoader)


def _spell(match: re.Match[str]) -> str:
    character = match[0]
    if character == _ESCAPE:
        return _ESCAPE * 2
    return _ESCAPE + (_NUL if character == "\0" else chr(ord(character) - _SURROGATES + _BASE))


def _read(match: re.Match[str]) -> str:
    character = match[1]
    if character == _ESCAPE:
        return _ESCAPE
    return "\0" if character == _NUL else chr(ord(character) - _BASE + _SURROGATES)


class _TextDumper(Dumper):
    """Sent without a type, so that the database takes it as what stands at its place."""

    format = Format.TEXT

    def dump(self, obj: str) -> Buffer:
        return spelt(obj).encode()


class _TruthDumper(Dumper):
    format = Format.TEXT

    def dump(self, obj: bool) -> Buffer:  # noqa: FBT001 - the library's signature
        return b"1" if obj else b"0"


class _TextLoader(Loader):
    format = Format.TEXT

    def load(self, data: Buffer) -> str:
        return unspelt(str(data, "utf-8"))
