"""Chats as rows of an SQL database, which several servers may share (D-1, D-3, D-4)."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from codelaw.adapters.stores.changes import SqlChanges
from codelaw.adapters.stores.events import END, OF_TURNS, SqlEvents, events_between
from codelaw.adapters.stores.forks import fork_chat
from codelaw.adapters.stores.history import SqlHistory
from codelaw.adapters.stores.permissions import SqlPermissions
from codelaw.adapters.stores.readers import Database
from codelaw.adapters.stores.repository import reads, writes
from codelaw.adapters.stores.rows import search_rows
from codelaw.adapters.stores.rows.chat_rows import (
    MESSAGE,
    add_asides,
    add_messages,
    add_results,
    create,
    position_of,
    refuse_reverting,
    save_todos,
    settings,
    unknown_chat,
)
from codelaw.adapters.stores.rows.checks import checksum, verify
from codelaw.adapters.stores.rows.codec import Unreadable, from_text, legible, to_text, whole
from codelaw.adapters.stores.rows.database import SqlSession, cursor_at, cursor_place
from codelaw.adapters.stores.rows.reading import Reading, missing, missing_turns
from codelaw.adapters.stores.search_keeper import SearchKeeper
from codelaw.adapters.stores.sqlite.damage import is_damage
from codelaw.domain.chats import Chat, ChatHead, Notice, StoredChat, StoredTurn, Todo
from codelaw.domain.checkpoints import Aside
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Message
from codelaw.domain.reports import ChatRecord

Running = dict[str | bytes, list[StoredTurn]]
"""Turns by their chats."""

MAX_LISTED = 500
MAX_ASKED = 500
"""Results that one statement asks for."""
_NEXT = 0.001
"""Seconds by which a chat is put behind the newest other one."""

_CHAT = (
    "SELECT id, title, kind, mode, model, strategy, created_at, updated_at,"
    " (SELECT count(*) FROM turns WHERE chat_id = chats.id), CAST(generation AS INTEGER), chosen, places, effort,"
    " checksum, settled, todos, begun, todos_checksum FROM chats"
)
_CHECKPOINTS = "SELECT body, chat_id, id, checksum FROM checkpoints WHERE chat_id = ? AND undone = 0 ORDER BY position"
_TURNS = (
    "SELECT id, chat_id, status, owner, started_at, last_usage, stop_reason, number, checksum, said"
    " FROM turns WHERE chat_id"
)
_NUMBERS = "SELECT 0, 0, 0, 0, 0, 0, 0, number FROM turns WHERE chat_id = ? ORDER BY position"
"""Turns of which nothing else is asked."""
_MESSAGES = (
    f"SELECT {MESSAGE} {OF_TURNS.format('messages')} ORDER BY turns.position, messages.number, messages.position"
)


class SqlChats(SqlChanges, SqlEvents, SqlHistory, SqlPermissions):
    """A `ChatStore`."""

    notices: tuple[Notice, ...] = ()
    """What the user should know of how it was opened."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.search = SearchKeeper(database)

    def said(self) -> None:
        """Let the index of the search take it in."""
        self.search.said()

    @writes(bare=True)
    def create(self, session: SqlSession, chat: Chat, folders: Collection[str] = ()) -> None:
        create(session, chat, folders)

    @writes()
    def update(self, session: SqlSession, chat: Chat) -> None:
        session.execute(
            "UPDATE chats SET title = ?, mode = ?, model = ?, strategy = ?, chosen = ?, places = ?, effort = ?,"
            " checksum = ?, updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at END WHERE id = ?",
            (*settings(chat), chat.updated_at, chat.updated_at, chat.id),
        )

    async def list(
        self, query: str | None, limit: int, cursor: str | None, folders: Collection[str] | None = None
    ) -> tuple[list[Chat], str | None]:
        def work(session: SqlSession, *, by_index: bool = True) -> tuple[list[Chat], str | None]:
            conditions: list[str] = []
            parameters: list[Any] = []
            if query:
                said, asked = search_rows.condition(session, query, by_index=by_index)
                conditions.append(f"({search_rows.HOLDS[session.dialect].format('title')} OR {said})")
                parameters += [query.casefold(), *asked]
            if folders is not None:
                among = ", ".join("?" * len(folders)) or "NULL"
                conditions.append(f"id IN (SELECT chat_id FROM chat_folders WHERE folder IN ({among}))")  # noqa: S608 - ours
                parameters += folders
            if cursor is not None:
                conditions.append("(updated_at, id) < (?, ?)")
                parameters += cursor_place(cursor)
            where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
            count = max(1, min(limit, MAX_LISTED))
            rows = session.execute(
                f"{_CHAT}{where} ORDER BY updated_at DESC, id DESC LIMIT ?", (*parameters, count + 1)
            ).fetchall()
            running = _running(session, [row[0] for row in rows[:count]])
            chats = [self._chat(running, Reading(), row) for row in rows[:count]]
            return chats, cursor_at(chats[-1].updated_at, chats[-1].id) if len(rows) > count else None

        try:
            return await self.database.read(work, slow=bool(query))
        except Refusal as refusal:
            if not query or not isinstance(refusal.__cause__, sqlite3.Error) or not is_damage(refusal.__cause__):
                raise
        # It may be the index alone, which the next start makes anew.
        return await self.database.read(lambda session: work(session, by_index=False), slow=True)

    @reads(now=True)
    def begun(self, session: SqlSession, limit: int) -> list[tuple[str, float]]:
        rows = session.execute("SELECT chat_id, started_at FROM turns ORDER BY position DESC LIMIT ?", (limit,))
        return [(str(chat_id), at) for chat_id, at in rows if isinstance(at, float)]

    @reads(bare=True)
    def chat(self, session: SqlSession, chat_id: str) -> Chat:
        row = _row(session, chat_id)
        return self._chat(_running(session, [row[0]]), Reading(), row)

    @reads(now=True)
    def head(self, session: SqlSession, chat_id: str) -> ChatHead:
        row = _row(session, chat_id)
        running = _running(session, [row[0]])
        reading = Reading()
        last = session.execute(f"{_TURNS} = ? ORDER BY position DESC LIMIT 1", (chat_id,)).fetchall()
        numbers = session.execute(_NUMBERS, (chat_id,)).fetchall()
        return ChatHead(
            chat=self._chat(running, reading, row),
            checkpoints=reading.all(reading.checkpoint, session.execute(_CHECKPOINTS, (chat_id,))),
            last=next(iter(reading.all(reading.turn, [turn[:9] for turn in last])), None),
            crashed=any(not self.owners.is_alive(turn.owner) for turns in running.values() for turn in turns),
            losses=(*reading.losses, *missing_turns(row[16], numbers)),
        )

    @reads(bare=True)
    def load(self, session: SqlSession, chat_id: str) -> StoredChat:
        row = _row(session, chat_id)
        # Round by round: what closes a crashed turn may be written after the next turn has begun (D-4).
        messages = session.execute(
            f"SELECT {MESSAGE} FROM messages"  # noqa: S608 - our own words
            " LEFT JOIN turns ON turns.chat_id = messages.chat_id AND turns.id = messages.turn_id"
            " WHERE messages.chat_id = ? ORDER BY turns.position, messages.number, messages.position",
            (chat_id,),
        ).fetchall()
        turns = session.execute(f"{_TURNS} = ? ORDER BY position", (chat_id,)).fetchall()
        notices = session.execute("SELECT code FROM notices WHERE chat_id = ?", (chat_id,))
        checkpoints = session.execute(_CHECKPOINTS, (chat_id,))
        demotions = session.execute(
            "SELECT message_id, part FROM demotions WHERE chat_id = ? ORDER BY position", (chat_id,)
        )
        asides = session.execute(
            "SELECT message_id, name, body, about, chat_id, checksum FROM asides WHERE chat_id = ? ORDER BY position",
            (chat_id,),
        )
        withdrawn = session.execute("SELECT turn_id FROM withdrawn WHERE chat_id = ?", (chat_id,))
        summary = session.execute(
            "SELECT body, chat_id, covers, checksum FROM thread_summaries WHERE chat_id = ?", (chat_id,)
        ).fetchall()
        reading, said = Reading(), {turn[0]: turn[9] for turn in turns}
        return StoredChat(
            chat=self._chat(_running(session, [row[0]]), reading, row),
            messages=reading.all(reading.message, messages),
            turns=reading.all(reading.turn, [turn[:9] for turn in turns]),
            todos=reading.todos((row[15], row[17], row[0])),
            notices=frozenset(reading.all(reading.text, notices)),
            checkpoints=reading.all(reading.checkpoint, checkpoints),
            demotions=reading.all(reading.demotion, demotions),
            asides=reading.all(reading.aside, asides),
            withdrawn=frozenset(reading.all(reading.text, withdrawn)),
            thread_summary=next(iter(reading.all(reading.thread_summary, summary)), None),
            settled=reading.text(row[14:15]),
            losses=(
                *reading.losses,
                *missing_turns(row[16], turns),
                *missing(said, messages),
            ),
        )

    @reads(bare=True)
    def page(self, session: SqlSession, chat_id: str, turns: int | None, before: str | None) -> ChatRecord:
        row = _row(session, chat_id)
        chat = self._chat(_running(session, [row[0]]), Reading(), row)
        until = END if before is None else position_of(session, chat_id, before)
        limit = END if turns is None else turns + 1
        found = session.execute(
            "SELECT position, id, said FROM turns WHERE chat_id = ? AND position < ? ORDER BY position DESC LIMIT ?",
            (chat_id, until, limit),
        ).fetchall()
        earlier = turns is not None and len(found) > turns
        first = found[turns - 1][0] if turns is not None and earlier else 0
        if before is not None and not found:
            return ChatRecord(chat, (), (), chat.running)
        # What happened between two turns belongs to the page of the earlier one: pages have no gap and no overlap.
        reading = Reading()
        rows = session.execute(_MESSAGES, (chat_id, first, until)).fetchall()
        messages = reading.all(reading.message, rows)
        events = events_between(session, chat_id, first, until)
        said = {row[1]: row[2] for row in found if row[0] >= first}
        losses = (*reading.losses, *missing(said, rows))
        return ChatRecord(chat, messages, tuple(events), chat.running, earlier=earlier, losses=losses)

    async def delete(self, chat_id: str) -> None:
        await asyncio.shield(asyncio.ensure_future(self._delete(chat_id)))

    async def _delete(self, chat_id: str) -> None:
        """Slice by slice, so that nobody waits for the index to forget a long chat."""

        def work(session: SqlSession) -> bool:
            done = search_rows.take_out(session, chat_id)
            if done and not session.execute("DELETE FROM chats WHERE id = ?", (chat_id,)).rowcount:
                raise unknown_chat(chat_id)
            return done

        while not await self.database.write(work, (chat_id,)):
            pass

    @writes(said=True)
    def begin_turn(
        self, session: SqlSession, turn: StoredTurn, user: Message, results: Sequence[tuple[str, dict[str, Any]]] = ()
    ) -> int:
        refuse_reverting(session, self.owners.is_alive, turn.chat_id)
        for other in _running(session, [turn.chat_id]).get(turn.chat_id, []):
            if self.owners.is_alive(other.owner):
                hint = "Wait for it, steer it, or cancel it."
                raise Refusal("chat_busy", "A turn is already running in this chat.", hint)
        before: int = session.execute("SELECT count(*) FROM turns WHERE chat_id = ?", (turn.chat_id,)).fetchone()[0]
        number: int = session.execute(
            "UPDATE chats SET begun = begun + 1, updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at END"
            " WHERE id = ? RETURNING begun",
            (*[_moment(session, turn)] * 2, turn.chat_id),
        ).fetchone()[0]
        check = checksum(turn.chat_id, turn.id, number, turn.started_at)
        session.execute(
            "INSERT INTO turns"
            " (chat_id, id, status, owner, started_at, last_usage, stop_reason, number, said, checksum)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
            (
                *(turn.chat_id, turn.id, turn.status, turn.owner, turn.started_at, _usage(turn), turn.stop_reason),
                *(number, check),
            ),
        )
        add_messages(session, turn.chat_id, (user,))
        add_results(session, turn.chat_id, results)
        return before

    @writes(said=True)
    def append(
        self,
        session: SqlSession,
        chat_id: str,
        messages: Sequence[Message],
        results: Sequence[tuple[str, dict[str, Any]]] = (),
        asides: Sequence[Aside] = (),
    ) -> None:
        for turn_id in {message.turn_id for message in messages}:
            ended = "SELECT 1 FROM turns WHERE chat_id = ? AND id = ? AND status <> 'running'"
            if session.execute(ended, (chat_id, turn_id)).fetchone() is not None:  # a server took ours for dead (D-4)
                message = "Another codelaw ended this turn, because its server seemed to be dead."
                raise Refusal("turn_not_found", message, "Send the message again to go on.")
        add_messages(session, chat_id, messages)
        add_results(session, chat_id, results)
        add_asides(session, chat_id, asides)

    @writes(said=True)
    def end_turn(self, session: SqlSession, turn: StoredTurn, messages: Sequence[Message] = ()) -> None:
        written = session.execute(
            "UPDATE turns SET status = ?, owner = ?, last_usage = ?, stop_reason = ?"
            " WHERE chat_id = ? AND id = ? AND status = 'running'",
            (turn.status, turn.owner, _usage(turn), turn.stop_reason, turn.chat_id, turn.id),
        )
        if not written.rowcount:
            raise Refusal("turn_not_found", f"No turn {turn.id!r} runs in this chat.")
        # What was kept although its writer heard of a failure stands, and its place in the order with it.
        add_messages(session, turn.chat_id, messages, " ON CONFLICT (chat_id, id) DO NOTHING")

    @writes(bare=True)
    def take_over(self, session: SqlSession, turn: StoredTurn) -> bool:
        taken = "UPDATE turns SET owner = ? WHERE chat_id = ? AND id = ? AND owner = ? AND status <> 'running'"
        return bool(session.execute(taken, (self.owner, turn.chat_id, turn.id, turn.owner)).rowcount)

    @writes(said=True)
    def fork(self, session: SqlSession, chat_id: str, turn_id: str | None, fork: Chat) -> None:
        fork_chat(session, chat_id, turn_id, fork)

    @reads(now=True)
    def is_alive(self, session: SqlSession, owner: str) -> bool:  # noqa: ARG002 - asked in a thread of the database
        return self.owners.is_alive(owner)

    @reads(bare=True)
    def results(self, session: SqlSession, chat_id: str, refs: Collection[str]) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        asked = list(dict.fromkeys(refs))
        for begin in range(0, len(asked), MAX_ASKED):
            part = asked[begin : begin + MAX_ASKED]
            rows = session.execute(
                "SELECT ref, body, checksum FROM results WHERE chat_id = ?"  # noqa: S608 - only placeholders
                f" AND ref IN ({', '.join('?' * len(part))})",
                (chat_id, *part),
            )
            for ref, body, check in rows:
                try:
                    verify(check, chat_id, ref, body)
                    found[whole(ref)] = from_text(dict[str, Any], body)
                except Unreadable as error:
                    said = "store: the result %s of chat %s is damaged: %s"
                    logging.getLogger(__name__).warning(said, legible(ref), chat_id, error)
        return found

    @writes()
    def save_todos(self, session: SqlSession, chat_id: str, todos: Sequence[Todo]) -> None:
        save_todos(session, chat_id, todos)

    @writes()
    def mark_noticed(self, session: SqlSession, chat_id: str, code: str) -> None:
        session.execute(
            "INSERT INTO notices (chat_id, code) VALUES (?, ?) ON CONFLICT (chat_id, code) DO NOTHING", (chat_id, code)
        )

    async def close(self) -> None:
        """Let go of the database; this owner is dead afterwards. May be called twice."""
        await self.search.close()
        await self.database.close()

    def _chat(self, running: Running, reading: Reading, row: tuple[Any, ...]) -> Chat:
        running_here = [turn.id for turn in running.get(row[0], []) if self.owners.is_alive(turn.owner)]
        return replace(reading.chat(row[:14]), running=running_here[-1] if running_here else None)


