"""Which database a URL names, its schema, and what to say when it cannot be had; the password is never said (S-5)."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from codelaw.adapters.stores.migrations import migrations, supported
from codelaw.domain.errors import Refusal

SCHEMA = "codelaw"
"""Where our tables live, unless the URL's options set another search path."""

_SEARCH_PATH = re.compile(r"search_path\s*=\s*\"?([^\s,\"]+)")

_DEFAULTS = {
    "application_name": "codelaw",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Where the URL says nothing else. A host that is gone is noticed within seconds (the last is in milliseconds)."""

_PERCENT = "Write it as postgresql://user:password@host:5432/database, special characters percent-encoded (@ as %40)."

_NO_MORE = "the server has no connection left"
_STARTING = "the server is starting or stopping"
_NOT_REACHED = "the server cannot be reached"
_SAID: tuple[tuple[str, str, str], ...] = (
    (
        r"password authentication failed|no password supplied|role \".*\" does not exist|authentication failed",
        "the server does not accept this user and password",
        "Check both in store.url; a password may also stand in PGPASSWORD or ~/.pgpass.",
    ),
    (
        r"database \".*\" does not exist",
        "the server has no such database",
        "Create it with `createdb`, or name another one in store.url.",
    ),
    (
        r"no pg_hba.conf entry",
        "the server lets this user and computer not in",
        "Ask its administrator for a line in pg_hba.conf.",
    ),
    (
        r"SSL|certificate",
        "no secure connection could be made",
        "Check sslmode and sslrootcert in store.url.",
    ),
    (
        r"too many clients|too many connections|connection slots",
        _NO_MORE,
        "Try again in a moment, or raise max_connections.",
    ),
    (
        r"starting up|shutting down|recovery mode|not yet accepting",
        _STARTING,
        "Try again in a moment.",
    ),
    (
        r"refused|No such file|timeout|timed out|resolve host|translate host|[Nn]o route|unreachable",
        _NOT_REACHED,
        "Check host and port in store.url, the network, and that PostgreSQL runs there.",
    ),
)
_CONNECT_HINT = "Check host, port, user, password and database in store.url, and that PostgreSQL runs there."

_LOST = ("the connection was lost", "Nothing that was saved before is lost; the next call connects again.")

_STATES: dict[str, tuple[str, str]] = {
    "08": _LOST,
    "25006": ("the database can only be read", "Let store.url name the primary server, not a standby."),
    "25P03": ("a transaction took too long and was given up", "Nothing of it was saved; try again."),
    "40": ("other servers wrote the same at the same time", "Try again in a moment."),
    "42501": (
        "this user may not do that",
        "Let the whole team use one user of the database, or GRANT this one all rights on the schema and its tables.",
    ),
    "53100": ("the disk of the server is full", "Free some space there; nothing that was saved is lost."),
    "53": ("the server has not enough resources", "Try again in a moment; nothing that was saved is lost."),
    "54": ("a text is too big for the database", "Send less text at once."),
    "55P03": ("another server holds this chat", "Try again in a moment."),
    "57": _LOST,
    "57014": ("the server broke the work off", "Nothing of it was saved; try again."),
    "58": ("the server had an error of its system", "Look into its log; nothing that was saved before is touched."),
    "XX": ("the database is damaged, or its server has a fault", "Look into the log of the PostgreSQL server."),
}
"""By SQLSTATE, or by its class. What is not here is a mistake of ours."""


@dataclass(frozen=True, slots=True)
class DatabasePlace:
    """A database that a URL names."""

    parameters: dict[str, Any] = field(repr=False)
    """For libpq; with the password, if the URL has one."""
    schema: str
    shown: str
    """For messages: host, port and database."""

    def conninfo(self, seconds: float) -> str:
        """What libpq is told, to try each address for so long."""
        return make_conninfo("", **{**self.parameters, "connect_timeout": int(seconds), "client_encoding": "utf8"})


def place_of(url: str) -> DatabasePlace:
    """What the URL names.

    Raises:
        Refusal: `store_unavailable`: it cannot be read. libpq's own words are not told: they may hold the password.
    """
    try:
        parameters: dict[str, Any] = dict(conninfo_to_dict(url))
    except psycopg.Error:
        raise _unreadable() from None
    host, port, database = (str(parameters.get(name) or "") for name in ("host", "port", "dbname"))
    if "@" in host + database or re.search(r"[^0-9,]", port):  # the rest of a password with a bare @, : or / in it
        raise _unreadable()
    found = _SEARCH_PATH.search(str(parameters.get("options") or ""))
    shown = f"postgresql://{host}{port and ':'}{port}/{database}"
    return DatabasePlace({**_DEFAULTS, **parameters}, found[1] if found else SCHEMA, shown)


def is_crowded(refusal: Refusal) -> bool:
    """Whether the server refused a connection because it has too many."""
    return _NO_MORE in refusal.message


def is_starting(refusal: Refusal) -> bool:
    """Whether the server refused a connection because it starts or stops, which takes it a moment."""
    return _STARTING in refusal.message


def is_between(refusal: Refusal) -> bool:
    """Whether that may be said by a server that has stopped and will start, too."""
    return is_starting(refusal) or _NOT_REACHED in refusal.message


def is_lost(connection: Connection[Any], error: psycopg.Error) -> bool:
    """Whether the connection is of no use any more."""
    return connection.closed or (error.sqlstate or "").startswith(("08", "57P", "25P03"))


def refused_connection(place: DatabasePlace, error: Exception) -> Refusal:
    """Why there is no connection: libpq gives words only, no code."""
    said = _first_line(place, str(error))
    for pattern, reason, hint in _SAID:
        if re.search(pattern, said):
            return Refusal("store_unavailable", f"{place.shown}: {reason} ({said}).", hint)
    return Refusal("store_unavailable", f"{place.shown}: there is no connection ({said}).", _CONNECT_HINT)


def refused_statement(place: DatabasePlace, error: psycopg.Error) -> Exception:
    """What to say of a statement that failed; of a mistake of ours the error without the rows it is about (S-5)."""
    state = error.sqlstate or ("08" if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) else "")
    advice = _STATES.get(state) or _STATES.get(state[:2])
    if advice is None:
        return type(error)(error.diag.message_primary or type(error).__name__)
    reason, hint = advice
    said = _first_line(place, error.diag.message_primary or str(error))
    return Refusal("store_unavailable", f"{place.shown}: {reason} ({said}).", hint)


def _unreadable() -> Refusal:
    return Refusal("store_unavailable", "store.url is not a valid PostgreSQL URL.", _PERCENT)


def _first_line(place: DatabasePlace, said: str) -> str:
    line = said.strip().splitlines()[0].rstrip(".") if said.strip() else "no reason given"
    secret = str(place.parameters.get("password") or "")
    return (line.replace(secret, "***") if len(secret) > 2 else line)[:300]


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
