"""Searching messages by an index of their sequences of characters, as rows (D-2).

The index follows behind: what is said waits in `search_waiting` until a slice of work takes it in, and until then it is
looked through itself. So a search finds the same at every moment, whatever is indexed already, and no message waits for
the index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from zlib import crc32

from codelaw.adapters.stores.rows.codec import legible
from codelaw.adapters.stores.rows.database import Dialect, SqlSession

LONGEST = 1_000_000
"""Characters of a text that is indexed. A longer one would hold up whoever writes, and is looked through instead."""
ASKED = 24
"""Sequences of a question that the index is asked for, at most: more hardly tell more."""
SHORTEST = 2

_UNSPEAKABLE = re.compile("[\0\ud800-\udfff\ufffe\uffff]")
"""What ends a text for SQLite's tokenizer, or what it does not tell from others."""
_END = "\x01\x01"
"""Behind a text, so that its last two characters begin a sequence as well."""
_PRIVATE, _COUNT = 0xE000, 6400
"""Characters that mean nothing, and how many there are."""


def folded(text: str | bytes) -> str:
    """`text` as it is compared, without what an index does not take."""
    return _UNSPEAKABLE.sub("\ufffd", legible(text).casefold())


def indexed(text: str | bytes) -> str:
    """What SQLite's tokenizer is to cut into sequences of three."""
    return folded(text) + _END


