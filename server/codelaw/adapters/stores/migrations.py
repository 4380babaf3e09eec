"""The schema, step by step; each step taken is recorded in the database."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files

from codelaw.adapters.stores.rows.database import Dialect
from codelaw.domain.errors import Refusal

APPLICATION_ID = 0x434C4157
"""SQLite's mark for whose file it is: `CLAW`."""

_RECORD = "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, at REAL NOT NULL)"


@cache
def migrations(dialect: Dialect = "sqlite") -> tuple[tuple[int, str, str], ...]:
    """Version, name and SQL of every step, oldest first. Both databases have the same versions and names."""
    folder = files("codelaw.adapters.stores") / "schema"
    found = sorted(
        (int(match[1]), match[2], file.read_text("utf-8"))
        for file in (folder if dialect == "sqlite" else folder / dialect).iterdir()
        if (match := re.fullmatch(r"(\d{4})_(\w+)\.sql", file.name))
    )
    return tuple(found)


def migrate(connection: sqlite3.Connection) -> None:
    """Take the steps that are missing, all or none. The connection must not be in a transaction.

    Raises:
        Refusal: `store_unavailable`: the file is not ours, or was written by a newer codelaw.
        sqlite3.Error: as the database gives it.
    """
    steps = migrations()
    if refuse_foreign(connection) == steps[-1][0]:
        return
    with _all_or_nothing(connection):
        version = refuse_foreign(connection)  # another server may have been faster
        connection.execute(_RECORD)
        for number, name, script in steps:
            if number > version:
                for statement in statements(script):
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, time.time()))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {steps[-1][0]}")


def make_index_anew(connection: sqlite3.Connection) -> None:
    """Take the step once more that made the index of the search: all that was said waits for it again.

    Raises:
        sqlite3.Error: as the database gives it; nothing is changed then.
    """
    script = next(script for _, name, script in migrations() if name == "search")
    with _all_or_nothing(connection):
        connection.execute("DROP TRIGGER IF EXISTS messages_said")
        for table in ("message_vocabulary", "message_grams", "search_waiting", "search_backlog"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in statements(script):
            connection.execute(statement)


@contextmanager
def _all_or_nothing(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@cache
def statements(script: str) -> tuple[str, ...]:
    """The statements of a script one by one: `executescript` would commit in between."""
    found: list[str] = []
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            found.append(statement)
            statement = ""
    return tuple(found)


def refuse_foreign(connection: sqlite3.Connection) -> int:
    """The version of the database, 0 for an empty one; it is only read.

    Raises:
        Refusal: `store_unavailable`: the file is not ours, or was written by a newer codelaw.
    """
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    newest = migrations()[-1][0]
    if application != APPLICATION_ID:
        if application or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise Refusal("store_unavailable", "This database belongs to another program.", "Name another file.")
        return 0
    if version > newest:
        raise Refusal(
            "store_unavailable",
            f"This database was written by a newer codelaw (schema {version}, this one knows {newest}).",
            "Update codelaw, or let CODELAW_HOME point to another folder.",
        )
    return version
