"""The store in one SQLite file, which several servers may share (D-1, D-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from codelaw.adapters.stores.chats import SqlChats
from codelaw.adapters.stores.damage import is_ours
from codelaw.adapters.stores.sqlite.connection import SqliteDatabase, SqliteSession, let_read
from codelaw.adapters.stores.sqlite.read_only import ReadOnlyDatabase, unwritable
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal


class SqliteStore(SqlChats):
    """Chats in the file at `path`; locks live in `owners/` beside it."""

    @classmethod
    async def open(
        cls, path: Path, *, chosen: bool = False, tell: Callable[[Notice], None] | None = None
    ) -> SqliteStore:
        """The store in the file at `path`, created with its folder if need be; a damaged file is set aside.

        One that cannot be written is read all the same: it refuses only what writes, and a notice says so.

        `chosen`: a setting named the file; then it is set aside only if it says itself that it is one of ours. `tell`
        is called with what the user should know of it afterwards.

        Raises:
            Refusal: `store_unavailable`: not writable, foreign or newer, or damaged while another codelaw has it open.
                The file is left as it is.
        """
        database = SqliteDatabase(path, chosen=chosen, tell=tell)
        try:
            store = cls(database, await database.open())
        except Refusal as refusal:
            if not unwritable(refusal) or not await asyncio.to_thread(is_ours, path):
                raise
            reading = ReadOnlyDatabase(path, refusal, SqliteSession, let_read)
            store = cls(reading, await reading.open())
            store.notices = (reading.notice,)
            return store
        store.notices = database.notices
        return store
