"""The chats that a session has in memory."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from codelaw.agent.chat.chat import AgentChat
from codelaw.agent.chat.turns import halt
from codelaw.app.ahead import Ahead
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.domain.chats import Chat
    from codelaw.ports.store import ChatStore, Stores
    from codelaw.tools.freshness import Ledger

KEPT = 8
"""Idle chats whose transcripts stay in memory; older ones are loaded again when they are used (S-6)."""
REMEMBERED = 500
"""Chats of which it is known what they have read; in older ones a file is read again before it is changed (F-3)."""


class OpenChats:
    """Chats by id, the longest unused first; `make` makes one of a stored chat and the database it lies in."""

    def __init__(self, open_stores: Callable[[], Awaitable[Stores]], make: Callable[[Stores, Chat], AgentChat]) -> None:
        self._open_stores = open_stores
        self._make = make
        self._opening = asyncio.Lock()
        self._stores: Stores | None = None
        self._chats: dict[str, AgentChat] = {}
        self._away: WeakValueDictionary[str, AgentChat] = WeakValueDictionary()
        """Let go, and perhaps still at work for a request: there is never a second one of a chat."""
        self._ledgers: OrderedDict[str, Ledger] = OrderedDict()
        """What the chats that were let go have read."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.ahead = Ahead(self.get)

    def __iter__(self) -> Iterator[AgentChat]:
        return iter((*self._chats.values(), *self._away.values()))

    def at_hand(self, chat_id: str) -> AgentChat | None:
        """The chat as it is in memory, without a look at the store; None when it is not there."""
        return self._chats.get(chat_id)

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

    async def get(self, chat_id: str, *, whole: bool = True) -> AgentChat:
        """The chat as it is now, whoever wrote to it last; without `whole` what its `glance` tells of it.

        Raises:
            Refusal: `chat_not_found`, `store_unavailable`.
        """
        stores = await self.stores()
        lock = self._locks.setdefault(chat_id, asyncio.Lock())
        async with lock:
            try:
                agent = self._chats.pop(chat_id, None) or self._away.pop(chat_id, None)
                agent = agent or self._make(stores, await stores.chats.chat(chat_id))
                agent.ledger = self._ledgers.pop(chat_id, agent.ledger)
                self._chats[chat_id] = agent
                await (agent.refresh() if whole else agent.look())
            except Refusal as refusal:
                if refusal.code == "chat_not_found":
                    self.forget(chat_id)
                raise
        idle = [other for other in self._chats.values() if other.idle]
        for other in idle[:-KEPT]:
            other.unload()
            if other is not agent and _can_go(other):
                self._let_go(other)
        return agent

    def _let_go(self, agent: AgentChat) -> None:
        chat_id = agent.chat.id
        self._away[chat_id] = self._chats.pop(chat_id)
        if agent.ledger.entries():
            self._ledgers[chat_id] = agent.ledger
        while len(self._ledgers) > REMEMBERED:
            self._ledgers.popitem(last=False)

    def forget(self, chat_id: str) -> None:
        """The chat is gone."""
        self._chats.pop(chat_id, None)
        self._away.pop(chat_id, None)
        self._ledgers.pop(chat_id, None)
        self._locks.pop(chat_id, None)

    async def stop(self) -> None:
        """Stop every turn and compaction, and load nothing more."""
        await self.ahead.close()
        halting = [halted for agent in self if (halted := halt(agent)) is not None]
        await asyncio.gather(*halting, return_exceptions=True)
        await asyncio.gather(*(agent.rolling.cancel() for agent in self))

    async def close(self) -> None:
        """Give the store back; nothing may run any more."""
        if self._stores is not None:
            await self._stores.chats.close()


def _can_go(agent: AgentChat) -> bool:
    """Whether all but the ledger can be made again from the store."""
    busy = not agent.idle or agent.rolling.in_flight or agent.steering.in_flight
    return not busy and agent.pending.empty and not agent.gate.grants and not agent.losses
