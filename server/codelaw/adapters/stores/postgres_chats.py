"""The store of a team in PostgreSQL, with pgvector (D-3, D-4)."""

from __future__ import annotations

from collections.abc import Callable

from codelaw.adapters.stores.chats import SqlChats
from codelaw.adapters.stores.postgres.connection import PostgresDatabase
from codelaw.adapters.stores.postgres.place import place_of
from codelaw.adapters.stores.postgres.server_liveness import PostgresOwners
from codelaw.domain.chats import Notice


class PostgresStore(SqlChats):
    """Chats in the schema `codelaw` of the database that a URL names."""

    @classmethod
    async def open(cls, url: str, report: Callable[[Notice], None] | None = None) -> PostgresStore:
        """The store at `url`, its tables created if need be; `report` as for `PostgresDatabase`.

        Raises:
            Refusal: `store_unavailable`: not reachable, not allowed, foreign, newer, or without pgvector.
        """
        owners = PostgresOwners()
        database = PostgresDatabase(place_of(url), owners, report)
        await database.open()
        return cls(database, owners)
