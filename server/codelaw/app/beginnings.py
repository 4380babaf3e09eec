"""What is about to begin in a chat: a cancel that comes meanwhile is not lost (R-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from codelaw.agent.turn.running import RunningTurn


T = TypeVar("T")


class Halted(Exception):
    """What begins is to be stopped at once."""


async def unless_halted(halt: asyncio.Event | None, work: Awaitable[T]) -> T:
    """The outcome of what is waited for, which ends as soon as `halt` is set.

    Raises:
        Halted: it was.
    """
    running = asyncio.ensure_future(work)
    if halt is None:
        return await running
    halted = asyncio.ensure_future(halt.wait())
    try:
        await asyncio.wait((running, halted), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
    finally:
        for task in (running, halted):
            task.cancel()
        await asyncio.gather(running, halted, return_exceptions=True)
    raise Halted


class Beginning:
    """A message on its way to become a turn, or a compaction that was asked for and has not begun."""

    def __init__(self, chat_id: str | None, halt: asyncio.Event | None = None) -> None:
        self.chat_id = chat_id
        """None for a message to a new chat, until that is made."""
        self.halt = halt or asyncio.Event()
        """Set when what begins is to be stopped at once."""
        self.turn: RunningTurn | None = None
        """What it has become."""
        self.over = asyncio.Event()
        """It has begun, or never will."""

    @property
    def stopped(self) -> bool:
        """Whether what begins is to be stopped at once."""
        return self.halt.is_set()

    async def ended(self) -> None:
        """Wait until what has begun is over, too."""
        await self.over.wait()
        if self.turn is not None:
            await self.turn.result()


class Beginnings:
    """Those of one session."""

    def __init__(self) -> None:
        self._all: set[Beginning] = set()

    @contextmanager
    def one(self, chat_id: str | None, halt: asyncio.Event | None = None) -> Generator[Beginning]:
        """Something is about to begin, until this is left; `halt` stops it too."""
        beginning = Beginning(chat_id, halt)
        self._all.add(beginning)
        try:
            yield beginning
        finally:
            self._all.discard(beginning)
            beginning.over.set()

    def stop(self, chat_id: str) -> list[Beginning]:
        """Have all of them in a chat stopped as soon as they begin."""
        found = [one for one in self._all if one.chat_id == chat_id]
        for one in found:
            one.halt.set()
        return found
