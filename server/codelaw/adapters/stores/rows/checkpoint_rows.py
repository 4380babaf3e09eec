"""Checkpoints and demotions as rows, changed only by who has seen the newest of them (K-3, C-6)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.adapters.stores.rows import thread_rows
from codelaw.adapters.stores.rows.chat_rows import require
from codelaw.adapters.stores.rows.checks import checksum
from codelaw.adapters.stores.rows.codec import to_text
from codelaw.adapters.stores.rows.database import Session
from codelaw.domain.checkpoints import Checkpoint, Demotion
from codelaw.domain.errors import Refusal


def reshape(
    session: Session,
    chat_id: str,
    generation: int,
    checkpoint: Checkpoint | None,
    demotions: Sequence[Demotion],
    *,
    settled: str,
) -> int:
    risen = _raise_generation(session, chat_id, generation, settled)
    if checkpoint is not None:
        add(session, chat_id, checkpoint)
    session.execute_many(
        "INSERT INTO demotions (chat_id, message_id, part) VALUES (?, ?, ?)"
        " ON CONFLICT (chat_id, message_id, part) DO NOTHING",
        [(chat_id, demotion.message_id, demotion.part) for demotion in demotions],
    )
    return risen


def add(session: Session, chat_id: str, checkpoint: Checkpoint) -> None:
    """Store a checkpoint."""
    body = to_text(checkpoint)
    session.execute(
        "INSERT INTO checkpoints (chat_id, id, body, checksum) VALUES (?, ?, ?, ?)",
        (chat_id, checkpoint.id, body, checksum(chat_id, checkpoint.id, body)),
    )


def restore(session: Session, chat_id: str, generation: int, checkpoint_ids: Sequence[str], settled: str) -> int:
    risen = _raise_generation(session, chat_id, generation, settled)
    undone = [
        session.execute(
            "UPDATE checkpoints SET undone = 1 WHERE chat_id = ? AND id = ? AND undone = 0", (chat_id, checkpoint_id)
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


def withdraw_turn(session: Session, chat_id: str, generation: int, turn_id: str, settled: str) -> int:
    risen = _raise_generation(session, chat_id, generation, settled)
    added = session.execute(
        "INSERT INTO withdrawn (chat_id, turn_id) VALUES (?, ?) ON CONFLICT (chat_id, turn_id) DO NOTHING",
        (chat_id, turn_id),
    )
    if not added.rowcount:
        raise Refusal("nothing_to_undo", "The messages of this turn are already out of the view.", "")
    thread_rows.forget(session, chat_id, turn_id)
    return risen


def _raise_generation(session: Session, chat_id: str, generation: int, settled: str) -> int:
    require(session, chat_id)
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
