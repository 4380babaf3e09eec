"""The chats that a session has in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from codelaw.agent.chat import AgentChat
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.domain.chats import Chat
    from codelaw.ports.store import ChatStore, Stores

KEPT = 8
"""Idle chats whose transcripts stay in memory; older ones are loaded again when they are used (S-6)."""


class OpenChats:
    """Chats by id, the longest unused first; `make` makes one of a stored chat and the database it lies in."""

    def __init__(self, open_stores: Callable[[], Awaitable[Stores]], make: Callable[[Stores, Chat], AgentChat]) -> None:
        self._open_stores = open_stores
        self._make = make
        self._opening = asyncio.Lock()
        self._stores: Stores | None = None
        self._chats: dict[str, AgentChat] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def __iter__(self) -> Iterator[AgentChat]:
        return iter(tuple(self._chats.values()))

    async def store(self) -> ChatStore:
        """Where the chats are; as `stores`."""
        return (await self.stores()).chats

    async def stores(self) -> Stores:
        """The database, opened at its first use, so that a damaged one refuses only what needs it.

        Raises:
            Refusal: `store_unavailable`.
        """
        async with self._opening:
            if self._stores is None:
                self._stores = await self._open_stores()
        return self._stores

    async def get(self, chat_id: str) -> AgentChat:
        """The chat as it is now, whoever wrote to it last.

        Raises:
            Refusal: `chat_not_found`, `store_unavailable`.
        """
        stores = await self.stores()
        async with self._locks.setdefault(chat_id, asyncio.Lock()):
            try:
                agent = self._chats.pop(chat_id, None) or self._make(stores, await stores.chats.chat(chat_id))
                self._chats[chat_id] = agent
                await agent.refresh()
            except Refusal as refusal:
                if refusal.code == "chat_not_found":
                    self.forget(chat_id)
                raise
        idle = [other for other in self._chats.values() if other.idle]
        for other in idle[:-KEPT]:
            other.unload()
        return agent

    def forget(self, chat_id: str) -> None:
        """The chat is gone."""
        self._chats.pop(chat_id, None)
        self._locks.pop(chat_id, None)

    async def stop(self) -> None:
        """Stop every turn and compaction."""
        await asyncio.gather(*(agent.compacting.cancel() for agent in self))
        await asyncio.gather(*(agent.stop() for agent in self), return_exceptions=True)
        await asyncio.gather(*(agent.rolling.cancel() for agent in self))

    async def close(self) -> None:
        """Give the store back; nothing may run any more."""
        if self._stores is not None:
            await self._stores.chats.close()
