"""What the rows need of a database, whichever it is: statements in a transaction, and who else lives (D-3, D-4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")
Parameters = tuple[Any, ...]
Dialect = Literal["sqlite", "postgresql"]


class Rows(Protocol):
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

    def execute(self, sql: str, parameters: Parameters = ()) -> Rows: ...

    def execute_many(self, sql: str, rows: list[Parameters]) -> None: ...

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """All or nothing.

        One that only reads sees one moment. In one that writes what is read stays true until the end: in SQLite all of
        it, in PostgreSQL what belongs to rows that were read with `row_lock`; a chat's own row stands for all of it.
        """
        ...


class Database(Protocol):
    """A connection with a thread of its own, spoken to from the event loop; work is done in the order it was given.

    Raises everywhere:
        Refusal: `store_unavailable`, or what the work refused.
    """

    async def run(self, work: Callable[[Session], T]) -> T:
        """Do `work` in the thread. A cancelled caller leaves it running to its end."""
        ...

    async def write(self, work: Callable[[Session], T]) -> T:
        """Do `work` in a transaction that writes: all of it or nothing."""
        ...

    async def read(self, work: Callable[[Session], T]) -> T:
        """Do `work` in a transaction that only reads: all that it sees is of one moment."""
        ...

    async def close(self) -> bool:
        """Finish the work given so far and let go; False when that was done before."""
        ...


class Owners(Protocol):
    """Which server instances live; this one lives until `leave`."""

    @property
    def id(self) -> str: ...

    def is_alive(self, owner: str) -> bool:
        """To be asked in the database's thread."""
        ...

    async def leave(self) -> None:
        """Die on purpose."""
        ...
