"""What the rows need of a database, whichever it is: statements in a transaction, and who else lives (D-3, D-4)."""

from __future__ import annotations

import base64
import json
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

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


Parameters = tuple[Any, ...]
Dialect = Literal["sqlite", "postgresql"]


class SqlSession(Protocol):
    """The connection as work in its thread sees it; parameters are written as `?`."""

    dialect: Dialect
    """For the few statements that both databases do not spell alike."""
    row_lock: str
    """What a SELECT ends with whose rows nobody else may change until the end of a transaction that writes.

    Empty in one that reads, and where the whole database is locked already.
    """

    def execute(self, sql: str, parameters: Parameters = ()) -> Any:
        """A cursor, whichever the database's module has."""
        ...

    def execute_many(self, sql: str, rows: list[Parameters]) -> None: ...

    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """All or nothing.

        One that only reads sees one moment. In one that writes what is read stays true until the end: in SQLite all of
        it, in PostgreSQL what belongs to rows that were read with `row_lock`; a chat's own row stands for all of it.
        """
        ...


class Owners(Protocol):
    """Which server instances live; this one from `begin` until `end`. All is called in threads of the database."""

    @property
    def id(self) -> str: ...

    def is_alive(self, owner: str) -> bool: ...

    def begin(self) -> None: ...

    def end(self) -> None: ...
