"""A page of a chat as rows: some turns in a row, with what lies between them."""

from __future__ import annotations

from codelaw.adapters.stores.rows import chat_rows, event_rows
from codelaw.adapters.stores.rows.chat_rows import IsAlive
from codelaw.adapters.stores.rows.counts import in_order, missing
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.events import ChatEvent
from codelaw.domain.reports import ChatRecord

_END = 2**63 - 1
"""Behind every position and number."""

# CROSS JOIN keeps SQLite from looking through all of a chat's messages and events for the few turns.
_OF_TURNS = (
    "FROM turns CROSS JOIN {0} WHERE turns.chat_id = ? AND turns.position >= ? AND turns.position < ?"
    " AND {0}.chat_id = turns.chat_id AND {0}.turn_id = turns.id"
)
_MESSAGES = f"SELECT {chat_rows.MESSAGE} {_OF_TURNS.format('messages')} ORDER BY turns.position, messages.position"
_EVENTS = f"SELECT seq, turn_id, at, body, events.checksum {_OF_TURNS.format('events')}"
_BEGINS = f"SELECT min(seq) {_OF_TURNS.format('events')}"


def page(session: Session, is_alive: IsAlive, chat_id: str, turns: int | None, before: str | None) -> ChatRecord:
    """The newest `turns` turns before the turn `before`; None: all, and up to the end.

    What happened between two turns belongs to the page of the earlier one, so that pages have no gap and no overlap.
    """
    chat = chat_rows.chat(session, is_alive, chat_id)
    until = _END if before is None else _position(session, chat_id, before)
    limit = _END if turns is None else turns + 1
    found = session.execute(
        "SELECT position, id, said FROM turns WHERE chat_id = ? AND position < ? ORDER BY position DESC LIMIT ?",
        (chat_id, until, limit),
    ).fetchall()
    earlier = turns is not None and len(found) > turns
    first = found[turns - 1][0] if turns is not None and earlier else 0
    if before is not None and not found:
        return ChatRecord(chat, (), (), chat.running)
    reading = Reading()
    rows = session.execute(_MESSAGES, (chat_id, first, until)).fetchall()
    messages = reading.messages(in_order(rows))
    events = _events(session, chat_id, first, until)
    said = {row[1]: row[2] for row in found if row[0] >= first}
    losses = (*reading.losses, *missing(said, rows))
    return ChatRecord(chat, messages, tuple(events), chat.running, earlier=earlier, losses=losses)


def _events(session: Session, chat_id: str, first: int, until: int) -> list[ChatEvent]:
    begin = _begin(session, chat_id, first) if first else 0
    end = _END if until == _END else _begin(session, chat_id, until)
    rows = session.execute(_EVENTS, (chat_id, first, until)).fetchall()
    rows += session.execute(
        "SELECT seq, turn_id, at, body, checksum FROM events"
        " WHERE chat_id = ? AND turn_id = '' AND seq >= ? AND seq < ?",
        (chat_id, begin, end),
    ).fetchall()
    rows.sort(key=lambda row: row[0])
    return event_rows.readable(chat_id, rows)


def _begin(session: Session, chat_id: str, position: int) -> int:
    """The number of the first event of that turn and of those behind it."""
    found = session.execute(_BEGINS, (chat_id, position, _END)).fetchone()[0]
    return _END if found is None else found


def _position(session: Session, chat_id: str, turn_id: str) -> int:
    row = session.execute("SELECT position FROM turns WHERE chat_id = ? AND id = ?", (chat_id, turn_id)).fetchone()
    if row is None:
        raise chat_rows.unknown_turn(turn_id)
    return row[0]
