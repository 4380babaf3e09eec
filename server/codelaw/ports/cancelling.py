"""What a cancel stops, and what outlasts it: one scope for whatever is asked for, until its work has ended (R-8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Generator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from codelaw.domain.errors import Refusal


async def outlast(work: asyncio.Future[Any]) -> bool:
    """Wait until `work` is done, through every cancel of the caller; gives whether one came.

    A turn that is slow to end is cancelled again and again. What the work has come to is left for the caller to look
    at, who raises the cancel.
    """
    cancelled = False
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError:
            cancelled = True
    return cancelled


T = TypeVar("T")


async def to_the_end(work: Awaitable[T]) -> T:
    """Await `work` whatever happens, so that a store and memory always say the same; a cancel is raised after it."""
    doing = asyncio.ensure_future(work)
    if not await outlast(doing):
        return doing.result()
    if not doing.cancelled() and (error := doing.exception()) is not None:
        _log.warning("what was to be finished after a cancel has failed: %s", error)
    raise asyncio.CancelledError


async def outlasted(work: Coroutine[Any, Any, T]) -> tuple[T, bool]:
    """What comes of work that no cancel breaks off, and whether one came.

    Raises:
        CancelledError: one came, and the work has failed.
    """
    task = asyncio.ensure_future(work)
    cancelled = await outlast(task)
    if cancelled and task.exception() is not None:
        raise asyncio.CancelledError
    return task.result(), cancelled


AGAIN_SECONDS = 1.0
"""After which a cancel is given again, to work that has gone on: whatever took it must not hold the chat."""

_log = logging.getLogger(__name__)


class Cancelled(Exception):
    """What a scope waited for was ended by its cancel."""


class Running(Protocol):
    """A turn or a compaction that has begun."""

    def cancel(self) -> object: ...

    async def result(self) -> object: ...


def give_cancel(work: asyncio.Task[Any], again: bool = False) -> None:  # noqa: FBT001, FBT002 - as the loop calls it
    """Cancel a task, and again each `AGAIN_SECONDS` while something in it swallows that."""
    if work.done():
        return
    if again:
        _log.warning("%s goes on after its cancel, which is given again", work.get_name())
    work.cancel()
    work.get_loop().call_later(AGAIN_SECONDS, give_cancel, work, True)  # noqa: FBT003 - the loop's call has no keyword


class Scope:
    """A message or a request on its way, and what becomes of it. Every way to cancel ends in `cancel`."""

    def __init__(self) -> None:
        self.cancelled = False
        self.over = asyncio.Event()
        """It has begun, or never will."""
        self._waiting: asyncio.Task[Any] | None = None
        self._running: Running | None = None

    def cancel(self) -> None:
        """Stop what is waited for, and what has begun; what has not begun never does. May be called again."""
        self.cancelled = True
        if self._waiting is not None:
            self._waiting.cancel()
        if self._running is not None:
            self._running.cancel()

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of what can be given up at any moment; one at a time.

        Raises:
            Cancelled: the scope was cancelled.
        """
        if self.cancelled:
            work.close()
            raise Cancelled
        self._waiting = task = asyncio.ensure_future(work)
        try:
            return await task
        except asyncio.CancelledError:
            this = asyncio.current_task()
            if not self.cancelled or (this is not None and this.cancelling()):
                raise
            raise Cancelled from None
        finally:
            self._waiting = None

    async def ended(self) -> None:
        """Wait until what has begun is over, too; how it ended is told to whoever asked for it."""
        await self.over.wait()
        if self._running is not None:
            with suppress(Refusal):
                await self._running.result()

    def becomes(self, running: Running) -> None:
        """It has begun, and is stopped at once where the scope was cancelled before."""
        self._running = running
        if self.cancelled:
            running.cancel()


class Scopes:
    """Scopes that are open, by what a cancel may name: the id of a chat, the uri of a chat file."""

    def __init__(self) -> None:
        self._names: dict[Scope, set[str]] = {}

    @contextmanager
    def open(self, name: object, scope: Scope | None = None) -> Generator[Scope]:
        """Something is on its way, until this is left; what is not a text names nothing."""
        opened = scope or Scope()
        self._names[opened] = {name} if isinstance(name, str) else set()
        try:
            yield opened
        finally:
            del self._names[opened]
            opened.over.set()

    def name(self, scope: Scope, name: str) -> None:
        """A cancel may name it so, too."""
        if scope in self._names:
            self._names[scope].add(name)

    def cancel(self, name: object) -> list[Scope]:
        """Cancel all of that name, and give them."""
        found = [scope for scope, names in self._names.items() if isinstance(name, str) and name in names]
        for scope in found:
            scope.cancel()
        return found
