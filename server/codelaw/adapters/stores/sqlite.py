"""The store in one SQLite file, which several servers may share (D-1, D-4)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from codelaw.adapters.stores.chats import SqlChats
from codelaw.adapters.stores.connection import SqliteDatabase
from codelaw.adapters.stores.owners import FileOwners
from codelaw.domain.errors import Refusal


class SqliteStore(SqlChats):
    """Chats in the file at `path`; locks live in `owners/` beside it."""

    @classmethod
    async def open(cls, path: Path) -> SqliteStore:
        """The store in the file at `path`, created with its folder if need be.

        Raises:
            Refusal: `store_unavailable`: not writable, damaged, foreign or newer. The file is left as it is.
        """
        database = SqliteDatabase(path)
        await database.open()
        try:
            owners = await asyncio.to_thread(FileOwners, path.parent / "owners")
        except OSError as error:
            await database.close()
            hint = "Check the permissions of the folder and the space on its disk."
            message = f"{path.parent}: {error.strerror or error}."
            raise Refusal("store_unavailable", message, hint) from error
        return cls(database, owners)
