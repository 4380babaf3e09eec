"""A SQLite connection as work in its thread sees it."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from codelaw.adapters.stores.rows import search_rows
from codelaw.adapters.stores.rows.codec import legible, storable, text_or_bytes
from codelaw.adapters.stores.rows.database import Dialect, Parameters


class SqliteSession:
    """Statements, in transactions."""

    dialect: Dialect = "sqlite"
    row_lock = ""  # to write locks the whole file

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Run one statement; text that is not valid Unicode is bound as bytes."""
        try:
            return self._connection.execute(sql, parameters)
        except UnicodeEncodeError:
            return self._connection.execute(sql, _storable(parameters))

    def execute_many(self, sql: str, rows: list[Parameters]) -> None:
        for row in rows:
            self.execute(sql, row)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Generator[None]:
        """All or nothing. To write takes the lock at once, so that what is read inside stays true."""
        self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def let_read(connection: sqlite3.Connection) -> None:
    """What every connection needs to read our rows."""
    connection.text_factory = text_or_bytes
    connection.create_function("holds", 2, _holds, deterministic=True)
    connection.create_function("of_chat", 1, search_rows.of_chat, deterministic=True)


def _holds(text: str | bytes, folded: str | bytes) -> bool:
    """The SQL function `holds`: LIKE knows only the case of ASCII and stops at a NUL.

    It is given BLOBs, because a TEXT that is torn cannot be handed to a function.
    """
    return legible(folded) in legible(text).casefold()


def _storable(parameters: Parameters) -> Parameters:
    return tuple(storable(value) if isinstance(value, str) else value for value in parameters)
