"""What the rows need of a database, whichever it is: statements in a transaction, and who else lives (D-3, D-4)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol, TypeVar

from codelaw.domain.errors import Refusal


def cursor_at(at: float, row_id: str) -> str:
    """The place of a row."""
    return base64.urlsafe_b64encode(json.dumps([at, row_id]).encode()).decode()


def cursor_place(given: str) -> tuple[float, str]:
    """The time and the id of a place.

    Raises:
        Refusal: `invalid_text` when no list can have given it.
    """
    try:
        at, row_id = json.loads(base64.urlsafe_b64decode(given.encode()))
        return float(at), str(row_id)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise Refusal("invalid_text", "The cursor is not one that an earlier list gave.", "List without it.") from error


T = TypeVar("T")
Parameters = tuple[Any, ...]
Dialect = Literal["sqlite", "postgresql"]


class StatementRows(Protocol):
    """The outcome of a statement."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Session(Protocol):
    """The connection as work in its thread sees it; parameters are written as `?`."""

    @property
    def dialect(self) -> Dialect:
        """For the few statements that both databases do not spell alike."""
        ...

    @property
    def row_lock(self) -> str:
        """What a SELECT ends with whose rows nobody else may change until the end of a transaction that writes.

        Empty in one that reads, and where the whole database is locked already.
        """
        ...

    def execute(self, sql: str, parameters: Parameters = ()) -> StatementRows: ...

    def execute_many(self, sql: str, rows: list[Parameters]) -> None: ...

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """All or nothing.

        One that only reads sees one moment. In one that writes what is read stays true until the end: in SQLite all of
        it, in PostgreSQL what belongs to rows that were read with `row_lock`; a chat's own row stands for all of it.
        """
        ...


class Database(Protocol):
    """One thread that writes and a few that read, spoken to from the event loop. Writes are done in the order given.

    `about` names what is written or read, as a chat by its id: who reads waits for what was to be written about the
    same things before, and for nothing else.

    Raises everywhere:
        Refusal: `store_unavailable`, or what the work refused.
    """

    async def run(self, work: Callable[[Session], T]) -> T:
        """Do `work` in the thread that writes. A cancelled caller leaves it running to its end."""
        ...

    async def write(self, work: Callable[[Session], T], about: Collection[str] = ()) -> T:
        """Do `work` in a transaction that writes: all of it or nothing. A cancelled caller leaves it running."""
        ...

    async def read(self, work: Callable[[Session], T], about: Collection[str] = (), *, slow: bool = False) -> T:
        """Do `work` in a transaction that only reads: all that it sees is of one moment.

        When the caller is cancelled, the statement that runs is stopped. What may take seconds is `slow`.
        """
        ...

    @property
    def busy(self) -> bool:
        """Whether somebody waits for a write."""
        ...

    async def close(self) -> bool:
        """Finish the writes given so far, stop what reads, and let go; False when that was done before."""
        ...


class Owners(Protocol):
    """Which server instances live; this one lives until `leave`."""

    @property
    def id(self) -> str: ...

    def is_alive(self, owner: str) -> bool:
        """To be asked in a thread of the database."""
        ...

    async def leave(self) -> None:
        """Die on purpose."""
        ...
