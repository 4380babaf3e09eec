"""What can still be read of a damaged SQLite file, row by row, in a new one."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codelaw.adapters.stores.migrations import migrate
from codelaw.adapters.stores.rows import chat_rows
from codelaw.adapters.stores.rows.codec import text_or_bytes
from codelaw.adapters.stores.sqlite.session import SqliteSession
from codelaw.domain.chats import Chat

SECONDS = 30.0
"""What reading may take; what was not reached by then stays in the damaged file."""
MISSES = 100_000
"""Numbers of rows in a row that cannot be read before the rest of a table is given up."""
_BATCH = 200
_FIRST = ("chats", "turns", "messages")
"""Without these the others say nothing."""
_FOLLOWING = ("migrations", "search_waiting")
"""What the new database has of its own."""
_LOST_TITLE = "Saved from a damaged database"
_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)


@dataclass(slots=True)
class Salvaged:
    """How it went."""

    chats: int = 0
    messages: int = 0
    whole: bool = True
    """Every row was read, as far as that can be known."""


def salvage(damaged: Path, fresh: Path) -> Salvaged:
    """Make the database `fresh` with all that can be read of `damaged`, which is only read. `fresh` has no side files.

    Raises:
        sqlite3.Error, OSError: `fresh` could not be written; it is gone then.
    """
    done = Salvaged()
    try:
        fresh.unlink(missing_ok=True)
        os.close(os.open(fresh, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(sqlite3.connect(fresh, isolation_level=None)) as target:
            target.execute("PRAGMA journal_mode = MEMORY")
            migrate(target)
            target.execute("BEGIN IMMEDIATE")
            _copy(damaged, target, done)
            _adopt(target)
            target.execute(  # whose passages were lost is indexed again
                "UPDATE messages SET indexed = 0 WHERE indexed <> 0 AND NOT EXISTS (SELECT 1 FROM passages"
                " WHERE passages.chat_id = messages.chat_id AND passages.message_id = messages.id)"
            )
            counted = "SELECT (SELECT count(*) FROM chats), (SELECT count(*) FROM messages)"
            done.chats, done.messages = target.execute(counted).fetchone()
            target.execute("COMMIT")
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    return done


def _copy(damaged: Path, target: sqlite3.Connection, done: Salvaged) -> None:
    until = time.monotonic() + SECONDS
    try:
        with closing(
            sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as source:
            source.text_factory = text_or_bytes
            source.execute("PRAGMA writable_schema = ON")  # else a file that was cut short is not read at all
            for table in _tables(target):
                has = {row[1] for row in source.execute(f"PRAGMA table_info({table})")}
                columns = [row[1] for row in target.execute(f"PRAGMA table_info({table})") if row[1] in has]
                if not columns:  # the table was lost
                    continue
                names, marks = ", ".join(columns), ", ".join("?" * len(columns))
                insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - our own names
                for row in _rows(source, table, names, until, done):
                    if target.execute(insert, row).rowcount < 1:
                        done.whole = False
    except _UNREADABLE:  # not even its schema can be read
        done.whole = False


def _tables(target: sqlite3.Connection) -> list[str]:
    """The tables that hold rows of their own, the most telling first; what an index keeps for itself is made anew."""
    listed = target.execute("PRAGMA main.table_list").fetchall()
    names = [row[1] for row in listed if row[2] == "table" and row[1] not in _FOLLOWING and row[1][:7] != "sqlite_"]
    return sorted(names, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))


def _rows(
    source: sqlite3.Connection, table: str, names: str, until: float, done: Salvaged
) -> Iterator[tuple[Any, ...]]:
    """The rows in the order of their numbers; where one cannot be reached, the next number is tried."""
    select = f"SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT ?"  # noqa: S608
    at, misses, last = 0, 0, _last(source, table)
    while at < last and misses < MISSES and time.monotonic() < until:
        try:
            count = 0
            for row in source.execute(select, (at, 1 if misses else _BATCH)):
                count, at = count + 1, row[0]
                yield row[1:]
            if not count:
                return
            misses = 0
        except _UNREADABLE:
            at, misses, done.whole = at + 1, misses + 1, False
    if at < last:
        done.whole = False


def _last(source: sqlite3.Connection, table: str) -> int:
    try:
        return source.execute(f"SELECT max(rowid) FROM {table} NOT INDEXED").fetchone()[0] or 0  # noqa: S608
    except _UNREADABLE:
        return 2**62


def _adopt(target: sqlite3.Connection) -> None:
    """A chat for the messages whose own was lost; what still belongs to nothing is left out."""
    lost = target.execute(
        "SELECT chat_id, min(started_at), max(started_at), max(number) FROM turns"
        " WHERE chat_id NOT IN (SELECT id FROM chats) GROUP BY chat_id"
        " UNION SELECT DISTINCT chat_id, NULL, NULL, 0 FROM messages"
        " WHERE chat_id NOT IN (SELECT id FROM chats) AND chat_id NOT IN (SELECT chat_id FROM turns)"
    ).fetchall()
    for chat_id, begun, used, turns in lost:
        now = time.time()
        chat = Chat(
            id=chat_id,
            title=_LOST_TITLE,
            kind="panel",
            mode="ask",
            model="offline",
            strategy="layered",
            created_at=begun or now,
            updated_at=used or now,
            places=("offline",),
        )
        chat_rows.create(SqliteSession(target), chat)
        target.execute(
            "UPDATE chats SET begun = ?, seq = (SELECT coalesce(max(seq), 0) FROM events WHERE chat_id = chats.id)"
            " WHERE id = ?",
            (turns, chat_id),
        )
    for table, rowid, _, _ in target.execute("PRAGMA foreign_key_check").fetchall():
        target.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))  # noqa: S608 - our own names
