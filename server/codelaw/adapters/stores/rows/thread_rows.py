"""Rolling summaries as rows: one for each chat, never older than what it speaks of (B-3)."""

from __future__ import annotations

from codelaw.adapters.stores.rows.chat_rows import require
from codelaw.adapters.stores.rows.checks import checksum, moved
from codelaw.adapters.stores.rows.codec import to_text
from codelaw.adapters.stores.rows.database import Session
from codelaw.domain.checkpoints import ThreadSummary
from codelaw.domain.errors import Refusal


def save(session: Session, chat_id: str, generation: int, summary: ThreadSummary) -> None:
    require(session, chat_id)
    row = session.execute("SELECT CAST(generation AS INTEGER) FROM chats WHERE id = ?", (chat_id,)).fetchone()
    if row[0] != generation:
        raise Refusal(
            "chat_busy",
            "The history of this chat was changed meanwhile, by another window or server.",
            "The summary is made anew after the next turn.",
        )
    body = to_text(summary)
    session.execute(
        "INSERT INTO thread_summaries (chat_id, covers, body, checksum) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (chat_id) DO UPDATE SET covers = excluded.covers, body = excluded.body,"
        " checksum = excluded.checksum",
        (chat_id, summary.covers, body, checksum(chat_id, summary.covers, body)),
    )


def forget(session: Session, chat_id: str, turn_id: str) -> None:
    """Drop the summary if it speaks of that turn, which nobody is to be told of any more (E-2)."""
    session.execute(
        "DELETE FROM thread_summaries WHERE chat_id = ? AND NOT EXISTS"
        " (SELECT 1 FROM turns AS last JOIN turns AS gone ON gone.chat_id = last.chat_id"
        " WHERE last.chat_id = thread_summaries.chat_id AND last.id = thread_summaries.covers"
        " AND gone.id = ? AND gone.position > last.position)",
        (chat_id, turn_id),
    )


def copy(session: Session, chat_id: str, position: int, fork_id: str) -> None:
    """Give a fork the summary, if all that it speaks of has been taken over."""
    check, change = moved("thread_summaries.checksum", chat_id, fork_id)
    session.execute(
        f"INSERT INTO thread_summaries (chat_id, covers, body, checksum) SELECT ?, covers, body, {check}"  # noqa: S608
        " FROM thread_summaries JOIN turns ON turns.chat_id = thread_summaries.chat_id AND turns.id = covers"
        " WHERE thread_summaries.chat_id = ? AND turns.position <= ?",
        (fork_id, *change, chat_id, position),
    )
