"""What was decided, as rows (S-8)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.adapters.stores.rows.chat_rows import require
from codelaw.adapters.stores.rows.database import Session
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.audit import AuditEntry

MOST_OF_CHAT = 10_000
"""Entries kept of one chat, and of what is about none; the oldest go first."""
MOST = 100_000
"""Entries kept of all."""
_EVERY = 64
"""Entries after which all of them are counted."""
_COLUMNS = "chat_id, at, kind, tool, title, decision, by_whom, rule, detail, folder, person"


def note(session: Session, entries: Sequence[AuditEntry]) -> None:
    """Add entries; one of a chat that was deleted meanwhile is left out."""
    positions: list[int] = []
    chats: set[str | None] = set()
    known = f"SELECT 1 FROM chats WHERE id = ?{session.row_lock}"  # noqa: S608 - our own words
    for entry in entries:
        chat_id = entry.chat_id or None
        if chat_id is not None and session.execute(known, (chat_id,)).fetchone() is None:
            continue
        chats.add(chat_id)
        row = (
            *(chat_id, entry.at, entry.kind, entry.tool, entry.title, entry.decision, entry.by),
            *(entry.rule, entry.detail, entry.folder, entry.person),
        )
        added = session.execute(
            f"INSERT INTO audit ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING position",  # noqa: S608
            row,
        )
        positions.append(added.fetchone()[0])
    for chat_id in chats:
        _prune(session, chat_id)
    if any(position % _EVERY == 0 for position in positions):
        oldest = "SELECT position FROM audit ORDER BY position DESC LIMIT 1 OFFSET ?"
        session.execute(f"DELETE FROM audit WHERE position <= ({oldest})", (MOST,))  # noqa: S608 - our own words


def _prune(session: Session, chat_id: str | None) -> None:
    of, values = ("chat_id IS NULL", ()) if chat_id is None else ("chat_id = ?", (chat_id,))
    oldest = f"SELECT position FROM audit WHERE {of} ORDER BY position DESC LIMIT 1 OFFSET ?"  # noqa: S608 - our own
    session.execute(
        f"DELETE FROM audit WHERE {of} AND position <= ({oldest})",  # noqa: S608 - our own words
        (*values, *values, MOST_OF_CHAT),
    )


def listed(session: Session, chat_id: str | None, limit: int) -> list[AuditEntry]:
    """The newest entries, of a chat or of all, newest first; those that are damaged are left out."""
    of, values = ("", ()) if chat_id is None else (" WHERE chat_id = ?", (chat_id,))
    if chat_id is not None:
        require(session, chat_id)
    rows = session.execute(
        f"SELECT {_COLUMNS} FROM audit{of} ORDER BY position DESC LIMIT ?",  # noqa: S608 - our own words
        (*values, limit),
    )
    reading = Reading()
    return [*reading.all(reading.audit, rows)]
