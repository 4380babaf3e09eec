"""Events as rows."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from codelaw.adapters.stores.chat_rows import require, unknown_chat
from codelaw.adapters.stores.codec import Unreadable, decoder, legible, parsed, to_text
from codelaw.adapters.stores.database import Session
from codelaw.domain.events import AnswerDelta, ChatEvent, Event, ThoughtDelta


def append(session: Session, chat_id: str, turn_id: str, events: Sequence[tuple[float, Event]]) -> list[int]:
    count = session.execute("UPDATE chats SET seq = seq + ? WHERE id = ? RETURNING seq", (len(events), chat_id))
    row = count.fetchone()
    if row is None:
        raise unknown_chat(chat_id)
    numbers = list(range(row[0] - len(events) + 1, row[0] + 1))
    session.execute_many(
        "INSERT INTO events (chat_id, seq, turn_id, at, body) VALUES (?, ?, ?, ?, ?)",
        [(chat_id, seq, turn_id, at, to_text(event)) for seq, (at, event) in zip(numbers, events, strict=True)],
    )
    return numbers


def last_compaction(session: Session, chat_id: str) -> ChatEvent | None:
    require(session, chat_id)
    rows = session.execute(
        "SELECT seq, turn_id, at, body FROM events"
        """ WHERE chat_id = ? AND body LIKE '%"kind":"compaction"%' ORDER BY seq DESC LIMIT 1""",
        (chat_id,),
    )
    return next((found for row in rows if (found := _read(chat_id, row)) is not None), None)


def since(session: Session, chat_id: str, seq: int) -> list[ChatEvent]:
    require(session, chat_id)
    rows = session.execute(
        "SELECT seq, turn_id, at, body FROM events WHERE chat_id = ? AND seq > ? ORDER BY seq", (chat_id, seq)
    )
    return readable(chat_id, rows)


def readable(chat_id: str, rows: Iterable[tuple[Any, ...]]) -> list[ChatEvent]:
    """The events of rows of `seq, turn_id, at, body`; those that are damaged are left out."""
    return [found for row in rows if (found := _read(chat_id, row)) is not None]


def merge_deltas(session: Session, chat_id: str, turn_id: str) -> None:
    """Merge neighbouring deltas of one kind and step into the last of them."""
    require(session, chat_id)
    rows = session.execute(
        "SELECT seq, body FROM events WHERE chat_id = ? AND turn_id = ? ORDER BY seq", (chat_id, turn_id)
    ).fetchall()
    run: list[tuple[int, ThoughtDelta | AnswerDelta]] = []
    for seq, body in rows:
        event = _event(chat_id, seq, body)
        if not isinstance(event, ThoughtDelta | AnswerDelta):
            _fold(session, chat_id, run)
            run = []
            continue
        if run and (run[-1][1].kind, run[-1][1].step) != (event.kind, event.step):
            _fold(session, chat_id, run)
            run = []
        run.append((seq, event))
    _fold(session, chat_id, run)


def _fold(session: Session, chat_id: str, run: list[tuple[int, ThoughtDelta | AnswerDelta]]) -> None:
    if len(run) < 2:
        return
    last_seq, last = run[-1]
    merged = replace(last, delta="".join(event.delta for _, event in run))
    session.execute("UPDATE events SET body = ? WHERE chat_id = ? AND seq = ?", (to_text(merged), chat_id, last_seq))
    session.execute_many("DELETE FROM events WHERE chat_id = ? AND seq = ?", [(chat_id, seq) for seq, _ in run[:-1]])


def _read(chat_id: str, row: tuple[Any, ...]) -> ChatEvent | None:
    seq, turn_id, at, body = row
    event = _event(chat_id, seq, body)
    if event is None:
        return None
    return ChatEvent(chat_id, legible(turn_id), seq, at if isinstance(at, float) else 0.0, event)


def _event(chat_id: str, seq: int, body: str | bytes) -> Event | None:
    """The event, or None when its body is damaged: it stays in the file, and who listens misses one number."""
    try:
        event: Event = decoder(Event)(parsed(body))
    except Unreadable as error:
        logging.getLogger(__name__).warning("store: event %d of chat %s is damaged: %s", seq, chat_id, error)
        return None
    return event
