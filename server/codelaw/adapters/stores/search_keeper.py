"""What is said goes into the index of the search, slice by slice, behind the turns (D-2)."""

from __future__ import annotations

import asyncio
import logging
import time

from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.rows import search_rows
from codelaw.domain.errors import Refusal

START_SECONDS = 1.0
"""After the store was opened: who only asks something is gone by then."""
QUIET_SECONDS = 2.0
"""After something was said, before it is taken in."""
RETRY_SECONDS = 30.0
"""After the database refused."""
YIELD_SECONDS = 0.02
"""The shortest pause between two slices."""


class SearchKeeper:
    """Keeps the index of one database, as long as it runs; `said` wakes it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._said = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="codelaw-search")

    def said(self) -> None:
        """There are messages that are not in the index."""
        self._said.set()

    async def close(self) -> None:
        """Stop; what waits then waits for the next server."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def take_in(self) -> bool:
        """Take in one slice; False when nothing waits.

        Raises:
            Refusal: `store_unavailable`.
        """
        waiting, dialect = await self._database.read(lambda session: (search_rows.waiting(session), session.dialect))
        if not waiting:
            return False
        messages = await asyncio.to_thread(search_rows.ready, waiting, dialect)
        await self._database.write(lambda session: search_rows.add(session, messages))
        return True

    async def _run(self) -> None:
        await asyncio.sleep(START_SECONDS)
        begun = False
        while True:
            self._said.clear()
            try:
                if not begun:
                    await self._database.write(search_rows.take_back)
                begun = True
                await self._take_in_all()
            except Refusal as refusal:
                logging.getLogger(__name__).warning("store: the search goes without its index: %s", refusal.message)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            except Exception:
                logging.getLogger(__name__).exception("store: the search goes without its index")
                return
            await self._said.wait()
            await asyncio.sleep(QUIET_SECONDS)

    async def _take_in_all(self) -> None:
        while True:
            if self._database.busy:
                await asyncio.sleep(YIELD_SECONDS)
                continue
            began = time.monotonic()
            if not await self.take_in():
                return
            await asyncio.sleep(max(YIELD_SECONDS, time.monotonic() - began))  # half the time is for others
