"""What the view shows behind messages, as rows (L-3)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.adapters.stores.rows.checks import checksum, moved
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.checkpoints import HEAD, Aside


def add(session: Session, chat_id: str, asides: Sequence[Aside]) -> None:
    """Store them in their order; one that its message has already stays as it is."""
    rows = [(aside.message_id, aside.name, aside.text, "\n".join(aside.about)) for aside in asides]
    session.execute_many(
        "INSERT INTO asides (chat_id, message_id, name, body, about, checksum) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (chat_id, message_id, name) DO NOTHING",
        [(chat_id, *row, checksum(chat_id, *row)) for row in rows],
    )


def of_chat(session: Session, chat_id: str, reading: Reading) -> tuple[Aside, ...]:
    """Those of a chat, oldest first."""
    rows = session.execute(
        "SELECT message_id, name, body, about, chat_id, checksum FROM asides WHERE chat_id = ? ORDER BY position",
        (chat_id,),
    )
    return reading.all(reading.aside, rows)


def copy(session: Session, chat_id: str, fork_id: str) -> None:
    """Give a fork those of its messages, so that the common beginning is sent alike (L-6)."""
    check, change = moved("checksum", chat_id, fork_id)
    session.execute(
        "INSERT INTO asides (chat_id, message_id, name, body, about, checksum)"  # noqa: S608 - our own words
        f" SELECT ?, message_id, name, body, about, {check} FROM asides WHERE chat_id = ?"
        " AND (message_id LIKE ? OR message_id IN (SELECT id FROM messages WHERE chat_id = ?)) ORDER BY position",
        (fork_id, *change, chat_id, f"{HEAD}%", fork_id),
    )


def forget(session: Session, memory_id: str) -> None:
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
