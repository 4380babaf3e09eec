"""Requests that answer a cancel in their own way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codelaw.lsp.sessions import RunningTurn


class Arrived:
    """The messages of one client that are not answered yet, from the moment they arrive (R-8).

    A cancel finds them here before there is an engine, a chat in memory or a turn.
    """

    def __init__(self) -> None:
        self._chats: dict[asyncio.Task[Any] | None, str] = {}
        """By the task that answers the request, which is where the request is known again."""
        self._stopped: set[asyncio.Task[Any] | None] = set()

    @contextmanager
    def one(self, chat_id: object) -> Generator[None]:
        """A message to that chat is answered by this task; what is not an id names none."""
        task = asyncio.current_task()
        if isinstance(chat_id, str):
            self._chats[task] = chat_id
        try:
            yield
        finally:
            self._chats.pop(task, None)
            self._stopped.discard(task)

    def stop(self, chat_id: object) -> bool:
        """Have those of a chat stopped as soon as they are turns; whether there are any."""
        found = {task for task, known in self._chats.items() if known == chat_id}
        self._stopped |= found
        return bool(found)

    @property
    def stopped(self) -> bool:
        """Whether the message that this task answers is to be stopped."""
        return asyncio.current_task() in self._stopped


def cancelled_by_others() -> bool:
    """Whether this task was asked to stop; that is then taken back, since the request will have its answer."""
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        return False
    while task.uncancel():
        pass
    return True


async def begun(sending: Coroutine[Any, Any, RunningTurn], halt: asyncio.Event | None = None) -> RunningTurn:
    """The turn that `Session.send` begins. It must not run on unwatched: cancelled, it begins and is then stopped.

    `halt` is what `sending` was given under that name, and is set then.

    Raises:
        CancelledError: it was cancelled, and what it sent was refused.
    """
    beginning = asyncio.ensure_future(sending)
    stopped = False
    while True:
        try:
            turn = await asyncio.shield(beginning)
        except asyncio.CancelledError:
            if not cancelled_by_others():
                raise
            stopped = True
            if halt is not None:
                halt.set()
        except Exception:
            if stopped:  # who would go on with a second try does not
                raise asyncio.CancelledError from None
            raise
        else:
            if stopped:
                turn.cancel()
            return turn