def _moment(session: SqlSession, turn: StoredTurn) -> float:
    """When the chat was used: after every other one, also by a clock that was set back since."""
    others = "SELECT updated_at FROM chats WHERE id <> ? ORDER BY updated_at DESC LIMIT 1"
    row = session.execute(others, (turn.chat_id,)).fetchone()
    newest = row[0] if row is not None and isinstance(row[0], float) else 0.0
    return max(turn.started_at, newest + _NEXT)


def _row(session: SqlSession, chat_id: str) -> tuple[Any, ...]:
    row = session.execute(f"{_CHAT} WHERE id = ?", (chat_id,)).fetchone()
    if row is None:
        raise unknown_chat(chat_id)
    return row


def _running(session: SqlSession, chat_ids: Sequence[str | bytes]) -> Running:
    """The turns of these chats that have not ended, in order; one question for all, whose answer may come from afar."""
    found: Running = {}
    if chat_ids:
        marks = ", ".join("?" * len(chat_ids))
        reading = Reading()
        for row in session.execute(f"{_TURNS} IN ({marks}) AND status = 'running' ORDER BY position", tuple(chat_ids)):
            found.setdefault(row[1], []).append(reading.turn(row[:9]))
    return found


def _usage(turn: StoredTurn) -> str | None:
    return None if turn.last_usage is None else to_text(turn.last_usage)
