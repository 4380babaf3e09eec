"""The todo list of a chat, and what of it is durable (T-7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.domain.chats import Todo

if TYPE_CHECKING:
    from codelaw.ports.store import ChatStore


@dataclass(slots=True)
class TodoList:
    """The list of one chat."""

    now: tuple[Todo, ...] = ()
    saved: tuple[Todo, ...] = ()
    """As it is durable."""

    async def save(self, store: ChatStore, chat_id: str) -> tuple[Todo, ...]:
        """Make it durable, and give it.

        Raises:
            Refusal: `store_unavailable`.
        """
        todos = self.now
        await store.save_todos(chat_id, todos)
        self.saved = todos
        return todos
