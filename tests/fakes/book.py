"""A chat store that counts what it is given and keeps nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count


class Book:
    """The part of the port that events, todo lists and the changes of calls go to."""

    def __init__(self) -> None:
        self._events = count(1)
        self._changes = count(1)

    async def append_events(
        self, chat_id: str, turn_id: str, events: Sequence[object], after: object = None
    ) -> list[int]:
        return [next(self._events) for _ in events]

    async def save_todos(self, chat_id: str, todos: object) -> None:
        """Nothing is kept."""

    async def plan_change(self, chat_id: str, change: object) -> int:
        return next(self._changes)

    async def settle_change(self, chat_id: str, number: int, after: str | None) -> None:
        """Nothing is kept."""

    async def withdraw_change(self, chat_id: str, number: int) -> None:
        """Nothing is kept."""
