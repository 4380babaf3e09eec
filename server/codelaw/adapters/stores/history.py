"""Cuts of the view and rolling summaries as rows, changed only by who has seen the newest of them (K-3, C-6, B-3)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.adapters.stores.repository import SqlRepository, writes
from codelaw.adapters.stores.rows.checks import checksum
from codelaw.adapters.stores.rows.codec import to_text
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.domain.checkpoints import Checkpoint, Demotion, ThreadSummary
from codelaw.domain.errors import Refusal


class SqlHistory(SqlRepository):
    """Checkpoints, demotions, withdrawn turns and rolling summaries (`ChatStore`)."""

    @writes()
    def reshape(  # noqa: PLR0917 - as the port has it
        self,
        session: SqlSession,
        chat_id: str,
        generation: int,
        checkpoint: Checkpoint | None,
        demotions: Sequence[Demotion] = (),
        settled: str = "",
    ) -> int:
        risen = _raise_generation(session, chat_id, generation, settled)
        if checkpoint is not None:
            add_checkpoint(session, chat_id, checkpoint)
        session.execute_many(
            "INSERT INTO demotions (chat_id, message_id, part) VALUES (?, ?, ?)"
            " ON CONFLICT (chat_id, message_id, part) DO NOTHING",
            [(chat_id, demotion.message_id, demotion.part) for demotion in demotions],
        )
        return risen

    @writes()
    def restore(
        self, session: SqlSession, chat_id: str, generation: int, checkpoint_ids: Sequence[str], settled: str
    ) -> int:
        risen = _raise_generation(session, chat_id, generation, settled)
        undone = [
            session.execute(
                "UPDATE checkpoints SET undone = 1 WHERE chat_id = ? AND id = ? AND undone = 0",
                (chat_id, checkpoint_id),
            ).rowcount
            for checkpoint_id in dict.fromkeys(checkpoint_ids)
        ]
        if not undone or not all(undone):
            raise Refusal(
                "nothing_to_undo",
                "There is no such compaction to undo in this chat.",
                "List the archive of the chat to see its compactions; one that was undone already is not among them.",
            )
        return risen

    @writes()
    def withdraw_turn(self, session: SqlSession, chat_id: str, generation: int, turn_id: str, settled: str) -> int:
        risen = _raise_generation(session, chat_id, generation, settled)
        added = session.execute(
            "INSERT INTO withdrawn (chat_id, turn_id) VALUES (?, ?) ON CONFLICT (chat_id, turn_id) DO NOTHING",
            (chat_id, turn_id),
        )
        if not added.rowcount:
            raise Refusal("nothing_to_undo", "The messages of this turn are already out of the view.", "")
        _forget_summary(session, chat_id, turn_id)
        return risen

    @writes()
    def save_thread_summary(self, session: SqlSession, chat_id: str, generation: int, summary: ThreadSummary) -> None:
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


def add_checkpoint(session: SqlSession, chat_id: str, checkpoint: Checkpoint) -> None:
    """Store a checkpoint."""
    body = to_text(checkpoint)
    session.execute(
        "INSERT INTO checkpoints (chat_id, id, body, checksum) VALUES (?, ?, ?, ?)",
        (chat_id, checkpoint.id, body, checksum(chat_id, checkpoint.id, body)),
    )


def _forget_summary(session: SqlSession, chat_id: str, turn_id: str) -> None:
    """Drop the summary if it speaks of that turn, which nobody is to be told of any more (E-2)."""
    session.execute(
        "DELETE FROM thread_summaries WHERE chat_id = ? AND NOT EXISTS"
        " (SELECT 1 FROM turns AS last JOIN turns AS gone ON gone.chat_id = last.chat_id"
        " WHERE last.chat_id = thread_summaries.chat_id AND last.id = thread_summaries.covers"
        " AND gone.id = ? AND gone.position > last.position)",
        (chat_id, turn_id),
    )


def _raise_generation(session: SqlSession, chat_id: str, generation: int, settled: str) -> int:
    row = session.execute(
        "UPDATE chats SET generation = CAST(generation AS INTEGER) + 1, settled = coalesce(nullif(?, ''), settled)"
        " WHERE id = ? AND CAST(generation AS INTEGER) = ? RETURNING generation",
        (settled, chat_id, generation),
    ).fetchone()
    if row is None:
        raise Refusal(
            "chat_busy",
            "The history of this chat was changed meanwhile, by another window or server.",
            "Nothing was written; ask again to go on from the history as it is now.",
        )
    return row[0]
