"""Chats, turns and messages as rows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from codelaw.adapters.stores.rows import aside_rows, cursors, search_rows
from codelaw.adapters.stores.rows.checks import checksum, verify
from codelaw.adapters.stores.rows.codec import Unreadable, from_text, legible, to_text, whole
from codelaw.adapters.stores.rows.counts import in_order, missing, missing_turns
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.chats import Chat, ChatHead, StoredChat, StoredTurn, Todo
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Message

IsAlive = Callable[[str], bool]
Running = dict[str | bytes, list[StoredTurn]]
"""Turns by their chats."""

MAX_LISTED = 500
MAX_ASKED = 500
"""Results that one statement asks for."""
_NEXT = 0.001
"""Seconds by which a chat is put behind the newest other one."""

_CHAT = (
    "SELECT id, title, kind, mode, model, strategy, created_at, updated_at,"
    " (SELECT count(*) FROM turns WHERE chat_id = chats.id), CAST(generation AS INTEGER), chosen, places, effort,"
    " checksum, settled, todos, begun, todos_checksum FROM chats"
)
_CHECKPOINTS = "SELECT body, chat_id, id, checksum FROM checkpoints WHERE chat_id = ? AND undone = 0 ORDER BY position"
_TURNS = (
    "SELECT id, chat_id, status, owner, started_at, last_usage, stop_reason, number, checksum, said"
    " FROM turns WHERE chat_id"
)
_NUMBERS = "SELECT 0, 0, 0, 0, 0, 0, 0, number FROM turns WHERE chat_id = ? ORDER BY position"
"""Turns of which nothing else is asked."""
MESSAGE = "messages.id, messages.turn_id, role, content, metadata, messages.chat_id, messages.number, messages.checksum"
"""As `Reading.message` takes it."""


def require(session: Session, chat_id: str) -> None:
    """Refuse an unknown chat. In a transaction that writes nobody else writes to it from here on."""
    known = f"SELECT 1 FROM chats WHERE id = ?{session.row_lock}"  # noqa: S608 - our own words
    if session.execute(known, (chat_id,)).fetchone() is None:
        raise unknown_chat(chat_id)


def unknown_chat(chat_id: str) -> Refusal:
    shown = chat_id.encode("ascii", "backslashreplace").decode()[:80]
    return Refusal("chat_not_found", f"There is no chat {shown!r}.", "List the chats to see their ids.")


def unknown_turn(turn_id: str) -> Refusal:
    shown = turn_id.encode("ascii", "backslashreplace").decode()[:80]
    return Refusal("turn_not_found", f"There is no turn {shown!r} in this chat.", "Read the chat to see its turns.")


def create(session: Session, chat: Chat, folders: Collection[str] = ()) -> None:
    session.execute(
        "INSERT INTO chats (id, kind, created_at, updated_at, title, mode, model, strategy, chosen, places, effort,"
        " checksum, todos, todos_checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?)",
        (chat.id, chat.kind, chat.created_at, chat.updated_at, *_settings(chat), checksum(chat.id, "[]")),
    )
    keep_folders(session, chat.id, folders)


def keep_folders(session: Session, chat_id: str, folders: Collection[str]) -> None:
    """Note where a chat was begun, so that the chats of a workspace can be listed."""
    for folder in dict.fromkeys(folders):
        session.execute("INSERT INTO chat_folders (chat_id, folder) VALUES (?, ?)", (chat_id, folder))


def update(session: Session, chat: Chat) -> None:
    written = session.execute(
        "UPDATE chats SET title = ?, mode = ?, model = ?, strategy = ?, chosen = ?, places = ?, effort = ?,"
        " checksum = ?, updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at END WHERE id = ?",
        (*_settings(chat), chat.updated_at, chat.updated_at, chat.id),
    )
    if not written.rowcount:
        raise unknown_chat(chat.id)


def delete(session: Session, chat_id: str) -> None:
    if not session.execute("DELETE FROM chats WHERE id = ?", (chat_id,)).rowcount:
        raise unknown_chat(chat_id)


def listed(  # noqa: PLR0917 - as the port has it
    session: Session,
    is_alive: IsAlive,
    query: str | None,
    limit: int,
    cursor: str | None,
    folders: Collection[str] | None = None,
    *,
    by_index: bool = True,
) -> tuple[list[Chat], str | None]:
    conditions: list[str] = []
    parameters: list[Any] = []
    if query:
        said, asked = search_rows.condition(session, query, by_index=by_index)
        conditions.append(f"({search_rows.HOLDS[session.dialect].format('title')} OR {said})")
        parameters += [query.casefold(), *asked]
    if folders is not None:
        among = ", ".join("?" * len(folders)) or "NULL"
        conditions.append(f"id IN (SELECT chat_id FROM chat_folders WHERE folder IN ({among}))")  # noqa: S608 - ours
        parameters += folders
    if cursor is not None:
        conditions.append("(updated_at, id) < (?, ?)")
        parameters += cursors.place(cursor)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    count = max(1, min(limit, MAX_LISTED))
    rows = session.execute(
        f"{_CHAT}{where} ORDER BY updated_at DESC, id DESC LIMIT ?", (*parameters, count + 1)
    ).fetchall()
    running = _running(session, [row[0] for row in rows[:count]])
    chats = [_chat(running, is_alive, Reading(), row) for row in rows[:count]]
    return chats, cursors.cursor(chats[-1].updated_at, chats[-1].id) if len(rows) > count else None


def begun(session: Session, limit: int) -> list[tuple[str, float]]:
    rows = session.execute("SELECT chat_id, started_at FROM turns ORDER BY position DESC LIMIT ?", (limit,))
    return [(str(chat_id), at) for chat_id, at in rows if isinstance(at, float)]


def chat(session: Session, is_alive: IsAlive, chat_id: str) -> Chat:
    row = _row(session, chat_id)
    return _chat(_running(session, [row[0]]), is_alive, Reading(), row)


def head(session: Session, is_alive: IsAlive, chat_id: str) -> ChatHead:
    row = _row(session, chat_id)
    running = _running(session, [row[0]])
    reading = Reading()
    last = session.execute(f"{_TURNS} = ? ORDER BY position DESC LIMIT 1", (chat_id,)).fetchall()
    numbers = session.execute(_NUMBERS, (chat_id,)).fetchall()
    return ChatHead(
        chat=_chat(running, is_alive, reading, row),
        checkpoints=reading.all(reading.checkpoint, session.execute(_CHECKPOINTS, (chat_id,))),
        last=next(iter(reading.all(reading.turn, [turn[:9] for turn in last])), None),
        crashed=any(not is_alive(turn.owner) for turns in running.values() for turn in turns),
        losses=(*reading.losses, *missing_turns(row[16], numbers)),
    )


def load(session: Session, is_alive: IsAlive, chat_id: str) -> StoredChat:
    row = _row(session, chat_id)
    # Round by round: what closes a crashed turn may be written after the next turn has begun (D-4).
    messages = session.execute(
        f"SELECT {MESSAGE} FROM messages"  # noqa: S608 - our own words
        " LEFT JOIN turns ON turns.chat_id = messages.chat_id AND turns.id = messages.turn_id"
        " WHERE messages.chat_id = ? ORDER BY turns.position, messages.position",
        (chat_id,),
    ).fetchall()
    turns = session.execute(f"{_TURNS} = ? ORDER BY position", (chat_id,)).fetchall()
    notices = session.execute("SELECT code FROM notices WHERE chat_id = ?", (chat_id,))
    checkpoints = session.execute(_CHECKPOINTS, (chat_id,))
    demotions = session.execute(
        "SELECT message_id, part FROM demotions WHERE chat_id = ? ORDER BY position", (chat_id,)
    )
    withdrawn = session.execute("SELECT turn_id FROM withdrawn WHERE chat_id = ?", (chat_id,))
    summary = session.execute(
        "SELECT body, chat_id, covers, checksum FROM thread_summaries WHERE chat_id = ?", (chat_id,)
    ).fetchall()
    reading = Reading()
    return StoredChat(
        chat=_chat(_running(session, [row[0]]), is_alive, reading, row),
        messages=reading.messages(in_order(messages)),
        turns=reading.all(reading.turn, [turn[:9] for turn in turns]),
        todos=reading.todos((row[15], row[17], row[0])),
        notices=frozenset(reading.all(reading.text, notices)),
        checkpoints=reading.all(reading.checkpoint, checkpoints),
        demotions=reading.all(reading.demotion, demotions),
        asides=aside_rows.of_chat(session, chat_id, reading),
        withdrawn=frozenset(reading.all(reading.text, withdrawn)),
        thread_summary=next(iter(reading.all(reading.thread_summary, summary)), None),
        settled=reading.text(row[14:15]),
        losses=(*reading.losses, *missing_turns(row[16], turns), *missing(_said(turns), messages)),
    )


def begin_turn(session: Session, is_alive: IsAlive, turn: StoredTurn, user: Message) -> int:
    require(session, turn.chat_id)
    for other in _running(session, [turn.chat_id]).get(turn.chat_id, []):
        if is_alive(other.owner):
            hint = "Wait for it, steer it, or cancel it."
            raise Refusal("chat_busy", "A turn is already running in this chat.", hint)
    before: int = session.execute("SELECT count(*) FROM turns WHERE chat_id = ?", (turn.chat_id,)).fetchone()[0]
    number: int = session.execute(
        "UPDATE chats SET begun = begun + 1, updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at END"
        " WHERE id = ? RETURNING begun",
        (*[_moment(session, turn)] * 2, turn.chat_id),
    ).fetchone()[0]
    check = checksum(turn.chat_id, turn.id, number, turn.started_at)
    session.execute(
        "INSERT INTO turns (chat_id, id, status, owner, started_at, last_usage, stop_reason, number, said, checksum)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
        (
            *(turn.chat_id, turn.id, turn.status, turn.owner, turn.started_at, _usage(turn), turn.stop_reason),
            *(number, check),
        ),
    )
    add_messages(session, turn.chat_id, (user,))
    return before


def _moment(session: Session, turn: StoredTurn) -> float:
    """When the chat was used: after every other one, also by a clock that was set back since."""
    others = "SELECT updated_at FROM chats WHERE id <> ? ORDER BY updated_at DESC LIMIT 1"
    row = session.execute(others, (turn.chat_id,)).fetchone()
    newest = row[0] if row is not None and isinstance(row[0], float) else 0.0
    return max(turn.started_at, newest + _NEXT)


def end_turn(session: Session, turn: StoredTurn, messages: Sequence[Message]) -> None:
    require(session, turn.chat_id)
    written = session.execute(
        "UPDATE turns SET status = ?, owner = ?, last_usage = ?, stop_reason = ?"
        " WHERE chat_id = ? AND id = ? AND status = 'running'",
        (turn.status, turn.owner, _usage(turn), turn.stop_reason, turn.chat_id, turn.id),
    )
    if not written.rowcount:
        raise Refusal("turn_not_found", f"No turn {turn.id!r} runs in this chat.")
    # What was kept although its writer heard of a failure stands, and its place in the order with it.
    add_messages(session, turn.chat_id, messages, " ON CONFLICT (chat_id, id) DO NOTHING")


def take_over(session: Session, turn: StoredTurn, owner: str) -> bool:
    taken = "UPDATE turns SET owner = ? WHERE chat_id = ? AND id = ? AND owner = ? AND status <> 'running'"
    return bool(session.execute(taken, (owner, turn.chat_id, turn.id, turn.owner)).rowcount)


def refuse_ended(session: Session, chat_id: str, turn_ids: Collection[str]) -> None:
    """Refuse to write to a round that is closed, by a server that took ours for dead (D-4)."""
    for turn_id in turn_ids:
        ended = "SELECT 1 FROM turns WHERE chat_id = ? AND id = ? AND status <> 'running'"
        if session.execute(ended, (chat_id, turn_id)).fetchone() is not None:
            hint = "Send the message again to go on."
            raise Refusal(
                "turn_not_found", "Another codelaw ended this turn, because its server seemed to be dead.", hint
            )


def add_messages(session: Session, chat_id: str, messages: Sequence[Message], conflict: str = "") -> None:
    """Add messages, with their numbers in their turns; those of no turn have none."""
    for turn_id, some in groupby(messages, lambda message: message.turn_id):
        together = list(some)
        row = session.execute(
            "UPDATE turns SET said = said + ? WHERE chat_id = ? AND id = ? RETURNING said",
            (len(together), chat_id, turn_id),
        ).fetchone()
        last: int | None = None if row is None else row[0]
        number = None if last is None else last - len(together)
        for message in together:
            next_number = None if number is None else number + 1
            number = next_number if _add(session, chat_id, message, next_number, conflict) else number
        if number != last:
            session.execute("UPDATE turns SET said = ? WHERE chat_id = ? AND id = ?", (number, chat_id, turn_id))


def _add(session: Session, chat_id: str, message: Message, number: int | None, conflict: str) -> bool:
    values = (message.id, message.turn_id, message.role, message.content, to_text(message.metadata), number)
    added = session.execute(
        "INSERT INTO messages (chat_id, id, turn_id, role, content, metadata, number, checksum)"  # noqa: S608 - ours
        f" VALUES (?, ?, ?, ?, ?, ?, ?, ?){conflict}",
        (chat_id, *values, checksum(chat_id, *values)),
    )
    return added.rowcount > 0


def add_results(session: Session, chat_id: str, results: Sequence[tuple[str, dict[str, Any]]]) -> None:
    written = [(ref, to_text(body)) for ref, body in results]
    session.execute_many(
        "INSERT INTO results (chat_id, ref, body, checksum) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (chat_id, ref) DO UPDATE SET body = excluded.body, checksum = excluded.checksum",
        [(chat_id, ref, body, checksum(chat_id, ref, body)) for ref, body in written],
    )


def results(session: Session, chat_id: str, refs: Collection[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    asked = list(dict.fromkeys(refs))
    for begin in range(0, len(asked), MAX_ASKED):
        part = asked[begin : begin + MAX_ASKED]
        rows = session.execute(
            "SELECT ref, body, checksum FROM results WHERE chat_id = ?"  # noqa: S608 - only placeholders
            f" AND ref IN ({', '.join('?' * len(part))})",
            (chat_id, *part),
        )
        for ref, body, check in rows:
            try:
                verify(check, chat_id, ref, body)
                found[whole(ref)] = from_text(dict[str, Any], body)
            except Unreadable as error:
                said = "store: the result %s of chat %s is damaged: %s"
                logging.getLogger(__name__).warning(said, legible(ref), chat_id, error)
    return found


def save_todos(session: Session, chat_id: str, todos: Sequence[Todo]) -> None:
    text = to_text(todos)
    written = session.execute(
        "UPDATE chats SET todos = ?, todos_checksum = ? WHERE id = ?", (text, checksum(chat_id, text), chat_id)
    )
    if not written.rowcount:
        raise unknown_chat(chat_id)


def _settings(chat: Chat) -> tuple[Any, ...]:
    """What can be changed of a chat, and its checksum."""
    places = "\n".join(chat.places)
    row = (chat.title, chat.mode, chat.model, chat.strategy, int(chat.chosen), places, chat.effort or "")
    return (*row, checksum(chat.id, *row))


def _said(turns: Sequence[tuple[Any, ...]]) -> dict[Any, int | None]:
    return {turn[0]: turn[9] for turn in turns}


def _row(session: Session, chat_id: str) -> tuple[Any, ...]:
    row = session.execute(f"{_CHAT} WHERE id = ?", (chat_id,)).fetchone()
    if row is None:
        raise unknown_chat(chat_id)
    return row


def _chat(running: Running, is_alive: IsAlive, reading: Reading, row: tuple[Any, ...]) -> Chat:
    running_here = [turn.id for turn in running.get(row[0], []) if is_alive(turn.owner)]
    return replace(reading.chat(row[:14]), running=running_here[-1] if running_here else None)


def _running(session: Session, chat_ids: Sequence[str | bytes]) -> Running:
    """The turns of these chats that have not ended, in order; one question for all, whose answer may come from afar."""
    found: Running = {}
    if chat_ids:
        marks = ", ".join("?" * len(chat_ids))
        reading = Reading()
        for row in session.execute(f"{_TURNS} IN ({marks}) AND status = 'running' ORDER BY position", tuple(chat_ids)):
            found.setdefault(row[1], []).append(reading.turn(row[:9]))
    return found


def _usage(turn: StoredTurn) -> str | None:
    return None if turn.last_usage is None else to_text(turn.last_usage)
