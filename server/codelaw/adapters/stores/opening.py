"""Opening the database that the settings name (D-1, D-3)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote

from codelaw.adapters.extras import adding
from codelaw.adapters.stores.chats import SqlChats
from codelaw.adapters.stores.index import SqlIndex
from codelaw.adapters.stores.memories import SqlMemories
from codelaw.adapters.stores.sqlite.connection import SqliteDatabase
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.ports.store import Stores


class SqliteStore(SqlChats):
    """Chats in one SQLite file, which several servers may share (D-1, D-4); locks live in `owners/` beside it."""

    @classmethod
    async def open(
        cls, path: Path, *, chosen: bool = False, report: Callable[[Notice], None] | None = None
    ) -> SqliteStore:
        """The store in the file at `path`, created with its folder if need be; a damaged file is set aside.

        One that cannot be written is read all the same: it refuses only what writes, and a notice says so.

        `chosen`: a setting named the file; then it is set aside only if it says itself that it is one of ours. `report`
        is called with what the user should know of it afterwards.

        Raises:
            Refusal: `store_unavailable`: not readable, foreign or of another version, or damaged while another codelaw
                has it open. The file is left as it is.
        """
        database = SqliteDatabase(path, chosen=chosen, report=report)
        await database.open()
        store = cls(database)
        store.notices = database.notices
        return store


class PostgresStore(SqlChats):
    """Chats in the schema `codelaw` of the PostgreSQL database that a URL names, with pgvector (D-3, D-4)."""

    @classmethod
    async def open(cls, url: str, report: Callable[[Notice], None] | None = None) -> PostgresStore:
        """The store at `url`, its tables created if need be; `report` as for `SqliteStore`.

        Raises:
            Refusal: `store_unavailable`: not reachable, not allowed, foreign, of another version, or without pgvector.
        """
        try:
            postgres = await asyncio.to_thread(import_module, "codelaw.adapters.stores.postgres.connection")
        except ImportError as error:
            message = f"store.url names a PostgreSQL database, and the package for it is missing ({error})."
            hint = f"Add it with `{await asyncio.to_thread(adding, 'postgresql')}`."
            raise Refusal("store_unavailable", message, hint) from error
        database = postgres.PostgresDatabase(url, report)
        await database.open()
        return cls(database)


async def open_stores(url: str | None, path: Path, report: Callable[[Notice], None] | None = None) -> Stores:
    """What `store.url` names: a PostgreSQL database, or a SQLite file; without one the file at `path`.

    `report` is called with what the user should know of it afterwards.

    Raises:
        Refusal: `store_unavailable`.
    """
    if url and url.startswith(("postgresql:", "postgres:")):
        return replace(_stores(await PostgresStore.open(url, report)), shared=True)
    if url:
        return _stores(await SqliteStore.open(_file(url), chosen=True, report=report))
    return _stores(await SqliteStore.open(path, report=report))


def _file(url: str) -> Path:
    """The SQLite file that a URL or a plain path names."""
    named = url
    if "://" in url or url.startswith("sqlite:"):
        match = re.fullmatch(r"sqlite:///+([^?#]+)", url)
        if match is None:
            raise _unknown()
        named = unquote(match[1])
        named = named if re.match(r"[A-Za-z]:[/\\]", named) else f"/{named}"
    file = Path(named)
    if not file.is_absolute():
        raise _unknown()
    return file


def _unknown() -> Refusal:
    """The URL itself is not told: it may hold a password (S-5)."""
    return Refusal(
        "store_unavailable",
        "store.url does not name a database for chats.",
        "Give postgresql://user:password@host/database, sqlite:///absolute/path, or the absolute path of a file.",
    )


def _stores(chats: SqlChats) -> Stores:
    chats.search.start()
    return Stores(chats, SqlMemories(chats.database), SqlIndex(chats.database), chats.notices)
