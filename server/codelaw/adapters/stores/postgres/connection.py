"""PostgreSQL connections in threads of their own, one writes and a few read; a lost one is made anew (D-3)."""

from __future__ import annotations

import asyncio
import logging
import random
import select
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from threading import Event, Thread
from typing import Any, TypeVar

import psycopg
from psycopg import Connection

from codelaw.adapters.stores.postgres.migrations import migrate, use
from codelaw.adapters.stores.postgres.place import (
    DatabasePlace,
    bare,
    is_between,
    is_crowded,
    is_lost,
    is_starting,
    place_of,
    refused_connection,
    told,
)
from codelaw.adapters.stores.postgres.session import PostgresOwners, PostgresSession, speak
from codelaw.adapters.stores.readers import ReadDropped, Readers, Worker
from codelaw.adapters.stores.rows.database import Session
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal

T = TypeVar("T")

CONNECT_SECONDS = 5.0
STARTING_SECONDS = 10.0
"""A server that says that it starts or stops is asked for a connection again for so long."""
STARTING_PAUSE = 0.1
KEEP_SECONDS = 5.0
"""So often the connection is looked at while nobody uses it: a server whose lock is lost looks dead to others."""
IDLE_SECONDS = 1.0
"""A connection not used for longer may have been cut meanwhile, and is tried before work begins."""
UNUSED_SECONDS = 30.0
"""A connection that reads is given back to the server when nobody has used it for so long."""
STOP_SECONDS = 2.0
"""What the request to stop a statement may take on its way."""
ATTEMPTS = 5
"""For work that the database broke off because of what another server did meanwhile."""
_CROSSED = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.ForeignKeyViolation,  # a chat was deleted after its rows were read
    psycopg.errors.UniqueViolation,  # both made the same index
)

_SETTINGS = (
    b"SET client_min_messages = error; SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '60s';"
    b" SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3;"
    b" SELECT set_config(name, '2s', false) FROM pg_settings"
    b" WHERE name = 'client_connection_check_interval' AND version() !~* 'visual|mingw|windows'"
)
"""A server that hangs in a transaction, or whose computer is gone, holds nobody up for ever."""


