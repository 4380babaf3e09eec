"""The threads of a database: one for work in its order, and a few for connections that only read (D-1, D-3).

Reading waits neither for writing nor for other reading, as long as a thread is free; what takes long has threads of
its own, so that it leaves the others free.
"""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, ClassVar, TypeVar

from codelaw.adapters.stores.rows.database import Owners, SqlSession
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal

T = TypeVar("T")

QUICK = 3
"""Threads for reading that takes milliseconds."""
SLOW = 2
"""Threads for reading that may take seconds: searching."""
AGAIN_SECONDS = 0.05
"""Between two attempts to stop a query: one that falls between two statements stops nothing."""


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


@dataclass(eq=False)
class _Reading:
    """One answer that is read."""

    lock: Lock = field(default_factory=Lock)
    connection: Any = None
    """While it is used."""
    dropped: bool = False


class Database(ABC):
    """One thread that writes and a few that read, spoken to from the event loop. Writes are done in the order given.

    `about` names what is written or read, as a chat by its id: who reads waits for what was to be written about the
    same things before, and for nothing else. A cancelled caller leaves a write running, and stops a query.

    Raises everywhere:
        Refusal: `store_unavailable`, or what the work refused.
    """

    failures: ClassVar[tuple[type[Exception], ...]]
    cause_is_shown = False
    """Whether a log may show what a refusal is made of."""

    def __init__(self, shown: str, owners: Owners, report: Callable[[Notice], None] | None) -> None:
        """`shown` names the database in messages; `report` is called on the event loop while it is open."""
        self.shown = shown
        self.owners = owners
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._worker = Worker("codelaw-store")
        self._quick = ThreadPoolExecutor(QUICK, thread_name_prefix="codelaw-store-reader")
        self._slow = ThreadPoolExecutor(SLOW, thread_name_prefix="codelaw-store-searcher")
        self._idle: deque[tuple[float, Any]] = deque()
        """Connections that read, with the moment since when each is idle, the longest first."""
        self.readings: dict[_Reading, asyncio.Future[Any]] = {}
        self._open = False

    async def open(self) -> None:
        """Create or open it, and bring its schema up to date.

        Raises:
            Refusal: `store_unavailable`; it is left as it is.
        """
        try:
            await self._worker.do(self._begin)
        except BaseException:
            self._worker.end(self._let_go)
            raise
        self._open = True

    @property
    def busy(self) -> bool:
        """Whether somebody waits for a write."""
        return self._worker.busy

    async def run(self, work: Callable[[SqlSession], T], about: Collection[str] = ()) -> T:
        """Do `work` in the thread that writes."""
        if not self._open:
            raise self._closed()
        asked = time.monotonic()

        def present_work() -> T:
            with self._explained():
                return self._work(work, asked)

        return await self._worker.do(present_work, about)

    async def write(self, work: Callable[[SqlSession], T], about: Collection[str] = ()) -> T:
        """Do `work` in a transaction that writes: all of it or nothing."""
        return await self.run(lambda session: self._write(session, work), about)

    async def read(self, work: Callable[[SqlSession], T], about: Collection[str] = (), *, slow: bool = False) -> T:
        """Do `work` in a transaction that only reads: all that it sees is of one moment. Seconds are `slow`."""
        await self._worker.settled(about)
        if not self._open:
            raise self._closed()
        reading = _Reading()
        threads = self._slow if slow else self._quick
        future: asyncio.Future[Any] = asyncio.wrap_future(threads.submit(self._do, reading, work, time.monotonic()))
        self.readings[reading] = future
        future.add_done_callback(lambda _: self.readings.pop(reading, None))
        try:
            found = await asyncio.shield(future)
        except asyncio.CancelledError:
            self._stop(reading)
            raise
        if reading.dropped:
            raise self._closed()
        return found

    async def close(self) -> bool:
        """Finish the writes given so far, stop what reads, and let go; False when that was done before."""
        if not self._open:
            return False
        self._open = False
        for reading in list(self.readings):
            self._stop(reading)
        if self.readings:
            await asyncio.wait(set(self.readings.values()))
        await asyncio.to_thread(self.give_back)
        for threads in (self._quick, self._slow):
            threads.shutdown(wait=False)
        try:
            await self._worker.do(self._let_go)
        finally:
            self._worker.end()
        return True

    def give_back(self, idle_seconds: float = 0.0) -> None:
        """Close the connections that nobody has read by for so long. Takes its time: not for the event loop."""
        while self._idle:
            try:
                since, connection = self._idle.popleft()
            except IndexError:  # another thread took the last one
                return
            if time.monotonic() - since < idle_seconds:
                self._idle.appendleft((since, connection))
                return
            connection.close()

    def _closed(self) -> Refusal:
        return Refusal("store_unavailable", f"{self.shown}: the store is closed.")

    @contextmanager
    def _explained(self) -> Generator[None]:
        """Whatever fails inside is explained in words."""
        try:
            yield
        except Refusal as refusal:
            if refusal.code == "store_unavailable" and not refusal.message.startswith(self.shown):
                raise Refusal(refusal.code, f"{self.shown}: {refusal.message}", refusal.hint) from refusal
            raise
        except self.failures as error:
            raise self._refusal(error) from (error if self.cause_is_shown else None)

    def _stop(self, reading: _Reading) -> None:
        """Stop the statement that runs, and look again soon: it may be between two of them."""
        reading.dropped = True
        future = self.readings.get(reading)
        if future is None or future.done():
            return
        # Under the lock, so that nobody else uses the connection by now.
        if reading.lock.acquire(blocking=False):
            try:
                if reading.connection is not None:
                    self._interrupt(reading.connection)
            finally:
                reading.lock.release()
        self._loop.call_later(AGAIN_SECONDS, self._stop, reading)

    def _do(self, reading: _Reading, work: Callable[[SqlSession], T], asked: float) -> T | None:
        try:
            if reading.dropped:
                return None
            connection = self._taken(asked)
            with reading.lock:
                reading.connection = connection
            try:
                with self._explained():
                    return self._read(connection, work)
            finally:
                with reading.lock:
                    reading.connection = None
                if self._usable(connection, interrupted=reading.dropped):
                    self._idle.append((time.monotonic(), connection))
                else:
                    connection.close()
        except Exception:
            if not reading.dropped:
                raise
            return None

    def _taken(self, asked: float) -> Any:
        while True:
            try:
                since, connection = self._idle.pop()
            except IndexError:
                with self._explained():
                    return self._connect(asked)
            if self._alive(connection, time.monotonic() - since):
                return connection
            connection.close()

    @abstractmethod
    def _begin(self) -> None:
        """Open it, in the thread that writes."""

    @abstractmethod
    def _let_go(self) -> None:
        """Close it there, and end its owner; also after `_begin` has failed."""

    @abstractmethod
    def _work(self, work: Callable[[SqlSession], T], asked: float) -> T:
        """Do `work` in the thread that writes, for somebody who asked at that moment (`time.monotonic`)."""

    @abstractmethod
    def _write(self, session: SqlSession, work: Callable[[SqlSession], T]) -> T:
        """As `write`, there."""

    @abstractmethod
    def _read(self, connection: Any, work: Callable[[SqlSession], T]) -> T:
        """As `read`, in the thread that uses the connection."""

    @abstractmethod
    def _connect(self, asked: float) -> Any:
        """A new connection that only reads, in any thread."""

    @abstractmethod
    def _interrupt(self, connection: Any) -> None:
        """Stop the statement that runs on it, if one does."""

    def _alive(self, connection: Any, idle_seconds: float) -> bool:  # noqa: ARG002 - for those that lie afar
        """Whether one that was idle for so long can still be used."""
        return True

    @abstractmethod
    def _usable(self, connection: Any, *, interrupted: bool) -> bool:
        """Whether somebody else may use it."""

    @abstractmethod
    def _refusal(self, error: Exception) -> Exception:
        """What to say of an error; itself where it is a mistake of ours."""
