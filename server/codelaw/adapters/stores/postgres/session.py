"""A PostgreSQL connection as work in its thread sees it."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus

from codelaw.adapters.stores.rows.database import Dialect, Parameters

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