class PostgresDatabase:
    """The threads and their connections. Writes are done in the order in which they were given."""

    def __init__(self, url: str, report: Callable[[Notice], None] | None = None) -> None:
        """`report` is called on the event loop with what the user should know while the database is waited for."""
        self.place = place_of(url)
        self._owners = PostgresOwners()
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._closing = Event()
        self._waited = -STARTING_SECONDS
        """Since when a server was waited for that starts or stops."""
        self._worker = Worker("codelaw-store")
        self._connection: Connection[Any] | None = None
        self._open = False
        self._used = 0.0
        self._failure: tuple[float, Refusal] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._readers = Readers("codelaw-store", self)
        self._reader_failure: tuple[float, Refusal] | None = None

    async def open(self) -> PostgresOwners:
        """Connect, and bring the schema up to date.

        Raises:
            Refusal: `store_unavailable`; the database is left as it is.
        """
        try:
            await self._worker.do(lambda: self._guarded(self._prepare))
        except BaseException:
            self._worker.end(self._drop)
            raise
        self._open = True
        self._keeper = asyncio.create_task(self._keep())
        return self._owners

    @property
    def busy(self) -> bool:
        """Whether somebody waits for a write."""
        return self._worker.busy

    async def run(self, work: Callable[[Session], T]) -> T:
        """Do `work` in the thread that writes. A cancelled caller leaves it running to its end.

        Raises:
            Refusal: `store_unavailable`, or what `work` refused.
        """
        return await self._run(work, ())

    async def write(self, work: Callable[[Session], T], about: Collection[str] = ()) -> T:
        """Do `work` in a transaction that writes: all of it or nothing. It is begun anew after a deadlock."""

        def whole_work(session: Session) -> T:
            with session.transaction():
                return work(session)

        return await self._run(lambda session: _persistent(session, whole_work), about)

    async def read(self, work: Callable[[Session], T], about: Collection[str] = (), *, slow: bool = False) -> T:
        """Do `work` in a transaction that only reads: all that one answer is made of is seen at the same moment.

        It waits for writes about the same things that were given before. When the caller is cancelled, it stops.
        """

        def whole_work(session: Session) -> T:
            with session.transaction(write=False):
                return work(session)

        def reading(connection: Connection[Any]) -> T:
            with told(self.place), self._owners.lent(connection):
                return whole_work(PostgresSession(connection))

        await self._worker.settled(about)
        try:
            if self._open:
                return await self._readers.do(reading, slow=slow)
        except Refusal as refusal:
            if not is_crowded(refusal):
                raise
            return await self._run(whole_work, ())  # by the one connection that there is
        except ReadDropped:
            pass
        raise self._closed()

    async def close(self) -> bool:
        """Finish the writes given so far, stop what reads, and let go; False when that was done before."""
        if not self._open:
            return False
        self._open = False
        self._closing.set()
        if self._keeper is not None:
            self._keeper.cancel()
        try:
            await self._readers.close()
            await self._worker.do(self._let_go)
        finally:
            self._worker.end()
        return True

    def connect(self, asked: float) -> Connection[Any]:
        """A connection that only reads. Who asked before an attempt failed shares its failure."""
        failure = self._reader_failure
        if failure is not None and asked <= failure[0]:
            raise failure[1]
        try:
            with told(self.place):
                return self._configured(self._connected())
        except Refusal as refusal:
            if not is_crowded(refusal):
                self._reader_failure = (time.monotonic(), refusal)
            raise

    def interrupt(self, connection: Connection[Any]) -> None:
        """Ask the server to stop the statement; the request goes by a connection of its own, off the event loop."""
        Thread(target=_cancel, args=(connection,), name="codelaw-store-cancel", daemon=True).start()

    def usable(self, connection: Connection[Any], *, interrupted: bool) -> bool:
        """Not after a request to stop, which may come late and hit the next statement."""
        return not interrupted and not connection.closed and not connection.info.transaction_status

    def alive(self, connection: Connection[Any], idle_seconds: float) -> bool:
        """Whether a connection that was idle for so long can still be used."""
        if connection.closed:
            return False
        if idle_seconds <= IDLE_SECONDS and not _has_spoken(connection):
            return True
        try:
            connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    def disconnect(self, connection: Connection[Any]) -> None:
        connection.close()

    async def _run(self, work: Callable[[Session], T], about: Collection[str]) -> T:
        if not self._open:
            raise self._closed()
        asked = time.monotonic()
        return await self._worker.do(lambda: self._guarded(lambda: work(self._session(asked))), about)

    def _closed(self) -> Refusal:
        return Refusal("store_unavailable", f"{self.place.shown}: the store is closed.")

    async def _keep(self) -> None:
        """Look after the connection as long as the store is open."""
        lost = False
        while self._open:
            await asyncio.sleep(KEEP_SECONDS)
            await asyncio.to_thread(self._readers.let_go, UNUSED_SECONDS)
            try:
                await self._worker.do(lambda: self._guarded(self._look))
                lost = False
            except (Refusal, psycopg.Error) as error:
                if not lost:
                    logging.getLogger(__name__).warning("store: %s", error)
                lost = True

    def _look(self) -> None:
        if self._open:
            self._session(time.monotonic())
            if self._connection is not None:
                self._owners.keep(self._connection)

    def _session(self, asked: float) -> PostgresSession:
        """The connection, made anew if it was lost; who asked before an attempt failed shares its failure."""
        idle = time.monotonic() - self._used
        if self._connection is not None and not self.alive(self._connection, idle):
            self._drop()
        connection = self._connection
        if connection is None:
            if self._failure is not None and asked <= self._failure[0]:
                raise self._failure[1]
            try:
                connection = self._prepare()
            except Refusal as refusal:
                self._failure = (time.monotonic(), refusal)
                raise
        self._used = time.monotonic()
        return PostgresSession(connection)

    def _prepare(self) -> Connection[Any]:
        """Connect, bring the schema up to date, and let this owner live."""

        def made(connection: Connection[Any]) -> None:
            _refuse_other_encodings(connection)
            migrate(connection, self.place.schema)
            self._owners.take(connection)

        self._connection = self._configured(self._connected(), made)
        return self._connection

    def _configured(
        self, connection: Connection[Any], first: Callable[[Connection[Any]], None] = lambda _: None
    ) -> Connection[Any]:
        try:
            connection.execute(_SETTINGS)
            first(connection)
            use(connection, self.place.schema)
            speak(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self) -> Connection[Any]:
        """A connection; for that of a server which starts or stops is asked for some seconds, or until we close."""
        began: float | None = None
        while True:
            try:
                return _connected(self.place)
            except Refusal as refusal:
                now = time.monotonic()
                if began is None and is_starting(refusal):
                    began = now
                    self._report_waiting(now)
                late = began is None or now - began > STARTING_SECONDS or not is_between(refusal)
                if late or self._closing.wait(STARTING_PAUSE):
                    raise

    def _report_waiting(self, now: float) -> None:
        """Once for all who wait."""
        if now - self._waited > STARTING_SECONDS and self._report is not None:
            message = f"{self.place.shown}: the server is starting or stopping. It is asked again for a moment."
            self._loop.call_soon_threadsafe(self._report, Notice("warning", "store_waits", message))
        self._waited = now

    def _guarded(self, work: Callable[[], T]) -> T:
        try:
            with told(self.place):
                return self._kept(work)
        finally:
            self._used = time.monotonic()

    def _kept(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except psycopg.Error as error:
            if self._connection is not None and is_lost(self._connection, error):
                self._drop()
            raise

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _let_go(self) -> None:
        """Give the owner's lock back before the connection ends, which the database may notice late."""
        if self._connection is not None:
            try:
                self._connection.execute("SELECT pg_advisory_unlock_all()")
            except psycopg.Error as error:
                logging.getLogger(__name__).info("store: the connection was lost before its end: %s", bare(error))
        self._drop()


def _has_spoken(connection: Connection[Any]) -> bool:
    """Whether the server has said something unasked, as when it ends the connection."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


def _refuse_other_encodings(connection: Connection[Any]) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        hint = "Create another one with ENCODING 'UTF8', and name it in store.url."
        raise Refusal("store_unavailable", f"This database is encoded in {encoding}, not in UTF-8.", hint)


def _persistent(session: Session, work: Callable[[Session], T]) -> T:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work(session)
        except _CROSSED:
            if attempt == ATTEMPTS:
                raise
            time.sleep(random.uniform(0.01, 0.05) * attempt)  # noqa: S311 - no secret
    raise AssertionError


def _connected(place: DatabasePlace) -> Connection[Any]:
    """A connection, in `CONNECT_SECONDS` at most, however long the name of the host takes to be found."""
    made: Future[Connection[Any]] = Future()

    def attempt() -> None:
        try:
            made.set_result(psycopg.connect(place.conninfo(CONNECT_SECONDS), autocommit=True))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            made.set_exception(error)

    Thread(target=attempt, name="codelaw-store-connect", daemon=True).start()
    try:
        return made.result(CONNECT_SECONDS)
    except TimeoutError:
        made.add_done_callback(_close_late)
        raise refused_connection(place, TimeoutError(f"timeout: no answer within {CONNECT_SECONDS:g} s")) from None
    except psycopg.Error as error:
        raise refused_connection(place, error) from None


def _close_late(made: Future[Connection[Any]]) -> None:
    if made.exception() is None:
        made.result().close()


def _cancel(connection: Connection[Any]) -> None:
    try:
        connection.cancel_safe(timeout=STOP_SECONDS)
    except psycopg.Error as error:  # it stops at the latest when the connection is noticed to be gone
        logging.getLogger(__name__).info("store: a query could not be stopped: %s", error)
