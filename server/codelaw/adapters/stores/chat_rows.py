"""Chats, turns and messages as rows."""

from __future__ import annotations

import base64
import binascii
import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from codelaw.adapters.stores.codec import Unreadable, from_text, to_text
from codelaw.adapters.stores.database import Dialect, Session
from codelaw.adapters.stores.reading import Reading
from codelaw.domain.chats import Chat, StoredChat, StoredTurn, Todo
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Message

IsAlive = Callable[[str], bool]
Running = dict[str | bytes, list[StoredTurn]]
"""Turns by their chats."""

MAX_LISTED = 500

_CHAT = (
    "SELECT id, title, kind, mode, model, strategy, created_at, updated_at,"
    " (SELECT count(*) FROM turns WHERE chat_id = chats.id), CAST(generation AS INTEGER), chosen, places,"
    " settled, todos FROM chats"
)
_HOLDS: dict[Dialect, str] = {
    "sqlite": "holds(CAST({} AS BLOB), ?)",
    "postgresql": "strpos(folded({}), ?) > 0",
}
"""Whether a column holds a text that is case-folded already."""
_TURNS = "SELECT id, chat_id, status, owner, started_at, last_usage, stop_reason FROM turns WHERE chat_id"


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
        "INSERT INTO chats (id, title, kind, mode, model, strategy, created_at, updated_at, chosen, places)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(chat.id, chat.title, chat.kind, chat.mode, chat.model, chat.strategy),
            *(chat.created_at, chat.updated_at, int(chat.chosen), "\n".join(chat.places)),
        ),
    )
    keep_folders(session, chat.id, folders)


def keep_folders(session: Session, chat_id: str, folders: Collection[str]) -> None:
    """Note where a chat was begun, so that the chats of a workspace can be listed."""
    for folder in dict.fromkeys(folders):
        session.execute("INSERT INTO chat_folders (chat_id, folder) VALUES (?, ?)", (chat_id, folder))


def update(session: Session, chat: Chat) -> None:
    written = session.execute(
        "UPDATE chats SET title = ?, mode = ?, model = ?, strategy = ?, updated_at = ?, chosen = ?, places = ?"
        " WHERE id = ?",
        (
            *(chat.title, chat.mode, chat.model, chat.strategy, chat.updated_at),
            *(int(chat.chosen), "\n".join(chat.places), chat.id),
        ),
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
) -> tuple[list[Chat], str | None]:
    conditions: list[str] = []
    parameters: list[Any] = []
    if query:
        title, content = (_HOLDS[session.dialect].format(column) for column in ("title", "content"))
        said = f"SELECT 1 FROM messages WHERE chat_id = chats.id AND {content}"  # noqa: S608 - our own words
        conditions.append(f"({title} OR EXISTS ({said}))")
        parameters += [query.casefold()] * 2
    if folders is not None:
        among = ", ".join("?" * len(folders)) or "NULL"
        conditions.append(f"id IN (SELECT chat_id FROM chat_folders WHERE folder IN ({among}))")  # noqa: S608 - ours
        parameters += folders
    if cursor is not None:
        conditions.append("(updated_at, id) < (?, ?)")
        parameters += _cursor_values(cursor)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    count = max(1, min(limit, MAX_LISTED))
    rows = session.execute(
        f"{_CHAT}{where} ORDER BY updated_at DESC, id DESC LIMIT ?", (*parameters, count + 1)
    ).fetchall()
    running = _running(session, [row[0] for row in rows[:count]])
    chats = [_chat(running, is_alive, Reading(), row) for row in rows[:count]]
    return chats, _cursor(chats[-1]) if len(rows) > count else None


def chat(session: Session, is_alive: IsAlive, chat_id: str) -> Chat:
    row = _row(session, chat_id)
    return _chat(_running(session, [row[0]]), is_alive, Reading(), row)


def load(session: Session, is_alive: IsAlive, chat_id: str) -> StoredChat:
    row = _row(session, chat_id)
    # Round by round: what closes a crashed turn may be written after the next turn has begun (D-4).
    messages = session.execute(
        "SELECT messages.id, turn_id, role, content, metadata FROM messages"
        " LEFT JOIN turns ON turns.chat_id = messages.chat_id AND turns.id = turn_id"
        " WHERE messages.chat_id = ? ORDER BY turns.position, messages.position",
        (chat_id,),
    )
    notices = session.execute("SELECT code FROM notices WHERE chat_id = ?", (chat_id,))
    checkpoints = session.execute(
        "SELECT body FROM checkpoints WHERE chat_id = ? AND undone = 0 ORDER BY position", (chat_id,)
    )
    demotions = session.execute(
        "SELECT message_id, part FROM demotions WHERE chat_id = ? ORDER BY position", (chat_id,)
    )
    withdrawn = session.execute("SELECT turn_id FROM withdrawn WHERE chat_id = ?", (chat_id,))
    summary = session.execute("SELECT body FROM thread_summaries WHERE chat_id = ?", (chat_id,)).fetchall()
    reading = Reading()
    return StoredChat(
        chat=_chat(_running(session, [row[0]]), is_alive, reading, row),
        messages=reading.all(reading.message, messages),
        turns=reading.all(reading.turn, session.execute(f"{_TURNS} = ? ORDER BY position", (chat_id,))),
        todos=reading.todos(row[13]),
        notices=frozenset(reading.all(reading.text, notices)),
        checkpoints=reading.all(reading.checkpoint, checkpoints),
        demotions=reading.all(reading.demotion, demotions),
        withdrawn=frozenset(reading.all(reading.text, withdrawn)),
        thread_summary=next(iter(reading.all(reading.thread_summary, summary)), None),
        settled=reading.text(row[12:13]),
        damaged=reading.damaged,
    )


