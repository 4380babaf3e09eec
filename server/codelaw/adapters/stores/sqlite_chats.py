"""The store in one SQLite file, which several servers may share (D-1, D-4)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from codelaw.adapters.stores.chats import SqlChats
from codelaw.adapters.stores.sqlite.connection import SqliteDatabase
from codelaw.domain.chats import Notice


class SqliteStore(SqlChats):
    """Chats in the file at `path`; locks live in `owners/` beside it."""

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
        store = cls(database, await database.open())
        store.notices = database.notices
        return store
