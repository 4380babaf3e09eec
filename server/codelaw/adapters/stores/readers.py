"""The threads of a database: one for work in its order, and a few for connections that only read (D-1, D-3).

Reading waits neither for writing nor for other reading, as long as a thread is free; what takes long has threads of
its own, so that it leaves the others free.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar


class Worker:
    """Does work in the order in which it was given, one at a time."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._unfinished: dict[str, set[asyncio.Future[Any]]] = {}

    async def do(self, work: Callable[[], T], about: Collection[str] = ()) -> T:
        """Do `work`, which is about these things (`settled`).

        A cancelled caller leaves it running to its end; a failure that nobody hears is logged.
        """
        future = asyncio.wrap_future(self._thread.submit(work))
        for name in about:
            self._unfinished.setdefault(name, set()).add(future)
        if about:
            future.add_done_callback(lambda done: self._finish(done, about))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(log_unheard)
            raise

    async def settled(self, about: Collection[str]) -> None:
        """Wait for the work about these things that was given so far, however it ends."""
        if unfinished := {future for name in about for future in self._unfinished.get(name, ())}:
            await asyncio.wait(unfinished)

    @property
    def busy(self) -> bool:
        """Whether work about something waits or is being done."""
        return bool(self._unfinished)

    def end(self, last: Callable[[], None] | None = None) -> None:
        """Take no more work than `last`, for which nobody waits."""
        if last is not None:
            self._thread.submit(last)
        self._thread.shutdown(wait=False)

    def _finish(self, future: asyncio.Future[Any], about: Collection[str]) -> None:
        for name in about:
            waiting = self._unfinished.get(name, set())
            waiting.discard(future)
            if not waiting:
                self._unfinished.pop(name, None)


def log_unheard(future: asyncio.Future[Any]) -> None:
    """Nobody waits for this work any more; its failure must still be known."""
    if not future.cancelled() and (error := future.exception()) is not None:
        logging.getLogger(__name__).error("store: work given up by its caller failed: %s", error)


T = TypeVar("T")
C = TypeVar("C")

QUICK = 3
"""Threads for reading that takes milliseconds."""
SLOW = 2
"""Threads for reading that may take seconds: searching."""
AGAIN_SECONDS = 0.05
"""Between two attempts to stop a query: one that falls between two statements stops nothing."""


class ReadDropped(Exception):
    """The reading was given up by its caller, or the store was closed."""


class Opener(Protocol[C]):
    """How connections are made, stopped and let go of. Called in any thread."""

    def connect(self, asked: float) -> C:
        """A new connection for somebody who asked at that moment (`time.monotonic`)."""
        ...

    def interrupt(self, connection: C) -> None:
        """Stop the statement that runs on it, if one does."""
        ...

    def alive(self, connection: C, idle_seconds: float) -> bool:
        """Whether one that was idle for so long can still be used."""
        ...

    def usable(self, connection: C, *, interrupted: bool) -> bool:
        """Whether somebody else may use it."""
        ...

    def disconnect(self, connection: C) -> None: ...


class _Job(Generic[C]):
    """One reading."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.connection: C | None = None
        """While it is used."""
        self.dropped = False


class Readers(Generic[C]):
    """Connections and threads, made when they are first needed."""

    def __init__(self, name: str, opener: Opener[C]) -> None:
        self._opener = opener
        self._quick = ThreadPoolExecutor(QUICK, thread_name_prefix=f"{name}-reader")
        self._slow = ThreadPoolExecutor(SLOW, thread_name_prefix=f"{name}-searcher")
        self._idle: deque[tuple[float, C]] = deque()
        """With the moment since when each is idle, the longest first."""
        self._running: dict[_Job[C], asyncio.Future[Any]] = {}
        self._closed = False

    @property
    def reading(self) -> int:
        """How many readings wait or run."""
        return len(self._running)

    async def do(self, work: Callable[[C], T], *, slow: bool = False) -> T:
        """Do `work` with a connection. When the caller is cancelled its statement is stopped.

        Raises:
            ReadDropped: the store was closed meanwhile.
        """
        if self._closed:
            raise ReadDropped
        job: _Job[C] = _Job()
        asked = time.monotonic()
        threads = self._slow if slow else self._quick
        given = threads.submit(self._run, job, work, asked)
        future = asyncio.wrap_future(given)
        self._running[job] = future
        future.add_done_callback(lambda _: self._running.pop(job, None))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(_log_failure)
            self._drop(job)
            raise

    async def close(self) -> None:
        """Stop what runs, and let go of all connections."""
        self._closed = True
        for job in list(self._running):
            self._drop(job)
        if self._running:
            await asyncio.wait(set(self._running.values()))
        await asyncio.to_thread(self.let_go)
        for threads in (self._quick, self._slow):
            threads.shutdown(wait=False)

    def let_go(self, idle_seconds: float = 0.0) -> None:
        """Close the connections that nobody has used for so long. Takes its time: not for the event loop."""
        while self._idle:
            try:
                since, connection = self._idle.popleft()
            except IndexError:  # another thread took the last one
                return
            if time.monotonic() - since < idle_seconds:
                self._idle.appendleft((since, connection))
                return
            self._opener.disconnect(connection)

    def _drop(self, job: _Job[C]) -> None:
        job.dropped = True
        self._stop(job)

    def _stop(self, job: _Job[C]) -> None:
        """Stop the job's statement, and look again soon: the job may be between two of them."""
        future = self._running.get(job)
        if future is None or future.done():
            return
        # Under the lock, so that nobody else uses the connection by now.
        if job.lock.acquire(blocking=False):
            try:
                if job.connection is not None:
                    self._opener.interrupt(job.connection)
            finally:
                job.lock.release()
        asyncio.get_running_loop().call_later(AGAIN_SECONDS, self._stop, job)

    def _run(self, job: _Job[C], work: Callable[[C], T], asked: float) -> T:
        if job.dropped:
            raise ReadDropped
        connection = self._take(asked)
        with job.lock:
            job.connection = connection
        try:
            return work(connection)
        except Exception as error:
            if job.dropped:
                raise ReadDropped from error
            raise
        finally:
            with job.lock:
                job.connection = None
            self._give(connection, interrupted=job.dropped)

    def _take(self, asked: float) -> C:
        while True:
            try:
                since, connection = self._idle.pop()
            except IndexError:
                return self._opener.connect(asked)
            if self._opener.alive(connection, time.monotonic() - since):
                return connection
            self._opener.disconnect(connection)

    def _give(self, connection: C, *, interrupted: bool) -> None:
        if self._opener.usable(connection, interrupted=interrupted):
            self._idle.append((time.monotonic(), connection))
        else:
            self._opener.disconnect(connection)


def _log_failure(future: asyncio.Future[Any]) -> None:
    if not future.cancelled() and not isinstance(future.exception(), ReadDropped):
        log_unheard(future)
