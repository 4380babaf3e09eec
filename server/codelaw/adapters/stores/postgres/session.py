"""A PostgreSQL connection as work in its thread sees it, and text as the database takes it (D-3).

A NUL and lone surrogates, which it refuses, are spelt by two characters. The loader of the same connection undoes the
spelling, so that what is read equals what was written. All else is stored as it is.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from psycopg import Connection, Cursor
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format, TransactionStatus

from codelaw.adapters.stores.rows.database import Dialect, Parameters

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


_MARKS = re.compile(r"'(?:[^']|'')*'|\?|%")


class PostgresSession:
    """Statements with `?`, in transactions.

    A transaction that writes is READ COMMITTED: each statement sees what was committed before it. What is read of a
    chat stays true all the same, because everybody who writes to a chat locks its row first (`row_lock`), so that
    writers of one chat wait for each other and writers of different chats do not. SERIALIZABLE would need no lock, and
    would undo and repeat most work of servers that write at once, as small tables are locked whole.
    """

    dialect: Dialect = "postgresql"

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self.row_lock = ""

    def execute(self, sql: str, parameters: Parameters = ()) -> Cursor[Any]:
        return self._connection.execute(translated(sql), parameters)

    def execute_many(self, sql: str, rows: list[Parameters]) -> None:
        if rows:
            with self._connection.cursor() as cursor:
                cursor.executemany(translated(sql), rows)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Generator[None]:
        """All or nothing; one that only reads sees one moment."""
        self._connection.execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        )
        self.row_lock = " FOR NO KEY UPDATE" if write else ""
        try:
            yield
            self._commit()
        except BaseException:
            if self._connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self.row_lock = ""

    def _commit(self) -> None:
        # After a statement that failed COMMIT means ROLLBACK, and says so nowhere else.
        if self._connection.execute("COMMIT").statusmessage != "COMMIT":
            raise RuntimeError("a statement had failed, and its transaction was to be committed")


@lru_cache(512)
def translated(sql: str) -> bytes:
    """`?` outside of quotes as psycopg writes it."""
    return _MARKS.sub(_mark, sql).encode()


def _mark(match: re.Match[str]) -> str:
    return "%s" if match[0] == "?" else match[0].replace("%", "%%")
