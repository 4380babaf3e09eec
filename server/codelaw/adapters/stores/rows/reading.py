"""Values of stored rows. Damaged rows never fail: what can be read of them is kept, and every loss is listed (D-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any, Literal, TypeVar, get_args

from codelaw.adapters.stores.rows.checks import as_written, checksum, verify
from codelaw.adapters.stores.rows.codec import (
    Decode,
    Unreadable,
    decoder,
    from_text,
    legible,
    salvaged,
    salvaged_items,
    whole,
)
from codelaw.domain.chats import Chat, Mode, StoredTurn, Strategy, Todo, TurnStatus, TurnStop
from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion, Part, ThreadSummary
from codelaw.domain.messages import Message, Metadata, Role
from codelaw.domain.models import Effort, Usage
from codelaw.domain.permissions import AuditEntry, AuditKind, By, Decided, Grant
from codelaw.transcript.repair.repairs import altered

T = TypeVar("T")
Row = tuple[Any, ...]
Scope = Literal["chat", "always"]

_TURN, _NUMBER = 1, 6
"""Of a message's row, as `Reading.message` takes it."""
_TURN_NUMBER = 7
"""Of a turn's row."""

# Made once: to look a decoder up by such a type takes longer than to decode a word of it.
_MODE, _STRATEGY, _STATUS, _STOP = decoder(Mode), decoder(Strategy), decoder(TurnStatus), decoder(TurnStop | None)
_ROLE, _PART, _SCOPE = decoder(Role), decoder(Part), decoder(Scope)
_KIND, _DECIDED, _BY = decoder(AuditKind), decoder(Decided), decoder(By)
_FLOAT, _INT, _EFFORT = decoder(float), decoder(int), decoder(Effort | None)
_ROLES = frozenset(get_args(Role))
_NO_FACTS = Metadata()


class _Fields:
    """Of one row; `altered`: one of them is not as it was written."""

    def __init__(self, *, altered: bool) -> None:
        self.altered = altered

    def text(self, stored: Any) -> str:
        return self.value(whole, stored, None) or legible(stored)

    def value(self, decode: Decode, stored: Any, otherwise: Any) -> Any:
        try:
            return decode(stored)
        except Unreadable:
            self.altered = True
            return otherwise


