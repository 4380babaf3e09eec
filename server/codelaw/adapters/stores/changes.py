"""What turns did to files, as rows, and who may undo it just now (E-2)."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Sequence
from typing import Any, Literal

from codelaw.adapters.stores.repository import SqlRepository, reads, writes
from codelaw.adapters.stores.rows.chat_rows import position_of, refuse_reverting
from codelaw.adapters.stores.rows.checks import checksum, verify
from codelaw.adapters.stores.rows.codec import Unreadable, decoder, legible
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.domain.edits import DAMAGED, KeptChange
from codelaw.domain.errors import Refusal

Encoding = Literal["utf-8", "binary", "lost", "folder"]
Mark = Literal["done", "undone"]

_COLUMNS = ("number", "turn_id", "call_id", "path", "uri", "before", "after", "encoding", "bom", "mode", "state")
_CHANGES = (
    "SELECT number, turn_id, call_id, path, uri, before_text, after_text, encoding, bom, mode, state, checksum"
    " FROM changes WHERE chat_id = ?"
)
_STANDING = " AND state IN ('done', 'unknown')"
FAST = 1
"""Of zlib's levels: a text waits for its place on the disk while it is compressed."""


class SqlChanges(SqlRepository):
    """What was done to files, and not undone (`ChatStore`)."""

    @writes()
    def plan_change(self, session: SqlSession, chat_id: str, change: KeptChange) -> int:
        before = _packed(change.before)
        known = (change.turn_id, change.call_id, change.path, change.uri, change.encoding, int(change.bom), change.mode)
        return session.execute(
            "INSERT INTO changes (chat_id, turn_id, call_id, path, uri, encoding, bom, mode, before_text, after_text,"
            " state, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            (chat_id, *known, before, _packed(change.after), change.state, checksum(chat_id, *known, before)),
        ).fetchone()[0]

    @writes()
    def settle_change(self, session: SqlSession, chat_id: str, number: int, after: str | None) -> None:
        session.execute(
            "UPDATE changes SET after_text = ?, state = 'done' WHERE chat_id = ? AND number = ? AND state = 'planned'",
            (_packed(after), chat_id, number),
        )

    @writes()
    def withdraw_change(self, session: SqlSession, chat_id: str, number: int) -> None:
        session.execute("DELETE FROM changes WHERE chat_id = ? AND number = ? AND state = 'planned'", (chat_id, number))

    @writes()
    def mark_changes(self, session: SqlSession, chat_id: str, numbers: Sequence[int], state: Mark) -> None:
        only = " AND state = 'undone'" if state == "done" else ""
        session.execute_many(
            f"UPDATE changes SET state = ? WHERE chat_id = ? AND number = ?{only}",  # noqa: S608 - our own words
            [(state, chat_id, number) for number in numbers],
        )

    @reads()
    def changes(
        self,
        session: SqlSession,
        chat_id: str,
        turn_id: str | None = None,
        *,
        since: bool = False,
        of_file: tuple[str, int] | None = None,
        numbers: Sequence[int] | None = None,
    ) -> list[KeptChange]:
        where, values = "", ()
        if turn_id is not None:
            turns = f"SELECT id FROM turns WHERE chat_id = ? AND position {'>=' if since else '='} ?"  # noqa: S608
            where, values = f" AND turn_id IN ({turns})", (chat_id, position_of(session, chat_id, turn_id))
        elif of_file is not None:
            where, values = f" AND uri = ? AND number > ?{_STANDING}", of_file
        elif numbers is not None:
            where, values = f" AND number IN ({', '.join('?' * len(numbers))})", tuple(numbers)
        rows = session.execute(f"{_CHANGES}{where} ORDER BY number", (chat_id, *values))
        return [_change(chat_id, row) for row in rows]

    @reads()
    def changes_of_chat(self, session: SqlSession, chat_id: str) -> list[KeptChange]:
        rows = session.execute(
            "SELECT number, turn_id, call_id, path, uri, before_text IS NULL, after_text IS NULL, encoding, 0, NULL,"  # noqa: S608 - ours
            f" state FROM changes WHERE chat_id = ?{_STANDING} ORDER BY number",
            (chat_id,),
        )
        return [_known(row, *(None if missing else "" for missing in row[5:7])) for row in rows]

    @writes()
    def begin_revert(self, session: SqlSession, chat_id: str) -> None:
        refuse_reverting(session, self.owners.is_alive, chat_id)
        running = "SELECT owner FROM turns WHERE chat_id = ? AND status = 'running'"
        if any(self.owners.is_alive(legible(row[0])) for row in session.execute(running, (chat_id,))):
            raise Refusal("chat_busy", "A turn is running in this chat.", "Wait for it, or cancel it.")
        session.execute("UPDATE chats SET reverting = ? WHERE id = ?", (self.owner, chat_id))

    @writes(bare=True)
    def end_revert(self, session: SqlSession, chat_id: str) -> None:
        session.execute("UPDATE chats SET reverting = '' WHERE id = ? AND reverting = ?", (chat_id, self.owner))


def _packed(text: str | None) -> bytes | None:
    return None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"), FAST)


def _unpacked(stored: Any) -> str | None:
    if stored is None:
        return None
    try:
        return zlib.decompress(stored).decode("utf-8", "surrogatepass")
    except (zlib.error, TypeError, UnicodeDecodeError) as error:
        raise Unreadable(str(error)) from error


def _change(chat_id: str, row: tuple[Any, ...]) -> KeptChange:
    """One change; a damaged one says so, because a file of which one change is missing must not be undone."""
    *stored, check = row
    number, turn_id, call_id, path, uri, before, after, encoding, bom, mode, state = stored
    try:
        verify(check, chat_id, turn_id, call_id, path, uri, encoding, bom, mode, before)
        stored[5:7] = _unpacked(before), _unpacked(after)
        found: KeptChange = decoder(KeptChange)(dict(zip(_COLUMNS, stored, strict=True)) | {"bom": bom == 1})
        decoder(Encoding)(encoding)
    except Unreadable as error:
        logging.getLogger(__name__).warning("store: the change %s is damaged: %s", number, error)
        return _known((*row[:7], DAMAGED, *row[8:10], "undone" if state == "undone" else "done"))
    return found


def _known(row: tuple[Any, ...], before: str | None = None, after: str | None = None) -> KeptChange:
    """What can be said of a change without its texts."""
    state = "unknown" if row[10] == "unknown" else "undone" if row[10] == "undone" else "done"
    turn_id, call_id, path, uri = map(legible, row[1:5])
    return KeptChange(
        row[0], turn_id, call_id, path, uri, before=before, after=after, encoding=legible(row[7]), state=state
    )
