"""Values of stored rows. Damaged rows never fail: what can be read of them is kept, and they are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

from codelaw.adapters.stores.codec import (
    Unreadable,
    from_text,
    legible,
    salvaged,
    salvaged_items,
    valid,
    whole,
)
from codelaw.domain.audit import AuditEntry, AuditKind, By, Decided
from codelaw.domain.chats import Chat, Mode, StoredTurn, Strategy, Todo, TurnStatus, TurnStop
from codelaw.domain.checkpoints import Checkpoint, Demotion, ThreadSummary
from codelaw.domain.messages import Message, Metadata, Role
from codelaw.domain.models import Usage
from codelaw.domain.permissions import Grant

T = TypeVar("T")
Row = tuple[Any, ...]
Part = Literal["result", "arguments"]
Scope = Literal["chat", "always"]

_STOP = TurnStop | None


class Reading:
    """What was read so far: each method makes a value of one row, or None when nothing of it can be used."""

    def __init__(self) -> None:
        self.damaged = 0
        """Rows that were not whole."""

    def all(self, read: Callable[[Row], T | None], rows: Iterable[Row]) -> tuple[T, ...]:
        """The values of rows, in order; those that cannot be used are left out."""
        return tuple(value for row in rows if (value := read(row)) is not None)

    def chat(self, row: Row) -> Chat:
        """`id, title, kind, mode, model, strategy, created_at, updated_at, turns, generation, chosen, places`."""
        id_, title, kind, mode, model, strategy, created_at, updated_at, turns, generation, chosen, places = row
        try:
            return Chat(
                whole(id_),
                whole(title),
                whole(kind),
                valid(Mode, mode),
                whole(model),
                valid(Strategy, strategy),
                valid(float, created_at),
                valid(float, updated_at),
                turns,
                generation=generation,
                chosen=valid(int, chosen) != 0,
                places=_places(whole(places)),
            )
        except Unreadable:
            self.damaged += 1
            return Chat(
                legible(id_),
                legible(title),
                legible(kind),
                _either(Mode, mode, "ask"),  # the mode that may do least
                legible(model),
                _either(Strategy, strategy, "layered"),
                _either(float, created_at, 0.0),
                _either(float, updated_at, 0.0),
                turns,
                generation=generation,
                chosen=_either(int, chosen, 0) != 0,
                places=_places(legible(places)),
            )

    def turn(self, row: Row) -> StoredTurn:
        """`id, chat_id, status, owner, started_at, last_usage, stop_reason`."""
        id_, chat_id, status, owner, started_at, usage, stop = row
        try:
            return StoredTurn(
                whole(id_),
                whole(chat_id),
                valid(TurnStatus, status),
                whole(owner),
                valid(float, started_at),
                from_text(Usage, usage) if usage else None,
                valid(_STOP, stop),
            )
        except Unreadable:
            self.damaged += 1
            return StoredTurn(
                legible(id_),
                legible(chat_id),
                _either(TurnStatus, status, "ended"),
                legible(owner),
                _either(float, started_at, 0.0),
                _usage(usage) if usage else None,
                _either(_STOP, stop, None),
            )

    def message(self, row: Row) -> Message | None:
        """`id, turn_id, role, content, metadata`. Without a role nobody can say who spoke."""
        id_, turn_id, role, content, metadata = row
        try:
            said_by: Role = valid(Role, role)
        except Unreadable:
            self.damaged += 1
            return None
        try:
            return Message(whole(id_), whole(turn_id), said_by, whole(content), from_text(Metadata, metadata))
        except Unreadable:
            self.damaged += 1
            return Message(legible(id_), legible(turn_id), said_by, legible(content), salvaged(Metadata, metadata))

    def todos(self, text: str | bytes) -> tuple[Todo, ...]:
        """The todo list of a chat."""
        try:
            return from_text(tuple[Todo, ...], text)
        except Unreadable:
            self.damaged += 1
            return salvaged_items(Todo, text)

    def checkpoint(self, row: Row) -> Checkpoint | None:
        """`body`. A cut that cannot be read whole cuts nothing: too much is shown, not too little."""
        return self._whole(lambda: from_text(Checkpoint, row[0]))

    def thread_summary(self, row: Row) -> ThreadSummary | None:
        """`body`. One that cannot be read whole is written anew."""
        return self._whole(lambda: from_text(ThreadSummary, row[0]))

    def demotion(self, row: Row) -> Demotion | None:
        """`message_id, part`."""
        return self._whole(lambda: Demotion(whole(row[0]), valid(Part, row[1])))

    def grant(self, row: Row) -> Grant | None:
        """`id, rule, scope, folder, person`. A permission that cannot be read whole is none."""
        return self._whole(
            lambda: Grant(whole(row[0]), whole(row[1]), valid(Scope, row[2]), whole(row[3]), whole(row[4]))
        )

    def audit(self, row: Row) -> AuditEntry | None:
        """`chat_id, at, kind, tool, title, decision, by, rule, detail, folder, person`."""
        chat_id, at, kind, tool, title, decision, by, *rest = row
        rule, detail, folder, person = map(legible, rest)
        return self._whole(
            lambda: AuditEntry(
                valid(float, at),
                "" if chat_id is None else legible(chat_id),
                valid(AuditKind, kind),
                legible(tool),
                legible(title),
                valid(Decided, decision),
                valid(By, by),
                *(rule, detail, folder, person),
            )
        )

    def text(self, row: Row) -> str:
        """One text."""
        try:
            return whole(row[0])
        except Unreadable:
            self.damaged += 1
            return legible(row[0])

    def _whole(self, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except Unreadable:
            self.damaged += 1
            return None


def _places(text: str) -> tuple[str, ...]:
    return tuple(place for place in text.split("\n") if place)


def _either(kind: Any, value: Any, otherwise: Any) -> Any:
    try:
        return valid(kind, value)
    except Unreadable:
        return otherwise


def _usage(text: Any) -> Usage | None:
    try:
        return from_text(Usage, text)
    except Unreadable:
        return None