def begin_turn(session: Session, is_alive: IsAlive, turn: StoredTurn, user: Message) -> int:
    require(session, turn.chat_id)
    for other in _running(session, [turn.chat_id]).get(turn.chat_id, []):
        if is_alive(other.owner):
            hint = "Wait for it, steer it, or cancel it."
            raise Refusal("chat_busy", "A turn is already running in this chat.", hint)
    before: int = session.execute("SELECT count(*) FROM turns WHERE chat_id = ?", (turn.chat_id,)).fetchone()[0]
    session.execute(
        "INSERT INTO turns (chat_id, id, status, owner, started_at, last_usage, stop_reason)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (turn.chat_id, turn.id, turn.status, turn.owner, turn.started_at, _usage(turn), turn.stop_reason),
    )
    session.execute(
        "UPDATE chats SET updated_at = ? WHERE id = ? AND updated_at < ?",
        (turn.started_at, turn.chat_id, turn.started_at),
    )
    add_messages(session, turn.chat_id, (user,))
    return before


def end_turn(session: Session, turn: StoredTurn, messages: Sequence[Message]) -> None:
    require(session, turn.chat_id)
    written = session.execute(
        "UPDATE turns SET status = ?, last_usage = ?, stop_reason = ?"
        " WHERE chat_id = ? AND id = ? AND status = 'running'",
        (turn.status, _usage(turn), turn.stop_reason, turn.chat_id, turn.id),
    )
    if not written.rowcount:
        raise Refusal("turn_not_found", f"No turn {turn.id!r} runs in this chat.")
    # What was kept although its writer heard of a failure stands, and its place in the order with it.
    add_messages(session, turn.chat_id, messages, " ON CONFLICT (chat_id, id) DO NOTHING")


def refuse_ended(session: Session, chat_id: str, turn_ids: Collection[str]) -> None:
    """Refuse to write to a round that is closed, by a server that took ours for dead (D-4)."""
    for turn_id in turn_ids:
        ended = "SELECT 1 FROM turns WHERE chat_id = ? AND id = ? AND status <> 'running'"
        if session.execute(ended, (chat_id, turn_id)).fetchone() is not None:
            hint = "Send the message again to go on."
            raise Refusal("turn_not_found", "Another codelaw has ended this turn, which it took for dead.", hint)


def add_messages(session: Session, chat_id: str, messages: Sequence[Message], conflict: str = "") -> None:
    sql = "INSERT INTO messages (chat_id, id, turn_id, role, content, metadata) VALUES (?, ?, ?, ?, ?, ?)"
    session.execute_many(
        sql + conflict,
        [
            (chat_id, message.id, message.turn_id, message.role, message.content, to_text(message.metadata))
            for message in messages
        ],
    )


def add_results(session: Session, chat_id: str, results: Sequence[tuple[str, dict[str, Any]]]) -> None:
    session.execute_many(
        "INSERT INTO results (chat_id, ref, body) VALUES (?, ?, ?)"
        " ON CONFLICT (chat_id, ref) DO UPDATE SET body = excluded.body",
        [(chat_id, ref, to_text(body)) for ref, body in results],
    )


def result(session: Session, chat_id: str, ref: str) -> dict[str, Any] | None:
    row = session.execute("SELECT body FROM results WHERE chat_id = ? AND ref = ?", (chat_id, ref)).fetchone()
    if row is None:
        return None
    try:
        return from_text(dict[str, Any], row[0])
    except Unreadable as error:
        logging.getLogger(__name__).warning("store: the result %s of chat %s is damaged: %s", ref, chat_id, error)
        return None


def save_todos(session: Session, chat_id: str, todos: Sequence[Todo]) -> None:
    if not session.execute("UPDATE chats SET todos = ? WHERE id = ?", (to_text(todos), chat_id)).rowcount:
        raise unknown_chat(chat_id)


def _row(session: Session, chat_id: str) -> tuple[Any, ...]:
    row = session.execute(f"{_CHAT} WHERE id = ?", (chat_id,)).fetchone()
    if row is None:
        raise unknown_chat(chat_id)
    return row


def _chat(running: Running, is_alive: IsAlive, reading: Reading, row: tuple[Any, ...]) -> Chat:
    running_here = [turn.id for turn in running.get(row[0], []) if is_alive(turn.owner)]
    return replace(reading.chat(row[:12]), running=running_here[-1] if running_here else None)


def _running(session: Session, chat_ids: Sequence[str | bytes]) -> Running:
    """The turns of these chats that have not ended, in order; one question for all, whose answer may come from afar."""
    found: Running = {}
    if chat_ids:
        marks = ", ".join("?" * len(chat_ids))
        reading = Reading()
        for row in session.execute(f"{_TURNS} IN ({marks}) AND status = 'running' ORDER BY position", tuple(chat_ids)):
            found.setdefault(row[1], []).append(reading.turn(row))
    return found


def _usage(turn: StoredTurn) -> str | None:
    return None if turn.last_usage is None else to_text(turn.last_usage)


def _cursor(last: Chat) -> str:
    return base64.urlsafe_b64encode(json.dumps([last.updated_at, last.id]).encode()).decode()


def _cursor_values(cursor: str) -> tuple[float, str]:
    try:
        at, id_ = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        return float(at), str(id_)
    except (ValueError, TypeError, binascii.Error, UnicodeError) as error:
        raise Refusal("invalid_text", "The cursor is not one that an earlier list gave.", "List without it.") from error
