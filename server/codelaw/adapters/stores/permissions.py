"""Standing permissions, and what was decided, as rows (S-1, S-8)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.adapters.stores.repository import SqlRepository, reads, writes
from codelaw.adapters.stores.rows.chat_rows import require
from codelaw.adapters.stores.rows.checks import checksum
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.permissions import AuditEntry, Grant

MOST_OF_CHAT, MOST = 10_000, 100_000
"""Entries that are kept of one chat, and of all; the oldest go first."""
_COLUMNS = "chat_id, at, kind, tool, title, decision, by_whom, rule, detail, folder, person"


class SqlPermissions(SqlRepository):
    """Grants and the audit (`ChatStore`)."""

    @reads("grants")
    def grants(self, session: SqlSession) -> list[Grant]:
        rows = session.execute("SELECT id, rule, scope, folder, person, checksum FROM grants ORDER BY position")
        reading = Reading()
        return [*reading.all(reading.grant, rows)]

    @writes("grants")
    def add_grant(self, session: SqlSession, grant: Grant) -> None:
        known = (grant.id, grant.rule, grant.scope, grant.folder, grant.person)
        session.execute(
            "INSERT INTO grants (id, rule, scope, folder, person, checksum) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET rule = excluded.rule, scope = excluded.scope, folder = excluded.folder,"
            " person = excluded.person, checksum = excluded.checksum",
            (*known, checksum(*known)),
        )

    @writes("grants")
    def revoke_grant(self, session: SqlSession, grant_id: str, person: str) -> bool:
        sql = "DELETE FROM grants WHERE id = ? AND person IN (?, '')"
        return session.execute(sql, (grant_id, person)).rowcount > 0

    @writes("audit")
    def note(self, session: SqlSession, entries: Sequence[AuditEntry]) -> None:
        known = f"SELECT 1 FROM chats WHERE id = ?{session.row_lock}"  # noqa: S608 - our own words
        for entry in entries:
            if entry.chat_id and session.execute(known, (entry.chat_id,)).fetchone() is None:
                continue
            row = (
                *(entry.chat_id or None, entry.at, entry.kind, entry.tool, entry.title, entry.decision, entry.by),
                *(entry.rule, entry.detail, entry.folder, entry.person),
            )
            session.execute(f"INSERT INTO audit ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608
        for chat_id in {entry.chat_id for entry in entries if entry.chat_id}:
            oldest = "SELECT position FROM audit WHERE chat_id = ? ORDER BY position DESC LIMIT 1 OFFSET ?"
            old = f"DELETE FROM audit WHERE chat_id = ? AND position <= ({oldest})"  # noqa: S608 - our own words
            session.execute(old, (chat_id, chat_id, MOST_OF_CHAT))
        session.execute("DELETE FROM audit WHERE position <= (SELECT max(position) - ? FROM audit)", (MOST,))

    @reads("audit")
    def audit(self, session: SqlSession, chat_id: str | None, limit: int) -> list[AuditEntry]:
        of, values = ("", ()) if chat_id is None else (" WHERE chat_id = ?", (chat_id,))
        if chat_id is not None:
            require(session, chat_id)
        rows = session.execute(
            f"SELECT {_COLUMNS} FROM audit{of} ORDER BY position DESC LIMIT ?",  # noqa: S608 - our own words
            (*values, limit),
        )
        reading = Reading()
        return [*reading.all(reading.audit, rows)]
