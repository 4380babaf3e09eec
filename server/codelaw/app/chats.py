"""The chats that a session has in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from codelaw.agent.chat import AgentChat
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.domain.chats import Chat
    from codelaw.ports.store import ChatStore

KEPT = 8
"""Idle chats whose transcripts stay in memory; older ones are loaded again when they are used (S-6)."""


class OpenChats:
    """Chats by id, the longest unused first; `make` makes one of a stored chat."""

    def __init__(self, store: ChatStore, make: Callable[[Chat], AgentChat]) -> None:
        self._store = store
        self._make = make
        self._chats: dict[str, AgentChat] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def __iter__(self) -> Iterator[AgentChat]:
        return iter(tuple(self._chats.values()))

    async def get(self, chat_id: str) -> AgentChat:
        """The chat as it is now, whoever wrote to it last.

        Raises:
            Refusal: `chat_not_found`, `store_unavailable`.
        """
        async with self._locks.setdefault(chat_id, asyncio.Lock()):
            try:
                agent = self._chats.pop(chat_id, None) or self._make(await self._store.chat(chat_id))
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
