"""Values of stored rows. Damaged rows never fail: what can be read of them is kept, and every loss is listed (D-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast

from codelaw.adapters.stores.rows.checks import checksum, verify
from codelaw.adapters.stores.rows.codec import (
    Unreadable,
    decoder,
    from_text,
    legible,
    parsed,
    salvaged,
    salvaged_values,
    whole,
)
from codelaw.domain.chats import Chat, StoredTurn, Todo
from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion, ThreadSummary
from codelaw.domain.messages import Message, Metadata, Role
from codelaw.domain.permissions import AuditEntry, Grant
from codelaw.transcript.repair.repairs import altered

T = TypeVar("T")
Row = tuple[Any, ...]

_TURN = 1
"""Of a message's row, as `Reading.message` takes it."""
_TURN_NUMBER = 7
"""Of a turn's row."""
_CHAT = ("id", "title", "kind", "mode", "model", "strategy", "created_at", "updated_at", "turns", "generation")
_LEAST = {"mode": "ask", "strategy": "layered", "created_at": 0.0, "updated_at": 0.0, "effort": None}
"""What a chat may do, and is, where that was damaged."""
_NO_TURN = {"status": "ended", "started_at": 0.0, "last_usage": None, "stop_reason": None}
_GRANT = ("id", "rule", "scope", "folder", "person")
_AUDIT = ("chat_id", "at", "kind", "tool", "title", "decision", "by", "rule", "detail", "folder", "person")
_NO_FACTS = Metadata()
_role = decoder(Role)  # made once: to look it up takes longer than to decode a word


