"""Chats, turns and messages as rows, and what the view shows behind messages (L-3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Any

from codelaw.adapters.stores.rows.checks import checksum
from codelaw.adapters.stores.rows.codec import legible, to_text
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.domain.chats import Chat, Todo
from codelaw.domain.checkpoints import Aside
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Message

MESSAGE = "messages.id, messages.turn_id, role, content, metadata, messages.chat_id, messages.number, messages.checksum"
"""As `Reading.message` takes it."""


def require(session: SqlSession, chat_id: str) -> None:
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


def position_of(session: SqlSession, chat_id: str, turn_id: str) -> int:
    """Where a turn stands.

    Raises:
        Refusal: `turn_not_found`.
    """
    row = session.execute("SELECT position FROM turns WHERE chat_id = ? AND id = ?", (chat_id, turn_id)).fetchone()
    if row is None:
        raise unknown_turn(turn_id)
    return row[0]


def refuse_reverting(session: SqlSession, is_alive: Callable[[str], bool], chat_id: str) -> None:
    """Refuse while a living server undoes a turn of the chat."""
    by = legible(session.execute("SELECT reverting FROM chats WHERE id = ?", (chat_id,)).fetchone()[0])
    if by and is_alive(by):
        raise Refusal("chat_busy", "A turn of this chat is being undone.", "Wait a moment and try again.")


def create(session: SqlSession, chat: Chat, folders: Collection[str] = ()) -> None:
    session.execute(
        "INSERT INTO chats (id, kind, created_at, updated_at, title, mode, model, strategy, chosen, places, effort,"
        " checksum, todos, todos_checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?)",
        (chat.id, chat.kind, chat.created_at, chat.updated_at, *settings(chat), checksum(chat.id, "[]")),
    )
    for folder in dict.fromkeys(folders):
        session.execute("INSERT INTO chat_folders (chat_id, folder) VALUES (?, ?)", (chat.id, folder))


def settings(chat: Chat) -> tuple[Any, ...]:
    """What can be changed of a chat, and its checksum."""
    places = "\n".join(chat.places)
    row = (chat.title, chat.mode, chat.model, chat.strategy, int(chat.chosen), places, chat.effort or "")
    return (*row, checksum(chat.id, *row))


def save_todos(session: SqlSession, chat_id: str, todos: Sequence[Todo]) -> None:
    text = to_text(todos)
    session.execute(
        "UPDATE chats SET todos = ?, todos_checksum = ? WHERE id = ?", (text, checksum(chat_id, text), chat_id)
    )


def add_messages(session: SqlSession, chat_id: str, messages: Sequence[Message], conflict: str = "") -> None:
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


def _add(session: SqlSession, chat_id: str, message: Message, number: int | None, conflict: str) -> bool:
    values = (message.id, message.turn_id, message.role, message.content, to_text(message.metadata), number)
    added = session.execute(
        "INSERT INTO messages (chat_id, id, turn_id, role, content, metadata, number, checksum)"  # noqa: S608 - ours
        f" VALUES (?, ?, ?, ?, ?, ?, ?, ?){conflict}",
        (chat_id, *values, checksum(chat_id, *values)),
    )
    return added.rowcount > 0


def add_results(session: SqlSession, chat_id: str, results: Sequence[tuple[str, dict[str, Any]]]) -> None:
    written = [(ref, to_text(body)) for ref, body in results]
    session.execute_many(
        "INSERT INTO results (chat_id, ref, body, checksum) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (chat_id, ref) DO UPDATE SET body = excluded.body, checksum = excluded.checksum",
        [(chat_id, ref, body, checksum(chat_id, ref, body)) for ref, body in written],
    )


def add_asides(session: SqlSession, chat_id: str, asides: Sequence[Aside]) -> None:
    """Store them in their order; one that its message has already stays as it is."""
    rows = [(aside.message_id, aside.name, aside.text, "\n".join(aside.about)) for aside in asides]
    session.execute_many(
        "INSERT INTO asides (chat_id, message_id, name, body, about, checksum) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (chat_id, message_id, name) DO NOTHING",
        [(chat_id, *row, checksum(chat_id, *row)) for row in rows],
    )


def forget_asides(session: SqlSession, memory_id: str) -> None:
    """Delete those that tell a memory, in all chats: nobody is to be shown it any more (B-6).

    Their chats are loaded anew wherever they are known.
    """
    telling = "'\n' || about || '\n' LIKE ? ESCAPE '!'"
    escaped = memory_id.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    sought = (f"%\n{escaped}\n%",)
    session.execute(
        "UPDATE chats SET generation = CAST(generation AS INTEGER) + 1"  # noqa: S608 - our own words
        f" WHERE id IN (SELECT chat_id FROM asides WHERE {telling})",
        sought,
    )
    session.execute(f"DELETE FROM asides WHERE {telling}", sought)  # noqa: S608 - our own words
