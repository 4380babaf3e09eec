"""The todo list of a chat: what of it is durable, and how it is told in one line (T-7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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


def open_recap(todos: Sequence[Todo]) -> str:
    """The recap that a turn sends along; empty where nothing is left to be done."""
    return recap(todos) if any(todo.status in {"pending", "in_progress"} for todo in todos) else ""


def recap(todos: Sequence[Todo]) -> str:
    """`[done/total]`, the one in progress, the next three pending; empty without a list.

    The model is shown it outside of JSON: an item starts no line of its own and holds no tag (R-5).
    """
    if not todos:
        return ""
    todos = [replace(todo, content=" ".join(todo.content.replace("<", "‹").split())) for todo in todos]
    done = sum(todo.status == "completed" for todo in todos)
    parts = [f"[{done}/{len(todos)}]"]
    active = [todo.content for todo in todos if todo.status == "in_progress"]
    pending = [todo.content for todo in todos if todo.status == "pending"]
    if active:
        parts.append(f"In progress: {active[0]}.")
    if pending:
        more = f" (and {len(pending) - 3} more)" if len(pending) > 3 else ""
        parts.append(f"Next: {'; '.join(pending[:3])}{more}.")
    cancelled = sum(todo.status == "cancelled" for todo in todos)
    if cancelled:
        parts.append(f"Cancelled: {cancelled}.")
    return " ".join(parts)