class Reading:
    """What was read so far: each method makes a value of one row, or None when nothing of it can be used."""

    def __init__(self) -> None:
        self.losses: list[str] = []
        """What was not whole, in words for a person."""

    def all(self, read: Callable[[Row], T | None], rows: Iterable[Row]) -> tuple[T, ...]:
        """The values of rows, in order; those that cannot be used are left out."""
        return tuple(value for row in rows if (value := read(row)) is not None)

    def chat(self, row: Row) -> Chat:
        """As `chats` selects it, up to `checksum`. One that is damaged may do the least."""
        id_, title, kind, mode, model, strategy, created_at, updated_at, turns, generation, *more = row
        chosen, places, effort, check = more
        fields = _Fields(altered=check != checksum(id_, title, mode, model, strategy, chosen, places, effort))
        chat = Chat(
            id=fields.text(id_),
            title=fields.text(title),
            kind=fields.text(kind),
            mode=fields.value(_MODE, mode, "ask"),
            model=fields.text(model),
            strategy=fields.value(_STRATEGY, strategy, "layered"),
            created_at=fields.value(_FLOAT, created_at, 0.0),
            updated_at=fields.value(_FLOAT, updated_at, 0.0),
            turns=turns,
            generation=generation,
            chosen=fields.value(_INT, chosen, 0) != 0,
            places=tuple(place for place in fields.text(places).split("\n") if place),
            effort=fields.value(_EFFORT, effort or None, None),
        )
        if fields.altered:
            self.losses.append("the title or the settings of the chat")
        return chat

    def turn(self, row: Row) -> StoredTurn:
        """`id, chat_id, status, owner, started_at, last_usage, stop_reason, number, checksum`."""
        id_, chat_id, status, owner, started_at, usage, stop, number, check = row
        fields = _Fields(altered=check != checksum(chat_id, id_, number, started_at))
        turn = StoredTurn(
            id=fields.text(id_),
            chat_id=fields.text(chat_id),
            status=fields.value(_STATUS, status, "ended"),
            owner=fields.text(owner),
            started_at=fields.value(_FLOAT, started_at, 0.0),
            last_usage=fields.value(partial(from_text, Usage), usage, None) if usage else None,
            stop_reason=fields.value(_STOP, stop, None),
        )
        if fields.altered:
            self.losses.append(f"the state of turn {turn.id}")
        return turn

    def messages(self, rows: Iterable[Row]) -> tuple[Message, ...]:
        """As `all` with `message`; rows with nothing odd about them, which are nearly all, take a shorter way."""
        found: list[Message] = []
        for row in rows:
            id_, turn_id, role, content, metadata, chat_id, number, check = row
            try:
                if role in _ROLES and as_written(check, chat_id, id_, turn_id, role, content, metadata, number):
                    facts = _NO_FACTS if metadata == "{}" else from_text(Metadata, metadata)
                    found.append(Message(id_, turn_id, role, content, facts))
                    continue
            except Unreadable:
                pass  # `message` says what can be read of it
            odd = self.message(row)
            if odd is not None:
                found.append(odd)
        return tuple(found)

    def message(self, row: Row) -> Message | None:
        """`id, turn_id, role, content, metadata, chat_id, number, checksum`. Without a role nobody can say who spoke.

        One that is not as it was written says so itself.
        """
        id_, turn_id, role, content, metadata, chat_id, number, check = row
        try:
            said_by: Role = _ROLE(role)
        except Unreadable:
            self.losses.append(f"{_message(row)}: nobody can say who spoke")
            return None
        try:
            verify(check, chat_id, id_, turn_id, role, content, metadata, number)
            return Message(whole(id_), whole(turn_id), said_by, whole(content), from_text(Metadata, metadata))
        except Unreadable:
            self.losses.append(_message(row))
            found = Message(legible(id_), legible(turn_id), said_by, legible(content), salvaged(Metadata, metadata))
            return altered(found)

    def todos(self, row: Row) -> tuple[Todo, ...]:
        """The todo list of a chat: `todos, todos_checksum, id`."""
        text, check, id_ = row
        try:
            verify(check, id_, text)
            return from_text(tuple[Todo, ...], text)
        except Unreadable:
            self.losses.append("the list of tasks")
            return salvaged_items(Todo, text)

    def checkpoint(self, row: Row) -> Checkpoint | None:
        """`body, chat_id, id, checksum`. One that cannot be read whole cuts nothing: too much is better than little."""
        body, chat_id, id_, check = row

        def read() -> Checkpoint:
            verify(check, chat_id, id_, body)
            return from_text(Checkpoint, body)

        return self._whole(read, f"the compaction {legible(id_)}, which is taken back")

    def thread_summary(self, row: Row) -> ThreadSummary | None:
        """`body, chat_id, covers, checksum`. One that cannot be read whole is written anew."""
        body, chat_id, covers, check = row

        def read() -> ThreadSummary:
            verify(check, chat_id, covers, body)
            return from_text(ThreadSummary, body)

        return self._whole(read, "the rolling summary, which is written anew")

    def demotion(self, row: Row) -> Demotion | None:
        """`message_id, part`."""
        shown = f"the demotion of message {legible(row[0])}"
        return self._whole(lambda: Demotion(whole(row[0]), _PART(row[1])), shown)

    def aside(self, row: Row) -> Aside | None:
        """`message_id, name, body, about, chat_id, checksum`. One that cannot be read whole is shown no more."""
        message_id, name, body, about, chat_id, check = row

        def read() -> Aside:
            verify(check, chat_id, message_id, name, body, about)
            return Aside(whole(message_id), whole(name), whole(body), tuple(whole(about).split("\n")) if about else ())

        return self._whole(read, f"what stood behind message {legible(message_id)}")

    def grant(self, row: Row) -> Grant | None:
        """`id, rule, scope, folder, person, checksum`. A permission that cannot be read whole is none."""
        id_, rule, scope, folder, person, check = row

        def read() -> Grant:
            verify(check, id_, rule, scope, folder, person)
            return Grant(whole(id_), whole(rule), _SCOPE(scope), whole(folder), whole(person))

        return self._whole(read, f"the permission {legible(id_)}")

    def audit(self, row: Row) -> AuditEntry | None:
        """`chat_id, at, kind, tool, title, decision, by, rule, detail, folder, person`."""
        chat_id, at, kind, tool, title, decision, by, *rest = row
        rule, detail, folder, person = map(legible, rest)
        return self._whole(
            lambda: AuditEntry(
                at=_FLOAT(at),
                chat_id="" if chat_id is None else legible(chat_id),
                kind=_KIND(kind),
                tool=legible(tool),
                title=legible(title),
                decision=_DECIDED(decision),
                by=_BY(by),
                rule=rule,
                detail=detail,
                folder=folder,
                person=person,
            ),
            "an entry of the record",
        )

    def text(self, row: Row) -> str:
        """One text."""
        try:
            return whole(row[0])
        except Unreadable:
            self.losses.append("the state of the chat")
            return legible(row[0])

    def _whole(self, read: Callable[[], T], what: str) -> T | None:
        try:
            return read()
        except Unreadable:
            self.losses.append(what)
            return None


def _message(row: Row) -> str:
    return f"message {legible(row[0])} of turn {legible(row[1])}"


def in_order(messages: Sequence[Row]) -> list[Row]:
    """Messages by turns, each turn's in the order in which they were said."""
    ordered: list[Row] = []
    for _, some in groupby(messages, lambda row: row[_TURN]):
        together = list(some)
        numbers = [row[_NUMBER] for row in together]
        if all(type(number) is int for number in numbers) and any(one > other for one, other in pairwise(numbers)):
            together.sort(key=lambda row: row[_NUMBER])
        ordered += together
    return ordered


def missing(said: Mapping[Any, Any], messages: Sequence[Row]) -> Iterator[str]:
    """What is missing of turns, in words for a person; `said` are the messages of each turn by its id."""
    there = Counter(row[_TURN] for row in messages)
    for turn_id, count in said.items():
        lost = count - there[turn_id] if type(count) is int else 0
        if lost > 0:
            yield f"{_many(lost, 'message')} of turn {legible(turn_id)}, missing"


def missing_turns(begun: Any, turns: Sequence[Row]) -> Iterator[str]:
    """What is missing of a chat that has had so many turns."""
    lost = begun - len(turns) if type(begun) is int else 0
    if lost > 0:
        yield f"{_many(lost, 'turn')}, missing"
    numbers = [row[_TURN_NUMBER] for row in turns if type(row[_TURN_NUMBER]) is int]
    if any(one > other for one, other in pairwise(numbers)):
        yield "the order of the turns"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
