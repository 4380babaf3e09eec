"""The schema, step by step; each step taken is recorded in the database."""

from __future__ import annotations

import re
import sqlite3
import time
from functools import cache
from importlib.resources import files

from codelaw.adapters.stores.rows.database import Dialect
from codelaw.domain.errors import Refusal

APPLICATION_ID = 0x434C4157
"""SQLite's mark for whose file it is: `CLAW`."""

_RECORD = "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, at REAL NOT NULL)"


@cache
def migrations(dialect: Dialect = "sqlite") -> tuple[tuple[int, str, str], ...]:
    """Version, name and SQL of every step, oldest first; the first makes the whole schema.

    Both databases have the same versions and names.
    """
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
        Refusal: `store_unavailable`: the file is not ours, or was written by another version of codelaw.
        sqlite3.Error: as the database gives it.
    """
    steps = migrations()
    if refuse_foreign(connection) == steps[-1][0]:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = refuse_foreign(connection)  # another server may have been faster
        connection.execute(_RECORD)
        for number, name, script in steps:
            if number > version:
                for statement in statements(script):
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, time.time()))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {steps[-1][0]}")
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
        Refusal: `store_unavailable`: the file is not ours, or was written by another version of codelaw.
    """
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == APPLICATION_ID:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return supported(version, "let CODELAW_HOME point to another folder")
    if application or connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise Refusal("store_unavailable", "This database belongs to another program.", "Name another file.")
    return 0


def supported(version: int, instead: str) -> int:
    """A version that can be used, or brought up to date; `instead` says how to leave the database alone.

    Raises:
        Refusal: `store_unavailable`.
    """
    oldest, newest = migrations()[0][0], migrations()[-1][0]
    if version > newest:
        raise Refusal(
            "store_unavailable",
            f"This database was written by a newer codelaw (schema {version}, this one knows {newest}).",
            f"Update codelaw, or {instead}.",
        )
    if version < oldest:
        raise Refusal(
            "store_unavailable",
            f"This database was written by an older codelaw (schema {version}, the oldest this one reads is {oldest}).",
            "Export its chats with the checkout that wrote it (`codelaw chats` lists them, `codelaw chats --export ID"
            f" --format json` prints one), then {instead}.",
        )
    return version
