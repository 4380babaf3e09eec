"""The schema in PostgreSQL, step by step: the same steps as in SQLite, in this database's own words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import Connection, sql

from codelaw.adapters.stores.migrations import migrations, supported
from codelaw.domain.errors import Refusal

_LOCK = 0x434C4157
"""`CLAW`: the advisory lock under which a database is migrated, whichever of its schemas."""
_WAIT = "60s"
"""For another server that migrates just now."""


def migrate(connection: Connection[Any], schema: str) -> None:
    """Take the steps that are missing, all or none; a server that does so at the same time is waited for.

    Raises:
        Refusal: `store_unavailable`: foreign, of another version, or an administrator has to add something.
        psycopg.Error: as the database gives it.
    """
    steps = migrations("postgresql")
    if _version(connection, schema, steps) == steps[-1][0]:
        return
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{_WAIT}'".encode())
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        version = _version(connection, schema, steps)  # another server may have been faster
        _make_room(connection, schema)
        _add_vectors(connection)
        use(connection, schema)
        for number, name, script in steps:
            if number > version:
                connection.execute(script.encode())
                connection.execute("INSERT INTO migrations VALUES (%s, %s, %s)", (number, name, time.time()))


def use(connection: Connection[Any], schema: str) -> None:
    """Let names mean what lies in our schema, or in the one where pgvector was put."""
    found = connection.execute(
        "SELECT nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
    ).fetchone()
    names = dict.fromkeys((schema, found[0] if found else "public", "public"))
    path = sql.SQL(", ").join(sql.Identifier(name) for name in names)
    connection.execute(sql.SQL("SET search_path TO {}").format(path))


def _version(connection: Connection[Any], schema: str, steps: Sequence[tuple[int, str, str]]) -> int:
    """The version of the schema; 0 where it is missing or empty."""
    tables = connection.execute(
        "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = %s"
        " AND relkind IN ('r', 'p', 'v', 'm', 'f')",
        (schema,),
    ).fetchall()
    if not tables:
        return 0
    if ("migrations",) not in tables:
        raise _foreign(schema)
    table = sql.Identifier(schema, "migrations")
    try:
        recorded = connection.execute(sql.SQL("SELECT version, name FROM {} ORDER BY version").format(table)).fetchall()
    except psycopg.errors.UndefinedColumn:
        raise _foreign(schema) from None
    known = {1: "chats", **{number: name for number, name, _ in steps}}  # 1: the first step of older checkouts
    if not recorded or any(known.get(number, name) != name for number, name in recorded):
        raise _foreign(schema)
    return supported(recorded[-1][0], "let store.url name another database")


def _foreign(schema: str) -> Refusal:
    hint = "Name another database, or another schema by ?options=-csearch_path%3Dname in store.url."
    return Refusal("store_unavailable", f"The schema {schema!r} belongs to another program.", hint)


def _make_room(connection: Connection[Any], schema: str) -> None:
    if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is not None:
        return
    try:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    except psycopg.errors.InsufficientPrivilege:
        raise Refusal(
            "store_unavailable",
            f"The schema {schema!r} is missing, and this user may not create it.",
            f"Let the owner of the database run: CREATE SCHEMA {schema} AUTHORIZATION user",
        ) from None


def _add_vectors(connection: Connection[Any]) -> None:
    if connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone() is not None:
        return
    try:
        connection.execute("CREATE EXTENSION vector WITH SCHEMA public")
    except psycopg.errors.InsufficientPrivilege:
        raise Refusal(
            "store_unavailable",
            "The extension pgvector is not switched on in this database, and this user may not do it.",
            "Let an administrator of the database run once: CREATE EXTENSION vector",
        ) from None
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile):
        raise Refusal(
            "store_unavailable",
            "The extension pgvector is not installed on the database server.",
            "Install it there (Debian: postgresql-NN-pgvector), then open the store again.",
        ) from None
