"""Events as rows, by the number of each in its chat (D-2)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from codelaw.adapters.stores.repository import SqlRepository, reads, writes
from codelaw.adapters.stores.rows.checks import checksum, verify
from codelaw.adapters.stores.rows.codec import Unreadable, decoder, legible, parsed, to_text
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.domain.events import RESERVED, AnswerDelta, ChatEvent, Event, NoticeEvent, Numbers, ThoughtDelta

END = 2**63 - 1
"""Behind every position and number."""

# CROSS JOIN keeps SQLite from looking through all of a chat's messages and events for the few turns.
OF_TURNS = (
    "FROM turns CROSS JOIN {0} WHERE turns.chat_id = ? AND turns.position >= ? AND turns.position < ?"
    " AND {0}.chat_id = turns.chat_id AND {0}.turn_id = turns.id"
)
"""Rows of a table that belong to the turns between two positions."""
_EVENTS = f"SELECT seq, turn_id, at, body, events.checksum {OF_TURNS.format('events')}"
_BEGINS = f"SELECT min(seq) {OF_TURNS.format('events')}"
LOST = "What happened here was damaged on the disk and cannot be shown."


class SqlEvents(SqlRepository):
    """What happened in chats, by number (`ChatStore`)."""

    @writes()
    def append_events(
        self,
        session: SqlSession,
        chat_id: str,
        turn_id: str,
        events: Sequence[tuple[float, Event]],
        after: Numbers | None = None,
    ) -> list[int]:
        if after is None:
            count = session.execute("UPDATE chats SET seq = seq + ? WHERE id = ? RETURNING seq", (len(events), chat_id))
        else:
            count = session.execute(
                "UPDATE chats SET seq = ? + CASE WHEN seq = ? THEN ? ELSE seq + ? END WHERE id = ? RETURNING seq",
                (len(events), after.stored, after.given, RESERVED, chat_id),
            )
        last = count.fetchone()[0]
        numbers = list(range(last - len(events) + 1, last + 1))
        written = [(seq, turn_id, at, to_text(event)) for seq, (at, event) in zip(numbers, events, strict=True)]
        session.execute_many(
            "INSERT INTO events (chat_id, seq, turn_id, at, body, checksum) VALUES (?, ?, ?, ?, ?, ?)",
            [(chat_id, *row, checksum(chat_id, *row)) for row in written],
        )
        return numbers

    @writes()
    def reserve_numbers(self, session: SqlSession, chat_id: str) -> int:
        risen = "UPDATE chats SET seq = seq + ? WHERE id = ? RETURNING seq"
        return session.execute(risen, (RESERVED, chat_id)).fetchone()[0]

    @reads()
    def last_number(self, session: SqlSession, chat_id: str) -> int:
        return session.execute("SELECT seq FROM chats WHERE id = ?", (chat_id,)).fetchone()[0]

    @reads()
    def last_compaction(self, session: SqlSession, chat_id: str) -> ChatEvent | None:
        rows = session.execute(
            "SELECT seq, turn_id, at, body, checksum FROM events"
            """ WHERE chat_id = ? AND body LIKE '%"kind":"compaction"%' ORDER BY seq DESC LIMIT 1""",
            (chat_id,),
        )
        return next(iter(readable(chat_id, (row for row in rows if event_of(chat_id, row) is not None))), None)

    @reads()
    def events(self, session: SqlSession, chat_id: str, since: int) -> list[ChatEvent]:
        rows = session.execute(
            "SELECT seq, turn_id, at, body, checksum FROM events WHERE chat_id = ? AND seq > ? ORDER BY seq",
            (chat_id, since),
        )
        return readable(chat_id, rows)

    @writes()
    def merge_deltas(self, session: SqlSession, chat_id: str, turn_id: str) -> None:
        rows = session.execute(
            "SELECT seq, turn_id, at, body, checksum FROM events WHERE chat_id = ? AND turn_id = ? ORDER BY seq",
            (chat_id, turn_id),
        ).fetchall()
        told = [(row, event_of(chat_id, row)) for row in rows]
        for _, some in groupby(told, lambda one: _run_of(*one)):
            run = list(some)
            (seq, _, at, _, _), last = run[-1]
            if len(run) > 1 and isinstance(last, ThoughtDelta | AnswerDelta):
                merged = replace(last, delta="".join(getattr(event, "delta", "") for _, event in run))
                rewrite(session, chat_id, (seq, turn_id, at), to_text(merged))
                session.execute_many(
                    "DELETE FROM events WHERE chat_id = ? AND seq = ?", [(chat_id, row[0]) for row, _ in run[:-1]]
                )


def _run_of(row: tuple[Any, ...], event: Event | None) -> object:
    """What deltas that can be one have in common; all else is alone."""
    return replace(event, delta="") if isinstance(event, ThoughtDelta | AnswerDelta) else row[0]


def readable(chat_id: str, rows: Iterable[tuple[Any, ...]]) -> list[ChatEvent]:
    """The events of rows of `seq, turn_id, at, body, checksum`; a notice stands for one that is damaged."""
    found = ((row, event_of(chat_id, row) or NoticeEvent("warning", "record_damaged", LOST)) for row in rows)
    return [
        ChatEvent(chat_id, legible(row[1]), row[0], row[2] if isinstance(row[2], float) else 0.0, event)
        for row, event in found
    ]


def rewrite(session: SqlSession, chat_id: str, of: tuple[int, str | bytes, float], body: str) -> None:
    """Give the event of that number, turn and time another body."""
    session.execute(
        "UPDATE events SET body = ?, checksum = ? WHERE chat_id = ? AND seq = ?",
        (body, checksum(chat_id, *of, body), chat_id, of[0]),
    )


def event_of(chat_id: str, row: tuple[Any, ...]) -> Event | None:
    """The event of a row of `seq, turn_id, at, body, checksum`, or None when it is damaged: it stays in the file."""
    seq, turn_id, at, body, check = row
    try:
        verify(check, chat_id, seq, turn_id, at, body)
        event: Event = decoder(Event)(parsed(body))
    except Unreadable as error:
        logging.getLogger(__name__).warning("store: event %d of chat %s is damaged: %s", seq, chat_id, error)
        return None
    return event


def events_between(session: SqlSession, chat_id: str, first: int, until: int) -> list[ChatEvent]:
    """What happened from the turn at `first` on, before that at `until`."""
    begin = _begin(session, chat_id, first) if first else 0
    end = END if until == END else _begin(session, chat_id, until)
    rows: list[Any] = session.execute(_EVENTS, (chat_id, first, until)).fetchall()
    rows += session.execute(
        "SELECT seq, turn_id, at, body, checksum FROM events"
        " WHERE chat_id = ? AND turn_id = '' AND seq >= ? AND seq < ?",
        (chat_id, begin, end),
    ).fetchall()
    rows.sort(key=lambda row: row[0])
    return readable(chat_id, rows)


def _begin(session: SqlSession, chat_id: str, position: int) -> int:
    """The number of the first event of that turn and of those behind it."""
    found = session.execute(_BEGINS, (chat_id, position, END)).fetchone()[0]
    return END if found is None else found
