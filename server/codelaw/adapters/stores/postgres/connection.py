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

from codelaw.adapters.stores.postgres.place import (
    DatabasePlace,
    is_between,
    is_crowded,
    is_lost,
    is_starting,
    migrate,
    place_of,
    refused_connection,
    refused_statement,
    use,
)
from codelaw.adapters.stores.postgres.session import PostgresOwners, PostgresSession, speak
from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.rows.database import SqlSession
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


class PostgresDatabase(Database):
    """A database in which a server lives by the connection that writes; a lost one is made anew."""

    failures = (psycopg.Error,)

    def __init__(self, url: str, report: Callable[[Notice], None] | None = None) -> None:
        self.place = place_of(url)
        self._lives = PostgresOwners()
        super().__init__(self.place.shown, self._lives, report)
        self._closing = Event()
        self._waited = -STARTING_SECONDS
        """Since when a server was waited for that starts or stops."""
        self._connection: Connection[Any] | None = None
        self._used = 0.0
        self._failure: tuple[float, Refusal] | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await super().open()
        self._keeper = asyncio.create_task(self._keep())

    async def read(self, work: Callable[[SqlSession], T], about: Collection[str] = (), *, slow: bool = False) -> T:
        def reading(session: SqlSession) -> T:
            with session.transaction(write=False):
                return work(session)

        try:
            return await super().read(work, about, slow=slow)
        except Refusal as refusal:
            if not is_crowded(refusal):
                raise
        return await self.run(reading)  # by the one connection that there is

    async def close(self) -> bool:
        self._closing.set()
        if self._keeper is not None:
            self._keeper.cancel()
        return await super().close()

    def _begin(self) -> None:
        with self._explained():
            self._session(time.monotonic())

    def _let_go(self) -> None:
        self._lives.end()
        self._drop()

    def _work(self, work: Callable[[SqlSession], T], asked: float) -> T:
        try:
            return work(self._session(asked))
        except psycopg.Error as error:
            if self._connection is not None and is_lost(self._connection, error):
                self._drop()
            raise
        finally:
            self._used = time.monotonic()

    def _write(self, session: SqlSession, work: Callable[[SqlSession], T]) -> T:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with session.transaction():
                    return work(session)
            except _CROSSED:
                if attempt == ATTEMPTS:
                    raise
                time.sleep(random.uniform(0.01, 0.05) * attempt)  # noqa: S311 - no secret
        raise AssertionError

    def _read(self, connection: Connection[Any], work: Callable[[SqlSession], T]) -> T:
        session = PostgresSession(connection)
        with self._lives.lent(connection), session.transaction(write=False):
            return work(session)

    def _connect(self, asked: float, *, writes: bool = False) -> Connection[Any]:
        """Who asked before an attempt failed shares its failure."""
        if self._failure is not None and asked <= self._failure[0]:
            raise self._failure[1]
        try:
            with self._explained():
                return self._configured(self._connected(), writes=writes)
        except Refusal as refusal:
            if not is_crowded(refusal):
                self._failure = (time.monotonic(), refusal)
            raise

    def _interrupt(self, connection: Connection[Any]) -> None:
        """Ask the server to stop the statement; the request goes by a connection of its own, off the event loop."""
        Thread(target=_cancel, args=(connection,), name="codelaw-store-cancel", daemon=True).start()

    def _usable(self, connection: Connection[Any], *, interrupted: bool) -> bool:
        """Not after a request to stop, which may come late and hit the next statement."""
        return not interrupted and not connection.closed and not connection.info.transaction_status

    def _alive(self, connection: Connection[Any], idle_seconds: float) -> bool:
        if connection.closed:
            return False
        if idle_seconds <= IDLE_SECONDS and not _has_spoken(connection):
            return True
        try:
            connection.execute("SELECT 1")
        except psycopg.Error:
            return False
        return True

    async def _keep(self) -> None:
        """Look after the connection as long as the store is open."""
        lost = False
        while self._open:
            await asyncio.sleep(KEEP_SECONDS)
            await asyncio.to_thread(self.give_back, UNUSED_SECONDS)
            try:
                await self.run(lambda _: self._lives.keep())
                lost = False
            except (Refusal, psycopg.Error) as error:
                if not lost:
                    logging.getLogger(__name__).warning("store: %s", error)
                lost = True

    def _session(self, asked: float) -> PostgresSession:
        """The connection, made anew if it was lost."""
        if self._connection is not None and not self._alive(self._connection, time.monotonic() - self._used):
            self._drop()
        if self._connection is None:
            self._connection = self._connect(asked, writes=True)
        self._used = time.monotonic()
        return PostgresSession(self._connection)

    def _configured(self, connection: Connection[Any], *, writes: bool) -> Connection[Any]:
        """Let it speak as we do; the one that writes brings the schema up to date, and lets this owner live."""
        try:
            connection.execute(_SETTINGS)
            if writes:
                _refuse_other_encodings(connection)
                migrate(connection, self.place.schema)
            use(connection, self.place.schema)
            speak(connection)
            if writes:
                self._lives.take(connection)
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

    def _refusal(self, error: Exception) -> Exception:
        return refused_statement(self.place, error) if isinstance(error, psycopg.Error) else error

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _has_spoken(connection: Connection[Any]) -> bool:
    """Whether the server has said something unasked, as when it ends the connection."""
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([connection], [], [], 0)[0])
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))


def _refuse_other_encodings(connection: Connection[Any]) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        hint = "Create another one with ENCODING 'UTF8', and name it in store.url."
        raise Refusal("store_unavailable", f"This database is encoded in {encoding}, not in UTF-8.", hint)


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
