"""What each repository of the store is: methods whose bodies run in a thread of the database, in a transaction."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.rows.chat_rows import require
from codelaw.adapters.stores.rows.database import SqlSession

T = TypeVar("T")
P = ParamSpec("P")


class SqlRepository:
    """Rows of one database. Writes of a cancelled caller are finished, never halved."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.owners = database.owners
        self.owner = database.owners.id

    def said(self) -> None:
        """There are messages that are not in the index of the search."""


R = TypeVar("R", bound=SqlRepository)
if TYPE_CHECKING:
    from types import CoroutineType

    Work = Callable[Concatenate[R, SqlSession, P], T]
    Method = Callable[Concatenate[R, P], CoroutineType[Any, Any, T]]


def reads(*about: str, now: bool = False, bare: bool = False) -> Callable[[Work[R, P, T]], Method[R, P, T]]:
    """Make a method of what reads by a session. It waits for writes `about` the same, by default the chat.

    The chat is the first argument, or what that belongs to, and must be there, unless it is `bare`; `now`: it waits for
    nothing.
    """

    def method(work: Work[R, P, T]) -> Method[R, P, T]:
        @wraps(work)
        async def run(self: R, *args: P.args, **kwargs: P.kwargs) -> T:
            chat = () if now or about else _chat(*args, **kwargs)

            def reading(session: SqlSession) -> T:
                if chat and not bare:
                    require(session, *chat)
                return work(self, session, *args, **kwargs)

            return await self.database.read(reading, about or chat)

        return run

    return method


def writes(*about: str, said: bool = False, bare: bool = False) -> Callable[[Work[R, P, T]], Method[R, P, T]]:
    """As `reads`, of what writes; `said`: messages, which will be searched for."""

    def method(work: Work[R, P, T]) -> Method[R, P, T]:
        @wraps(work)
        async def run(self: R, *args: P.args, **kwargs: P.kwargs) -> T:
            chat = () if about else _chat(*args, **kwargs)

            def writing(session: SqlSession) -> T:
                if chat and not bare:
                    require(session, *chat)
                return work(self, session, *args, **kwargs)

            try:
                return await self.database.write(writing, about or chat)
            finally:
                if said:
                    self.said()

        return run

    return method


def _chat(*args: Any, **kwargs: Any) -> tuple[str]:
    first = args[0] if args else next(iter(kwargs.values()))
    return (first if isinstance(first, str) else getattr(first, "chat_id", None) or first.id,)