def chat_mark(chat_id: str | bytes) -> str:
    """Three characters that stand for a chat; two chats may share them."""
    number = int.from_bytes(blake2b(legible(chat_id).encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return "".join(chr(_PRIVATE + number // _COUNT**place % _COUNT) for place in range(3))


def asked(question: str) -> list[str]:
    """The sequences of a question that has three characters or more, as many as are worth asking for."""
    text = folded(question)
    places = list(range(len(text) - 2))
    if len(places) > ASKED:
        places = [place * (len(places) - 1) // (ASKED - 1) for place in range(ASKED)]
    return list(dict.fromkeys(text[place : place + 3] for place in places))


def numbers(text: str | bytes) -> list[int]:
    """The sequences of two and of three characters as numbers with a sign, of 16 bits."""
    said = folded(text)
    pairs = {said[place : place + 2] for place in range(len(said) - 1)}
    triples = {said[place : place + 3] for place in range(len(said) - 2)}
    return sorted({number(gram) for gram in pairs | triples})


def number(gram: str) -> int:
    """A sequence as a number; several share one."""
    return (crc32(gram.encode()) & 0xFFFF) - 0x8000


SLICE_CHARS = 150_000
"""Of the texts that one slice takes in: some tens of milliseconds."""
SLICE_MESSAGES = 200
FEW = 3_000
"""Messages that a search may look through one by one before it goes another way."""
NEWEST = 20_000
DENSE = 400
"""Of the newest messages, from which on a question is so frequent that the chats are looked through, newest first."""
TERMS = 300
"""Sequences of three that may begin with the two characters of a question."""

HOLDS: dict[Dialect, str] = {
    "sqlite": "holds(CAST({} AS BLOB), ?)",
    "postgresql": "strpos(folded({}), ?) > 0",
}
"""Whether a column holds a text that is case-folded already."""

Condition = tuple[str, tuple[Any, ...]]
"""Of a row of `chats`, with its parameters."""

_WAITING = "SELECT position FROM search_waiting"
_OF_CHAT = (
    "SELECT 1 FROM message_grams CROSS JOIN messages ON messages.position = message_grams.rowid"
    " WHERE message_grams MATCH of_chat(CAST(chats.id AS BLOB)) || ? AND chat_id = chats.id"
)
_ADD = "INSERT INTO message_grams (rowid, text, chat) VALUES (?, ?, ?)"
_TAKE_OUT = "INSERT INTO message_grams (message_grams, rowid, text, chat) VALUES ('delete', ?, ?, ?)"


Waiting = tuple[int, str | bytes, str | bytes]
"""Position, chat and text of a message."""


Ready = tuple[int, str | bytes, str, tuple[Any, ...]]
"""Position and chat of a message, and the statement that takes it in."""


def condition(session: SqlSession, query: str, *, by_index: bool = True) -> Condition:
    """Whether a message of a chat holds `query`, by the way that is likely the shortest."""
    holds, wanted = HOLDS[session.dialect].format("content"), query.casefold()
    through = f"EXISTS (SELECT 1 FROM messages WHERE chat_id = chats.id AND {holds})"  # noqa: S608 - our own words
    if not by_index or _more(session, _WAITING, ()):
        return through, (wanted,)
    found = _candidates(session, query)
    if found is None:
        return through, (wanted,)
    of_some = f"id IN (SELECT chat_id FROM messages WHERE position IN ({{}}) AND {holds})"  # noqa: S608 - ours
    candidates, parameters = found
    if not _more(session, candidates, parameters):
        return of_some.format(f"{candidates} UNION ALL {_WAITING}"), (*parameters, wanted)
    if session.dialect == "postgresql" or _dense(session, parameters[0]):
        return through, (wanted,)
    in_chat = f"EXISTS ({_OF_CHAT} AND {holds})"
    return f"({in_chat} OR {of_some.format(_WAITING)})", (f" AND ({parameters[0]})", wanted, wanted)


def waiting(session: SqlSession) -> list[Waiting]:
    """The next slice of what was said since."""
    return _bounded(
        session,
        "SELECT position, chat_id, content FROM messages WHERE position IN"
        " (SELECT position FROM search_waiting WHERE state = 0 ORDER BY position LIMIT ?) ORDER BY position",
        (SLICE_MESSAGES,),
    )


def ready(messages: Sequence[Waiting], dialect: Dialect) -> list[Ready]:
    """A slice made ready. It takes its time: not for the thread that writes."""
    return [(position, chat_id, *_taking_in(position, chat_id, text, dialect)) for position, chat_id, text in messages]


def _taking_in(position: int, chat_id: str | bytes, text: str | bytes, dialect: Dialect) -> tuple[str, tuple[Any, ...]]:
    if len(text) > LONGEST:
        return "INSERT INTO search_waiting (position, state) VALUES (?, 2)", (position,)
    if dialect == "sqlite":
        return _ADD, (position, indexed(text), chat_mark(chat_id))
    listed = "{" + ",".join(map(str, numbers(text))) + "}"
    return "INSERT INTO message_grams (position, grams) VALUES (?, ?)", (position, listed)


def add(session: SqlSession, messages: Sequence[Ready]) -> None:
    """Take in a slice; what is gone meanwhile, or was taken in by another server, is left out."""
    # SQLite gives the position of a message that was deleted to another one: it is of another chat then.
    same = "EXISTS (SELECT 1 FROM messages WHERE messages.position = search_waiting.position AND chat_id = ?)"
    taken = f"DELETE FROM search_waiting WHERE position = ? AND state = 0 AND {same}"  # noqa: S608 - our own words
    for position, chat_id, statement, parameters in messages:
        if session.execute(taken, (position, chat_id)).rowcount:
            session.execute(statement, parameters)


def take_out(session: SqlSession, chat_id: str) -> bool:
    """Take a slice of a chat's messages out of the index before they are deleted; gives whether that was all of them.

    Until they are deleted they are looked through again.
    """
    if session.dialect == "postgresql":
        return True
    rows = _bounded(
        session,
        "SELECT position, chat_id, content FROM messages WHERE chat_id = ?"
        " AND position NOT IN (SELECT position FROM search_waiting) ORDER BY position LIMIT ?",
        (chat_id, SLICE_MESSAGES + 1),
    )
    for position, chat, content in rows:
        session.execute(_TAKE_OUT, (position, indexed(content), chat_mark(chat)))
    waiting = "INSERT INTO search_waiting (position, state) VALUES (?, 1)"
    session.execute_many(waiting, [(row[0],) for row in rows])
    if rows:  # what waits is not to be taken in meanwhile
        session.execute(
            "UPDATE search_waiting SET state = 1 WHERE state = 0"
            " AND position IN (SELECT position FROM messages WHERE chat_id = ?)",
            (chat_id,),
        )
    return not rows or (len(rows) <= SLICE_MESSAGES and sum(len(row[2]) for row in rows) < SLICE_CHARS)


def take_back(session: SqlSession) -> None:
    """Let be indexed again what belongs to a chat whose deletion was broken off."""
    session.execute("UPDATE search_waiting SET state = 0 WHERE state = 1")


def _candidates(session: SqlSession, query: str) -> Condition | None:
    """Positions of messages that may hold the question; None: the index cannot say."""
    text = folded(query)
    if len(text) < SHORTEST:
        return None
    if session.dialect == "postgresql":
        wanted = [text] if len(text) == SHORTEST else asked(query)
        listed = "{" + ",".join(str(number(gram)) for gram in wanted) + "}"
        return "SELECT position FROM message_grams WHERE grams @> CAST(? AS SMALLINT[])", (listed,)
    if len(text) > SHORTEST:
        match = " AND ".join(map(_quoted, asked(query)))
    else:
        listed = session.execute(
            "SELECT term FROM message_vocabulary WHERE term >= ? AND term <= ? LIMIT ?",
            (text, f"{text}\U0010ffff", TERMS + 1),
        ).fetchall()
        if len(listed) > TERMS:
            return None
        match = " OR ".join(_quoted(legible(row[0])) for row in listed) or _quoted("\x01\x01\x01")  # no text has it
    return "SELECT rowid FROM message_grams WHERE message_grams MATCH ?", (match,)


def of_chat(chat_id: bytes) -> str:
    """The SQL function `of_chat`: what the index is asked for that a chat's messages have."""
    return _quoted(chat_mark(chat_id))


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'


def _more(session: SqlSession, positions: str, parameters: tuple[Any, ...]) -> bool:
    """Whether these are more than a few."""
    some = f"SELECT count(*) FROM (SELECT 1 FROM ({positions}) AS them LIMIT ?) AS few"  # noqa: S608 - ours
    return session.execute(some, (*parameters, FEW + 1)).fetchone()[0] > FEW


def _dense(session: SqlSession, match: str) -> bool:
    """Whether so many of the newest messages may hold the question that the newest chats are soon found without it."""
    newest: int = session.execute("SELECT coalesce(max(position), 0) FROM messages").fetchone()[0]
    of_newest = "SELECT rowid FROM message_grams WHERE message_grams MATCH ? AND rowid > ? LIMIT ?"
    return len(session.execute(of_newest, (match, newest - NEWEST, DENSE)).fetchall()) >= DENSE


def _bounded(session: SqlSession, sql: str, parameters: tuple[Any, ...]) -> list[Waiting]:
    """Rows until their texts are as long as a slice, one at least."""
    rows: list[Waiting] = []
    length = 0
    for position, chat_id, content in session.execute(sql, parameters):
        rows.append((position, chat_id, content))
        length += len(content)
        if length >= SLICE_CHARS:
            break
    return rows
