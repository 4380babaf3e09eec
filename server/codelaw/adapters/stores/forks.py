"""A chat that begins as the beginning of another one, as rows (D-2).

What turns did to files is not copied: undoing it belongs to the chat in which it was done. Numbers of events and ids of
turns and messages are unique within a chat only, so they stay what they were.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from codelaw.adapters.stores import events
from codelaw.adapters.stores.history import add_checkpoint, copy_summary
from codelaw.adapters.stores.rows import chat_rows
from codelaw.adapters.stores.rows.checks import moved
from codelaw.adapters.stores.rows.codec import legible, salvaged, to_text
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.chats import Chat
from codelaw.domain.checkpoints import Checkpoint
from codelaw.domain.errors import Refusal
from codelaw.domain.events import Event, TodoEvent, TurnEnded, still_waiting
from codelaw.domain.media.images import picture_ref
from codelaw.domain.messages import Metadata

Kept = tuple[str, int]
"""The chat, and the position of the last of its turns that is copied."""


def fork_chat(session: Session, chat_id: str, turn_id: str | None, fork: Chat) -> None:
    """Store `fork` with everything of a chat up to and including that turn; None: nothing of it.

    Raises:
        Refusal: `chat_not_found`; `turn_not_found`; `chat_busy`: that turn, or one before it, has not ended.
    """
    chat_rows.require(session, chat_id)
    folders = [row[0] for row in session.execute("SELECT folder FROM chat_folders WHERE chat_id = ?", (chat_id,))]
    if turn_id is None:
        chat_rows.create(session, fork, folders)
        return
    kept = (chat_id, _last(session, chat_id, turn_id))
    chat_rows.create(session, fork, folders)
    check, change = moved("checksum", chat_id, fork.id)
    session.execute(
        "INSERT INTO turns"  # noqa: S608 - our own words
        " (chat_id, id, status, owner, started_at, last_usage, stop_reason, number, said, checksum)"
        f" SELECT ?, id, status, owner, started_at, last_usage, stop_reason, number, said, {check} FROM turns"
        " WHERE chat_id = ? AND position <= ? ORDER BY position",
        (fork.id, *change, *kept),
    )
    session.execute(
        "UPDATE chats SET begun = (SELECT max(number) FROM turns WHERE chat_id = ?) WHERE id = ?", (fork.id,) * 2
    )
    check, change = moved("messages.checksum", chat_id, fork.id)
    session.execute(
        "INSERT INTO messages (chat_id, id, turn_id, role, content, metadata, number, checksum)"  # noqa: S608 - ours
        f" SELECT ?, messages.id, messages.turn_id, role, content, metadata, messages.number, {check} FROM messages"
        " JOIN turns ON turns.chat_id = messages.chat_id AND turns.id = messages.turn_id"
        " WHERE messages.chat_id = ? AND turns.position <= ? ORDER BY messages.position",
        (fork.id, *change, *kept),
    )
    session.execute(
        "INSERT INTO notices (chat_id, code) SELECT ?, code FROM notices WHERE chat_id = ?", (fork.id, chat_id)
    )
    session.execute(
        "INSERT INTO withdrawn (chat_id, turn_id)"
        " SELECT ?, turn_id FROM withdrawn JOIN turns ON turns.chat_id = withdrawn.chat_id AND turns.id = turn_id"
        " WHERE withdrawn.chat_id = ? AND turns.position <= ? ORDER BY withdrawn.position",
        (fork.id, *kept),
    )
    _results(session, chat_id, fork.id)
    _events(session, kept, fork.id)
    _view(session, kept, turn_id, fork.id)
    chat_rows.copy_asides(session, chat_id, fork.id)
    copy_summary(session, *kept, fork.id)
    _todos(session, kept, fork.id)


def _last(session: Session, chat_id: str, turn_id: str) -> int:
    """The position of the turn, which has ended, and all before it."""
    position = chat_rows.position_of(session, chat_id, turn_id)
    running = "SELECT 1 FROM turns WHERE chat_id = ? AND position <= ? AND status = 'running'"
    if session.execute(running, (chat_id, position)).fetchone() is not None:
        raise Refusal(
            "chat_busy",
            "This turn has not ended yet.",
            "Wait for it or cancel it, or fork the chat at an earlier turn.",
        )
    return position


def _results(session: Session, chat_id: str, fork_id: str) -> None:
    """The full results, and the pictures, that the messages of the fork refer to."""
    sql = "SELECT metadata FROM messages WHERE chat_id = ? AND role IN ('tool', 'user')"
    facts = [salvaged(Metadata, row[0]) for row in session.execute(sql, (fork_id,)).fetchall()]
    refs = {one.ref for one in facts if one.ref is not None}
    refs |= {picture_ref(image.digest) for one in facts for image in one.images}
    check, change = moved("checksum", chat_id, fork_id)
    session.execute_many(
        f"INSERT INTO results (chat_id, ref, body, checksum) SELECT ?, ref, body, {check} FROM results"  # noqa: S608
        " WHERE chat_id = ? AND ref = ?",
        [(fork_id, *change, chat_id, ref) for ref in sorted(refs)],
    )


def _events(session: Session, kept: Kept, fork_id: str) -> None:
    """The events of those turns, and of compactions between them, under their numbers."""
    newest = (
        "SELECT coalesce(max(seq), 0) FROM events JOIN turns ON turns.chat_id = events.chat_id AND turns.id = turn_id"
        " WHERE events.chat_id = ? AND turns.position <= ?"
    )
    seq: int = session.execute(newest, kept).fetchone()[0]
    check, change = moved("events.checksum", kept[0], fork_id)
    session.execute(
        "INSERT INTO events (chat_id, seq, turn_id, at, body, checksum)"  # noqa: S608 - our own words
        f" SELECT ?, seq, turn_id, at, body, {check} FROM events"
        " LEFT JOIN turns ON turns.chat_id = events.chat_id AND turns.id = turn_id"
        " WHERE events.chat_id = ? AND (turns.position <= ? OR turn_id = '') AND seq <= ?",
        (fork_id, *change, *kept, seq),
    )
    session.execute("UPDATE chats SET seq = ? WHERE id = ?", (seq, fork_id))
    for of, event in _reported(session, fork_id, "turn_ended"):
        if isinstance(event, TurnEnded):  # the only one that names its chat
            ended = to_text(TurnEnded(replace(event.result, chat_id=fork_id)))
            events.rewrite(session, fork_id, of, ended)
    _sent_there(session, fork_id)


def _sent_there(session: Session, fork_id: str) -> None:
    """What still waits at the end of the last of the turns is sent, or returned, in the original (R-9)."""
    reported = [*_reported(session, fork_id, "steer"), *_reported(session, fork_id, "turn_started")]
    waiting = still_waiting(sorted(((of[0], event) for of, event in reported), key=lambda one: one[0]))
    session.execute_many(
        "DELETE FROM events WHERE chat_id = ? AND seq = ?", [(fork_id, number) for number, _ in waiting]
    )


def _view(session: Session, kept: Kept, turn_id: str, fork_id: str) -> None:
    """The cuts and demotions that concern only what is kept, so that the common beginning is sent alike (L-6)."""
    chat_id = kept[0]
    turns = _texts(session, "SELECT id FROM turns WHERE chat_id = ? AND position <= ?", kept)
    messages = _texts(session, "SELECT id FROM messages WHERE chat_id = ?", (fork_id,))
    reading = Reading()
    rows = session.execute(
        "SELECT body, chat_id, id, checksum FROM checkpoints WHERE chat_id = ? AND undone = 0 ORDER BY position",
        (chat_id,),
    ).fetchall()
    for cut in reading.all(reading.checkpoint, rows):
        if cut.first_kept in turns:
            add_checkpoint(session, fork_id, _only(cut, messages))
    session.execute(
        "INSERT INTO demotions (chat_id, message_id, part) SELECT ?, message_id, part FROM demotions"
        " WHERE chat_id = ? AND message_id IN (SELECT id FROM messages WHERE chat_id = ?) ORDER BY position",
        (fork_id, chat_id, fork_id),
    )
    row = session.execute("SELECT settled FROM chats WHERE id = ?", (chat_id,)).fetchone()
    settled = reading.text(row)
    if settled:  # by a turn that the fork does not have: no usage that it has speaks of the view as it is now (W-2)
        settled = settled if settled in turns else turn_id
        session.execute("UPDATE chats SET settled = ? WHERE id = ?", (settled, fork_id))


def _only(cut: Checkpoint, messages: Collection[str]) -> Checkpoint:
    return replace(cut, demotions=tuple(item for item in cut.demotions if item.message_id in messages))


def _todos(session: Session, kept: Kept, fork_id: str) -> None:
    """The list as it was when the last of the turns ended."""
    later = "SELECT 1 FROM turns WHERE chat_id = ? AND position > ? LIMIT 1"
    check, change = moved("other.todos_checksum", kept[0], fork_id)
    if session.execute(later, kept).fetchone() is None:
        session.execute(
            "UPDATE chats SET todos = (SELECT todos FROM chats AS other WHERE other.id = ?),"  # noqa: S608 - ours
            f" todos_checksum = (SELECT {check} FROM chats AS other WHERE other.id = ?) WHERE id = ?",
            (kept[0], *change, kept[0], fork_id),
        )
        return
    for _, event in reversed(_reported(session, fork_id, "todo")):
        if isinstance(event, TodoEvent):
            chat_rows.save_todos(session, fork_id, event.items)
            return


def _reported(session: Session, chat_id: str, kind: str) -> list[tuple[tuple[int, Any, float], Event]]:
    """The events of a kind, oldest first, each with its number, turn and time.

    The databases do not agree on what LIKE finds in text that is not Unicode.
    """
    mark = f'"kind":"{kind}"'
    sql = "SELECT seq, turn_id, at, body, checksum FROM events WHERE chat_id = ? ORDER BY seq"
    likely = [row for row in session.execute(sql, (chat_id,)) if mark in legible(row[3])]
    return [(row[:3], event) for row in likely if (event := events.event_of(chat_id, row)) is not None]


def _texts(session: Session, sql: str, parameters: tuple[object, ...]) -> frozenset[str]:
    reading = Reading()
    return frozenset(reading.all(reading.text, session.execute(sql, parameters)))
