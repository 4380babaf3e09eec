"""What turns did to files, as rows, and who may undo it just now (E-2)."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Sequence
from typing import Any, Literal

from codelaw.adapters.stores.repository import SqlRepository, reads, writes
from codelaw.adapters.stores.rows.chat_rows import position_of, refuse_reverting, require
from codelaw.adapters.stores.rows.checks import checksum, verify
from codelaw.adapters.stores.rows.codec import Unreadable, legible, valid, whole
from codelaw.adapters.stores.rows.database import Session
from codelaw.domain.edits import DAMAGED, KeptChange
from codelaw.domain.errors import Refusal

State = Literal["planned", "done", "undone", "unknown"]
Encoding = Literal["utf-8", "binary", "lost", "folder"]

_CHANGES = (
    "SELECT number, turn_id, call_id, path, uri, before_text, after_text, encoding, bom, mode, state, checksum"
    " FROM changes WHERE chat_id = ?"
)
FAST = 1
"""Of zlib's levels: a text waits for its place on the disk while it is compressed."""


class SqlChanges(SqlRepository):
    """What was done to files, and not undone (`ChatStore`)."""

    @writes()
    def plan_change(self, session: Session, chat_id: str, change: KeptChange) -> int:
        require(session, chat_id)
        before = _packed(change.before)
        known = (change.turn_id, change.call_id, change.path, change.uri, change.encoding, change.bom, change.mode)
        return session.execute(
            "INSERT INTO changes (chat_id, turn_id, call_id, path, uri, encoding, bom, mode, before_text, after_text,"
            " state, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            (chat_id, *known, before, _packed(change.after), change.state, checksum(chat_id, *known, before)),
        ).fetchone()[0]

    @writes()
    def settle_change(self, session: Session, chat_id: str, number: int, after: str | None) -> None:
        require(session, chat_id)
        session.execute(
            "UPDATE changes SET after_text = ?, state = 'done' WHERE chat_id = ? AND number = ? AND state = 'planned'",
            (_packed(after), chat_id, number),
        )

    @writes()
    def withdraw_change(self, session: Session, chat_id: str, number: int) -> None:
        require(session, chat_id)
        session.execute("DELETE FROM changes WHERE chat_id = ? AND number = ? AND state = 'planned'", (chat_id, number))

    @writes()
    def mark_undone(self, session: Session, chat_id: str, numbers: Sequence[int]) -> None:
        require(session, chat_id)
        session.execute_many(
            "UPDATE changes SET state = 'undone' WHERE chat_id = ? AND number = ?",
            [(chat_id, number) for number in numbers],
        )

    @writes()
    def mark_done(self, session: Session, chat_id: str, numbers: Sequence[int]) -> None:
        session.execute_many(
            "UPDATE changes SET state = 'done' WHERE chat_id = ? AND number = ? AND state = 'undone'",
            [(chat_id, number) for number in numbers],
        )

    @reads()
    def changes(self, session: Session, chat_id: str, turn_id: str) -> list[KeptChange]:
        require(session, chat_id)
        position_of(session, chat_id, turn_id)
        rows = session.execute(f"{_CHANGES} AND turn_id = ? ORDER BY number", (chat_id, turn_id))
        return [_change(chat_id, row) for row in rows]

    @reads()
    def changes_of_chat(self, session: Session, chat_id: str) -> list[KeptChange]:
        require(session, chat_id)
        rows = session.execute(
            "SELECT number, turn_id, call_id, path, uri, encoding, state, before_text IS NULL, after_text IS NULL"
            " FROM changes WHERE chat_id = ? AND state IN ('done', 'unknown') ORDER BY number",
            (chat_id,),
        )
        return [
            KeptChange(
                number=number,
                turn_id=legible(turn_id),
                call_id=legible(call_id),
                path=legible(path),
                uri=legible(uri),
                before=None if created else "",
                after=None if removed else "",
                encoding=legible(encoding),
                state="done" if state == "done" else "unknown",
            )
            for number, turn_id, call_id, path, uri, encoding, state, created, removed in rows
        ]

    @reads()
    def changes_of_file(self, session: Session, chat_id: str, uri: str, above: int) -> list[KeptChange]:
        require(session, chat_id)
        rows = session.execute(
            f"{_CHANGES} AND uri = ? AND number > ? AND state IN ('done', 'unknown') ORDER BY number",
            (chat_id, uri, above),
        )
        return [_change(chat_id, row) for row in rows]

    @reads()
    def changes_by_number(self, session: Session, chat_id: str, numbers: Sequence[int]) -> list[KeptChange]:
        require(session, chat_id)
        marks = ", ".join("?" for _ in numbers)
        rows = session.execute(
            f"{_CHANGES} AND number IN ({marks}) ORDER BY number",
            (chat_id, *numbers),
        )
        return [_change(chat_id, row) for row in rows]

    @reads()
    def changes_since(self, session: Session, chat_id: str, turn_id: str) -> list[KeptChange]:
        require(session, chat_id)
        position = position_of(session, chat_id, turn_id)
        behind = "SELECT id FROM turns WHERE chat_id = ? AND position >= ?"
        rows = session.execute(f"{_CHANGES} AND turn_id IN ({behind}) ORDER BY number", (chat_id, chat_id, position))
        return [_change(chat_id, row) for row in rows]

    @writes()
    def begin_revert(self, session: Session, chat_id: str) -> None:
        refuse_reverting(session, self.owners.is_alive, chat_id)
        running = "SELECT owner FROM turns WHERE chat_id = ? AND status = 'running'"
        if any(self.owners.is_alive(legible(row[0])) for row in session.execute(running, (chat_id,))):
            raise Refusal("chat_busy", "A turn is running in this chat.", "Wait for it, or cancel it.")
        session.execute("UPDATE chats SET reverting = ? WHERE id = ?", (self.owner, chat_id))

    @writes()
    def end_revert(self, session: Session, chat_id: str) -> None:
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
    number, turn_id, call_id, path, uri, before, after, encoding, bom, mode, state, check = row
    try:
        verify(check, chat_id, turn_id, call_id, path, uri, encoding, bom, mode, before)
        return KeptChange(
            number=number,
            turn_id=whole(turn_id),
            call_id=whole(call_id),
            path=whole(path),
            uri=whole(uri),
            before=_unpacked(before),
            after=_unpacked(after),
            encoding=valid(Encoding, encoding),
            bom=bool(valid(int, bom)),
            mode=None if mode is None else valid(int, mode),
            state=valid(State, state),
        )
    except Unreadable as error:
        logging.getLogger(__name__).warning("store: the change %s is damaged: %s", number, error)
        reported: State = "undone" if state == "undone" else "done"
        return KeptChange(
            number=number,
            turn_id=legible(turn_id),
            call_id=legible(call_id),
            path=legible(path),
            uri=legible(uri),
            before=None,
            after=None,
            encoding=DAMAGED,
            state=reported,
        )
