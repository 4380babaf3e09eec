"""The store in one SQLite file, which several servers may share (D-1, D-4)."""

from __future__ import annotations

from pathlib import Path

from codelaw.adapters.stores.chats import SqlChats
from codelaw.adapters.stores.connection import SqliteDatabase


class SqliteStore(SqlChats):
    """Chats in the file at `path`; locks live in `owners/` beside it."""

    @classmethod
    async def open(cls, path: Path, *, chosen: bool = False) -> SqliteStore:
        """The store in the file at `path`, created with its folder if need be; a damaged file is set aside.

        `chosen`: a setting named the file; then it is set aside only if it says itself that it is one of ours.

        Raises:
            Refusal: `store_unavailable`: not writable, foreign or newer, or damaged while another codelaw has it open.
                The file is left as it is.
        """
        database = SqliteDatabase(path, chosen=chosen)
        store = cls(database, await database.open())
        store.notices = database.notices
        return store
