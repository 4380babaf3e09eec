"""A chat that begins as the beginning of another one, as rows (D-2).

What turns did to files is not copied: undoing it belongs to the chat in which it was done. Numbers of events and ids of
turns and messages are unique within a chat only, so they stay what they were.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from codelaw.adapters.stores import events
from codelaw.adapters.stores.history import add_checkpoint
from codelaw.adapters.stores.rows import chat_rows
from codelaw.adapters.stores.rows.checks import moved
from codelaw.adapters.stores.rows.codec import legible, salvaged, to_text
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.chats import Chat
from codelaw.domain.checkpoints import HEAD
from codelaw.domain.errors import Refusal
from codelaw.domain.events import Event, TodoEvent, TurnEnded, still_waiting
from codelaw.domain.media.images import picture_ref
from codelaw.domain.messages import Metadata

_TURNS = "IN (SELECT id FROM turns WHERE chat_id = ? AND position <= ?)"
_MESSAGES = "message_id IN (SELECT id FROM messages WHERE chat_id = ?)"


class _Fork(NamedTuple):
    session: SqlSession
    chat_id: str
    position: int
    """Of the last turn that is copied."""
    id: str

    def copy(
        self, table: str, columns: str, where: str, parameters: tuple[Any, ...], *, order: str = "position"
    ) -> None:
        """Rows of a table in their order, with their checksums if they have some."""
        select, change = columns, ()
        if "checksum" in columns:
            check, change = moved("checksum", self.chat_id, self.id)
            select = columns.replace("checksum", check)
        self.session.execute(
            f"INSERT INTO {table} (chat_id, {columns}) SELECT ?, {select} FROM {table}"  # noqa: S608 - our own words
            f" WHERE chat_id = ? AND {where} ORDER BY {order}",
            (self.id, *change, self.chat_id, *parameters),
        )

    @property
    def kept(self) -> tuple[str, int]:
        return (self.chat_id, self.position)


def fork_chat(session: SqlSession, chat_id: str, turn_id: str | None, fork: Chat) -> None:
    """Store `fork` with everything of a chat up to and including that turn; None: nothing of it.

    Raises:
        Refusal: `chat_not_found`; `turn_not_found`; `chat_busy`: that turn, or one before it, has not ended.
    """
    folders = [row[0] for row in session.execute("SELECT folder FROM chat_folders WHERE chat_id = ?", (chat_id,))]
    if turn_id is None:
        chat_rows.create(session, fork, folders)
        return
    made = _Fork(session, chat_id, _last(session, chat_id, turn_id), fork.id)
    chat_rows.create(session, fork, folders)
    columns = "id, status, owner, started_at, last_usage, stop_reason, number, said, checksum"
    made.copy("turns", columns, "position <= ?", (made.position,))
    session.execute(
        "UPDATE chats SET begun = (SELECT max(number) FROM turns WHERE chat_id = ?) WHERE id = ?", (fork.id,) * 2
    )
    made.copy("messages", "id, turn_id, role, content, metadata, number, checksum", f"turn_id {_TURNS}", made.kept)
    made.copy("notices", "code", "code <> ?", ("",), order="code")
    made.copy("withdrawn", "turn_id", f"turn_id {_TURNS}", made.kept)
    made.copy("thread_summaries", "covers, body, checksum", f"covers {_TURNS}", made.kept, order="covers")
    made.copy(
        "asides",
        "message_id, name, body, about, checksum",
        f"(message_id LIKE ? OR {_MESSAGES})",
        (f"{HEAD}%", fork.id),
    )
    made.copy("demotions", "message_id, part", _MESSAGES, (fork.id,))
    _results(made)
    _events(made)
    _view(made, turn_id)
    _todos(made)


def _last(session: SqlSession, chat_id: str, turn_id: str) -> int:
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


def _results(fork: _Fork) -> None:
    """The full results, and the pictures, that the messages of the fork refer to."""
    sql = "SELECT metadata FROM messages WHERE chat_id = ? AND role IN ('tool', 'user')"
    facts = [salvaged(Metadata, row[0]) for row in fork.session.execute(sql, (fork.id,)).fetchall()]
    refs = {one.ref for one in facts if one.ref is not None}
    refs |= {picture_ref(image.digest) for one in facts for image in one.images}
    for ref in sorted(refs):
        fork.copy("results", "ref, body, checksum", "ref = ?", (ref,), order="ref")


def _events(fork: _Fork) -> None:
    """The events of those turns, and of compactions between them, under their numbers."""
    newest = f"SELECT coalesce(max(seq), 0) FROM events WHERE chat_id = ? AND turn_id {_TURNS}"  # noqa: S608 - ours
    seq: int = fork.session.execute(newest, (fork.chat_id, *fork.kept)).fetchone()[0]
    of_turns = f"(turn_id {_TURNS} OR turn_id = '') AND seq <= ?"
    fork.copy("events", "seq, turn_id, at, body, checksum", of_turns, (*fork.kept, seq), order="seq")
    fork.session.execute("UPDATE chats SET seq = ? WHERE id = ?", (seq, fork.id))
    for of, event in _reported(fork.session, fork.id, "turn_ended"):
        if isinstance(event, TurnEnded):  # the only one that names its chat
            ended = to_text(TurnEnded(replace(event.result, chat_id=fork.id)))
            events.rewrite(fork.session, fork.id, of, ended)
    _sent_there(fork.session, fork.id)


def _sent_there(session: SqlSession, fork_id: str) -> None:
    """What still waits at the end of the last of the turns is sent, or returned, in the original (R-9)."""
    reported = [*_reported(session, fork_id, "steer"), *_reported(session, fork_id, "turn_started")]
    waiting = still_waiting(sorted(((of[0], event) for of, event in reported), key=lambda one: one[0]))
    session.execute_many(
        "DELETE FROM events WHERE chat_id = ? AND seq = ?", [(fork_id, number) for number, _ in waiting]
    )


def _view(fork: _Fork, turn_id: str) -> None:
    """The cuts that concern only what is kept, so that the common beginning is sent alike (L-6)."""
    session, reading = fork.session, Reading()
    turns = _texts(session, "SELECT id FROM turns WHERE chat_id = ? AND position <= ?", fork.kept)
    messages = _texts(session, "SELECT id FROM messages WHERE chat_id = ?", (fork.id,))
    rows = session.execute(
        "SELECT body, chat_id, id, checksum FROM checkpoints WHERE chat_id = ? AND undone = 0 ORDER BY position",
        (fork.chat_id,),
    ).fetchall()
    for cut in reading.all(reading.checkpoint, rows):
        if cut.first_kept in turns:
            kept = tuple(item for item in cut.demotions if item.message_id in messages)
            add_checkpoint(session, fork.id, replace(cut, demotions=kept))
    settled = reading.text(session.execute("SELECT settled FROM chats WHERE id = ?", (fork.chat_id,)).fetchone())
    if settled:  # by a turn that the fork does not have: no usage that it has speaks of the view as it is now (W-2)
        settled = settled if settled in turns else turn_id
        session.execute("UPDATE chats SET settled = ? WHERE id = ?", (settled, fork.id))


def _todos(fork: _Fork) -> None:
    """The list as it was when the last of the turns ended."""
    later = "SELECT 1 FROM turns WHERE chat_id = ? AND position > ? LIMIT 1"
    check, change = moved("other.todos_checksum", fork.chat_id, fork.id)
    if fork.session.execute(later, fork.kept).fetchone() is None:
        fork.session.execute(
            "UPDATE chats SET todos = (SELECT todos FROM chats AS other WHERE other.id = ?),"  # noqa: S608 - ours
            f" todos_checksum = (SELECT {check} FROM chats AS other WHERE other.id = ?) WHERE id = ?",
            (fork.chat_id, *change, fork.chat_id, fork.id),
        )
        return
    lists = [event for _, event in _reported(fork.session, fork.id, "todo") if isinstance(event, TodoEvent)]
    if lists:
        chat_rows.save_todos(fork.session, fork.id, lists[-1].items)


def _reported(session: SqlSession, chat_id: str, kind: str) -> list[tuple[tuple[int, Any, float], Event]]:
    """The events of a kind, oldest first, each with its number, turn and time.

    The databases do not agree on what LIKE finds in text that is not Unicode.
    """
    mark = f'"kind":"{kind}"'
    sql = "SELECT seq, turn_id, at, body, checksum FROM events WHERE chat_id = ? ORDER BY seq"
    likely = [row for row in session.execute(sql, (chat_id,)) if mark in legible(row[3])]
    return [(row[:3], event) for row in likely if (event := events.event_of(chat_id, row)) is not None]


def _texts(session: SqlSession, sql: str, parameters: tuple[object, ...]) -> frozenset[str]:
    reading = Reading()
    return frozenset(reading.all(reading.text, session.execute(sql, parameters)))