class Reading:
    """What was read so far: each method makes a value of one row, or None when nothing of it can be used."""

    def __init__(self) -> None:
        self.losses: list[str] = []
        """What was not whole, in words for a person."""

    def all(self, read: Callable[[Row], T | None], rows: Iterable[Row]) -> tuple[T, ...]:
        """The values of rows, in order; those that cannot be used are left out."""
        return tuple(value for row in rows if (value := read(row)) is not None)

    def chat(self, row: Row) -> Chat:
        """As `chats` selects it, up to `checksum`."""
        chosen, places, effort, check = row[10:]
        stored: dict[str, Any] = dict(zip(_CHAT, row, strict=False))
        settings = [stored[name] for name in ("title", "mode", "model", "strategy")]
        stored["chosen"], stored["effort"] = chosen == 1, effort or None
        stored["places"] = [place for place in legible(places).split("\n") if place]
        sound = check == checksum(stored["id"], *settings, chosen, places, effort)
        return self._kept(Chat, stored, _LEAST, "the title or the settings of the chat", sound=sound)

    def turn(self, row: Row) -> StoredTurn:
        """`id, chat_id, status, owner, started_at, last_usage, stop_reason, number, checksum`."""
        names = ("id", "chat_id", "status", "owner", "started_at")
        id_, chat_id, _, _, started_at, usage, stop, number, check = row
        stored = {**dict(zip(names, row, strict=False)), "last_usage": _json(usage), "stop_reason": stop}
        sound = check == checksum(chat_id, id_, number, started_at)
        return self._kept(StoredTurn, stored, _NO_TURN, f"the state of turn {legible(id_)}", sound=sound)

    def message(self, row: Row) -> Message | None:
        """`id, turn_id, role, content, metadata, chat_id, number, checksum`. Without a role nobody can say who spoke.

        One that is not as it was written says so itself.
        """
        id_, turn_id, role, content, metadata, chat_id, number, check = row
        what = f"message {legible(id_)} of turn {legible(turn_id)}"
        try:
            said_by: Role = _role(role)
        except Unreadable:
            self.losses.append(f"{what}: nobody can say who spoke")
            return None
        try:
            verify(check, chat_id, id_, turn_id, role, content, metadata, number)
            facts = _NO_FACTS if metadata == "{}" else from_text(Metadata, metadata)
            return Message(whole(id_), whole(turn_id), said_by, whole(content), facts)
        except Unreadable:
            self.losses.append(what)
            found = Message(legible(id_), legible(turn_id), said_by, legible(content), salvaged(Metadata, metadata))
            return altered(found)

    def todos(self, row: Row) -> tuple[Todo, ...]:
        """The todo list of a chat: `todos, todos_checksum, id`. What can be read of it is kept."""
        text, check, id_ = row
        each, listed = Reading(), _json(text)
        tasks = cast("list[Row]", listed) if isinstance(listed, list) else [()]
        found = each.all(lambda one: each._whole(Todo, one, ""), tasks)
        if each.losses or check != checksum(id_, text):
            self.losses.append("the list of tasks")
        return found

    def checkpoint(self, row: Row) -> Checkpoint | None:
        """`body, chat_id, id, checksum`. One that cannot be read whole cuts nothing: too much is better than little."""
        return self._body(Checkpoint, row, f"the compaction {legible(row[2])}, which is taken back")

    def thread_summary(self, row: Row) -> ThreadSummary | None:
        """`body, chat_id, covers, checksum`. One that cannot be read whole is written anew."""
        return self._body(ThreadSummary, row, "the rolling summary, which is written anew")

    def demotion(self, row: Row) -> Demotion | None:
        """`message_id, part`."""
        what = f"the demotion of message {legible(row[0])}"
        return self._whole(Demotion, {"message_id": row[0], "part": row[1]}, what)

    def aside(self, row: Row) -> Aside | None:
        """`message_id, name, body, about, chat_id, checksum`. One that cannot be read whole is shown no more."""
        message_id, name, body, about, chat_id, check = row
        reported = legible(about).split("\n") if about else []
        stored = {"message_id": message_id, "name": name, "text": body, "about": reported}
        sound = check == checksum(chat_id, message_id, name, body, about)
        return self._whole(Aside, stored, f"what stood behind message {legible(message_id)}", sound=sound)

    def grant(self, row: Row) -> Grant | None:
        """`id, rule, scope, folder, person, checksum`. A permission that cannot be read whole is none."""
        *stored, check = row
        sound = check == checksum(*stored)
        return self._whole(
            Grant, dict(zip(_GRANT, stored, strict=True)), f"the permission {legible(row[0])}", sound=sound
        )

    def audit(self, row: Row) -> AuditEntry | None:
        """`chat_id, at, kind, tool, title, decision, by, rule, detail, folder, person`."""
        stored = {name: legible(value or "") for name, value in zip(_AUDIT, row, strict=True)}
        return self._whole(AuditEntry, stored | {"at": row[1]}, "an entry of the record")

    def text(self, row: Row) -> str:
        """One text."""
        try:
            return whole(row[0])
        except Unreadable:
            self.losses.append("the state of the chat")
            return legible(row[0])

    def _body(self, kind: type[T], row: Row, what: str) -> T | None:
        body, chat_id, id_, check = row
        return self._whole(kind, _json(body), what, sound=check == checksum(chat_id, id_, body))

    def _whole(self, kind: type[T], stored: Any, what: str, *, sound: bool = True) -> T | None:
        try:
            if sound:
                return decoder(kind)(stored)
        except Unreadable:
            pass  # it is a loss, too
        self.losses.append(what)
        return None

    def _kept(self, kind: type[T], stored: dict[str, Any], otherwise: dict[str, Any], what: str, *, sound: bool) -> T:
        values = salvaged_values(kind, stored)
        if not sound or len(values) < len(stored):
            self.losses.append(what)
        for name in stored.keys() - values.keys():
            values[name] = otherwise[name] if name in otherwise else legible(stored[name])
        return kind(**values)


def _json(text: Any) -> Any:
    """The JSON values of a column, itself where it is none: no value is made of that."""
    try:
        found = None if text is None else parsed(text)
    except Unreadable:
        return text
    return text if found is None else found


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
