"""Passages of messages, their vectors and who embeds them just now, as rows (B-4, B-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from codelaw.adapters.stores.rows.chat_rows import MESSAGE
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.domain.messages import Message
from codelaw.ranking.dates import tells_time
from codelaw.ranking.passages import readable, split
from codelaw.ranking.words import packed

_UNINDEXED = (
    f"SELECT {MESSAGE}, coalesce(turns.started_at, 0.0),"  # noqa: S608 - our own words
    " coalesce(turns.position, 0), messages.position FROM messages"
    " LEFT JOIN turns ON turns.chat_id = messages.chat_id AND turns.id = messages.turn_id WHERE messages.indexed = 0"
)
UNEMBEDDED = (
    " FROM passages WHERE NOT EXISTS"
    " (SELECT 1 FROM vectors WHERE vectors.passage_id = passages.id AND vectors.embedder = ?)"
)
UNCLAIMED = " AND NOT EXISTS (SELECT 1 FROM claims WHERE claims.passage_id = passages.id AND claims.embedder = ?)"

Key = str | bytes
"""An id as it stands in its column."""


class Unindexed(NamedTuple):
    """A message that waits, and where it stands."""

    chat_id: Key
    message_id: Key
    message: Message | None
    """None: nobody can say who spoke."""
    said_at: float
    turn_position: int
    message_position: int


class Prepared(NamedTuple):
    """A message with the rows of its passages."""

    chat_id: Key
    message_id: Key
    rows: list[tuple[Any, ...]]


def unindexed(session: SqlSession, chat_id: str | None, limit: int) -> list[Unindexed]:
    """Messages that have no passages yet."""
    chosen, parameters = chosen_chat("messages.chat_id", chat_id)
    rows = session.execute(
        f"{_UNINDEXED}{chosen} ORDER BY messages.chat_id, messages.position LIMIT ?", (*parameters, limit)
    )
    reading = Reading()
    return [Unindexed(row[5], row[0], reading.message(tuple(row[:8])), *row[8:]) for row in rows]


def prepared(source: Unindexed) -> Prepared:
    """The passages of a message. A pure function that takes its time: not for the database's thread."""
    chat_id, message_id, message, said_at, *positions = source
    # What a child said comes back by its report alone.
    if message is None or message.metadata.parent:
        return Prepared(chat_id, message_id, [])
    text = readable(message)
    known = (*positions, message.role, said_at, int(tells_time(text)))
    rows = [(chat_id, message_id, part, *known, len(one), packed(one), one) for part, one in enumerate(split(text))]
    return Prepared(chat_id, message_id, rows)


def add(session: SqlSession, messages: Sequence[Prepared]) -> None:
    """Add the passages of messages that nobody else has indexed."""
    for chat_id, message_id, rows in messages:
        marked = session.execute(
            "UPDATE messages SET indexed = 1 WHERE chat_id = ? AND id = ? AND indexed = 0", (chat_id, message_id)
        )
        if marked.rowcount:
            session.execute_many(
                "INSERT INTO passages (chat_id, message_id, part, turn_position, message_position, role, said_at,"
                " tells_time, chars, words, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )


def first_waiting(session: SqlSession, embedder: str, chat_id: str | None, after: int) -> tuple[int, bool]:
    """The first passage behind `after` without a vector of that embedder and True, or the newest of all and False."""
    chosen, parameters = chosen_chat("chat_id", chat_id)
    newest = session.execute(f"SELECT max(id) FROM passages WHERE id > ?{chosen}", (after, *parameters)).fetchone()[0]  # noqa: S608
    first = session.execute(
        f"SELECT id{UNEMBEDDED}{chosen} AND id > ? ORDER BY id LIMIT 1", (embedder, *parameters, after)
    ).fetchone()
    return (newest or after, False) if first is None else (first[0], True)


def waiting(session: SqlSession, embedder: str, chat_id: str | None) -> int:
    """Messages without passages, and passages without a vector."""
    chosen, parameters = chosen_chat("chat_id", chat_id)
    messages = session.execute(f"SELECT count(*) FROM messages WHERE indexed = 0{chosen}", parameters)  # noqa: S608
    passages = session.execute(f"SELECT count(*){UNEMBEDDED}{chosen}", (embedder, *parameters))
    return messages.fetchone()[0] + passages.fetchone()[0]


def of_chat(session: SqlSession, chat_id: str, after: int) -> tuple[int, list[Any]]:
    """How many passages a chat has, and those with higher numbers than `after`.

    Each: `turn_position, message_position, part, id, message_id, role, said_at, tells_time, chars, words`; what is the
    same for all parts of a message stands in the first one only.
    """
    count = session.execute("SELECT count(*) FROM passages WHERE chat_id = ?", (chat_id,)).fetchone()[0]
    rows = session.execute(
        "SELECT turn_position, message_position, part, id, CASE WHEN part = 0 THEN message_id END,"
        " CASE WHEN part = 0 THEN role END, said_at, tells_time, chars, words FROM passages"
        " WHERE chat_id = ? AND id > ?",
        (chat_id, after),
    ).fetchall()
    return count, rows


def vectors_of_chat(session: SqlSession, chat_id: str, embedder: str, after: int) -> tuple[int, list[Any]]:
    """How many vectors a chat has of an embedder, and `id, passage_id, vector` of those behind `after`."""
    of_both = (chat_id, embedder)
    count = session.execute("SELECT count(*) FROM vectors WHERE chat_id = ? AND embedder = ?", of_both).fetchone()[0]
    rows = session.execute(
        "SELECT id, passage_id, vector FROM vectors WHERE chat_id = ? AND embedder = ? AND id > ? ORDER BY id",
        (*of_both, after),
    ).fetchall()
    return count, rows


def chosen_chat(column: str, chat_id: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if chat_id is None else (f" AND {column} = ?", (chat_id,))


def drop_others(session: SqlSession, chat_id: Key, embedder: str, size: int) -> bool:
    newest = session.execute(
        "SELECT length(vector) FROM vectors WHERE chat_id = ? AND embedder = ? ORDER BY id DESC LIMIT 1",
        (chat_id, embedder),
    ).fetchone()
    if newest is None or newest[0] == size:
        return False
    session.execute(
        "DELETE FROM vectors WHERE chat_id = ? AND embedder = ? AND length(vector) <> ?", (chat_id, embedder, size)
    )
    return True
