"""Checksums of rows: a byte that the disk has altered is noticed when the row is read (D-1).

A checksum covers what is immutable in a row, and the chat that the row belongs to. It is a CRC-32, which finds every
altered byte and all but one in four billion of larger damages. The chat's part is joined by an exclusive or, so that
the checksum of a copy in another chat can be made in SQL, without reading the rows (`moved`).
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from typing import Any

from codelaw.adapters.stores.rows.codec import Unreadable


def checksum(owner: Any, *fields: Any) -> int:
    """The checksum of fields as they are written or read, in a chat (or wherever else the row belongs)."""
    parts = [field if type(field) is str else _text(field) for field in fields]
    try:
        written = "\0".join(parts).encode()
    except (TypeError, UnicodeEncodeError):  # bytes, or half a character, which is stored as bytes
        written = b"\0".join(map(_bytes, parts))
    return zlib.crc32(written) ^ _of_owner(owner)


def verify(stored: Any, owner: Any, *fields: Any) -> None:
    """Nothing, where the fields are as they were written.

    Raises:
        Unreadable: they were altered since.
    """
    if stored != checksum(owner, *fields):
        raise Unreadable("altered since it was written")


def moved(column: str, old: str, new: str) -> tuple[str, tuple[int, int]]:
    """SQL for the checksum in `column` of a row that is copied from the chat `old` into `new`, and its parameters."""
    change = _of_owner(old) ^ _of_owner(new)
    # An exclusive or: the databases spell theirs differently, if they have one. Who is asked from afar wants a type.
    return f"({column} | CAST(? AS BIGINT)) - ({column} & CAST(? AS BIGINT))", (change, change)


@lru_cache(256)
def _of_owner(owner: Any) -> int:
    return zlib.crc32(_bytes(_text(owner)))


def _text(value: Any) -> Any:
    """Text or bytes of a field; a whole number as a real, which a column of reals makes of it."""
    if value is None or type(value) in (str, bytes):
        return value or ""
    return repr(float(value))


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
