"""Chats as rows of an SQL database, which several servers may share (D-1, D-3, D-4)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from codelaw.adapters.stores.rows import (
    aside_rows,
    audit_rows,
    change_rows,
    chat_rows,
    checkpoint_rows,
    event_rows,
    fork_rows,
    page_rows,
    search_rows,
    thread_rows,
)
from codelaw.adapters.stores.rows.checks import checksum
from codelaw.adapters.stores.rows.database import Database, Owners, Session
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.adapters.stores.search_keeper import SearchKeeper
from codelaw.adapters.stores.sqlite.damage import is_damage
from codelaw.adapters.stores.worker import log_unheard
from codelaw.domain.audit import AuditEntry
from codelaw.domain.chats import Chat, ChatHead, Notice, StoredChat, StoredTurn, Todo
from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion, ThreadSummary
from codelaw.domain.edits import KeptChange
from codelaw.domain.errors import Refusal
from codelaw.domain.events import ChatEvent, Event, Numbers
from codelaw.domain.messages import Message
from codelaw.domain.permissions import Grant
from codelaw.domain.reports import ChatRecord

T = TypeVar("T")

_GRANTS = ("grants",)
_AUDIT = ("audit",)


class SqlChats:
    """A `ChatStore`. Writes of a cancelled caller are finished, never halved."""

    notices: tuple[Notice, ...] = ()
    """What the user should know of how it was opened."""

    def __init__(self, database: Database, owners: Owners) -> None:
        self.database = database
        self.owners = owners
        self.owner = owners.id
        self.search = SearchKeeper(database)

    async def create(self, chat: Chat, folders: Collection[str] = ()) -> None:
        await self.database.write(lambda session: chat_rows.create(session, chat, folders), (chat.id,))

    async def update(self, chat: Chat) -> None:
        await self.database.write(lambda session: chat_rows.update(session, chat), (chat.id,))

    async def list(
        self, query: str | None, limit: int, cursor: str | None, folders: Collection[str] | None = None
    ) -> tuple[list[Chat], str | None]:
        alive = self.owners.is_alive

        def work(session: Session, *, by_index: bool = True) -> tuple[list[Chat], str | None]:
            return chat_rows.listed(
                session=session,
                is_alive=alive,
                query=query,
                limit=limit,
                cursor=cursor,
                folders=folders,
                by_index=by_index,
            )

        try:
            return await self.database.read(work, slow=bool(query))
        except Refusal as refusal:
            if not query or not isinstance(refusal.__cause__, sqlite3.Error) or not is_damage(refusal.__cause__):
                raise
        # It may be the index alone, which the next start makes anew.
        return await self.database.read(lambda session: work(session, by_index=False), slow=True)

    async def load(self, chat_id: str) -> StoredChat:
        return await self.database.read(
            lambda session: chat_rows.load(session, self.owners.is_alive, chat_id), (chat_id,)
        )

    async def page(self, chat_id: str, turns: int | None, before: str | None) -> ChatRecord:
        alive = self.owners.is_alive
        return await self.database.read(
            lambda session: page_rows.page(session, alive, chat_id, turns, before), (chat_id,)
        )

    async def chat(self, chat_id: str) -> Chat:
        return await self.database.read(
            lambda session: chat_rows.chat(session, self.owners.is_alive, chat_id), (chat_id,)
        )

    async def delete(self, chat_id: str) -> None:
        deleting = asyncio.ensure_future(self._delete(chat_id))
        try:
            await asyncio.shield(deleting)
        except asyncio.CancelledError:
            deleting.add_done_callback(log_unheard)
            raise

    async def _delete(self, chat_id: str) -> None:
        """Slice by slice, so that nobody waits for the index to forget a long chat."""

        def work(session: Session) -> bool:
            done = search_rows.take_out(session, chat_id)
            if done:
                chat_rows.delete(session, chat_id)
            return done

        while not await self.database.write(work, (chat_id,)):
            pass

    async def begin_turn(
        self, turn: StoredTurn, user: Message, results: Sequence[tuple[str, dict[str, Any]]] = ()
    ) -> int:
        def work(session: Session) -> int:
            change_rows.refuse_reverting(session, self.owners.is_alive, turn.chat_id)
            before = chat_rows.begin_turn(session, self.owners.is_alive, turn, user)
            chat_rows.add_results(session, turn.chat_id, results)
            return before

        return await self._say(work, turn.chat_id)

    async def append(
        self,
        chat_id: str,
        messages: Sequence[Message],
        results: Sequence[tuple[str, dict[str, Any]]] = (),
        asides: Sequence[Aside] = (),
    ) -> None:
        def work(session: Session) -> None:
            chat_rows.require(session, chat_id)
            chat_rows.refuse_ended(session, chat_id, {message.turn_id for message in messages})
            chat_rows.add_messages(session, chat_id, messages)
            chat_rows.add_results(session, chat_id, results)
            aside_rows.add(session, chat_id, asides)

        await self._say(work, chat_id)

    async def end_turn(self, turn: StoredTurn, messages: Sequence[Message] = ()) -> None:
        await self._say(lambda session: chat_rows.end_turn(session, turn, messages), turn.chat_id)

    async def take_over(self, turn: StoredTurn) -> bool:
        return await self.database.write(
            lambda session: chat_rows.take_over(session, turn, self.owner), (turn.chat_id,)
        )

    async def reshape(
        self,
        chat_id: str,
        generation: int,
        checkpoint: Checkpoint | None,
        demotions: Sequence[Demotion] = (),
        settled: str = "",
    ) -> int:
        return await self.database.write(
            lambda session: checkpoint_rows.reshape(
                session, chat_id, generation, checkpoint, demotions, settled=settled
            ),
            (chat_id,),
        )

    async def restore(self, chat_id: str, generation: int, checkpoint_ids: Sequence[str], settled: str) -> int:
        return await self.database.write(
            lambda session: checkpoint_rows.restore(session, chat_id, generation, checkpoint_ids, settled),
            (chat_id,),
        )

    async def fork(self, chat_id: str, turn_id: str | None, fork: Chat) -> None:
        await self._say(lambda session: fork_rows.fork(session, chat_id, turn_id, fork), chat_id, fork.id)

    async def save_thread_summary(self, chat_id: str, generation: int, summary: ThreadSummary) -> None:
        await self.database.write(lambda session: thread_rows.save(session, chat_id, generation, summary), (chat_id,))

    async def begun(self, limit: int) -> Sequence[tuple[str, float]]:
        return await self.database.read(lambda session: chat_rows.begun(session, limit))

    async def withdraw_turn(self, chat_id: str, generation: int, turn_id: str, settled: str) -> int:
        return await self.database.write(
            lambda session: checkpoint_rows.withdraw_turn(session, chat_id, generation, turn_id, settled), (chat_id,)
        )

    async def plan_change(self, chat_id: str, change: KeptChange) -> int:
        return await self.database.write(lambda session: change_rows.plan(session, chat_id, change), (chat_id,))

    async def settle_change(self, chat_id: str, number: int, after: str | None) -> None:
        await self.database.write(lambda session: change_rows.settle(session, chat_id, number, after), (chat_id,))

    async def withdraw_change(self, chat_id: str, number: int) -> None:
        await self.database.write(lambda session: change_rows.withdraw(session, chat_id, number), (chat_id,))

    async def changes(self, chat_id: str, turn_id: str) -> Sequence[KeptChange]:
        return await self.database.read(lambda session: change_rows.of_turn(session, chat_id, turn_id), (chat_id,))

    async def changes_of_chat(self, chat_id: str) -> Sequence[KeptChange]:
        return await self.database.read(lambda session: change_rows.of_chat(session, chat_id), (chat_id,))

    async def changes_of_file(self, chat_id: str, uri: str, above: int) -> Sequence[KeptChange]:
        return await self.database.read(
            lambda session: change_rows.of_file(session, chat_id, uri, above), (chat_id, uri)
        )

    async def changes_by_number(self, chat_id: str, numbers: Sequence[int]) -> Sequence[KeptChange]:
        return await self.database.read(lambda session: change_rows.of_numbers(session, chat_id, numbers), (chat_id,))

    async def changes_since(self, chat_id: str, turn_id: str) -> Sequence[KeptChange]:
        return await self.database.read(lambda session: change_rows.since(session, chat_id, turn_id), (chat_id,))

    async def mark_done(self, chat_id: str, numbers: Sequence[int]) -> None:
        await self.database.write(lambda session: change_rows.mark_done(session, chat_id, numbers), (chat_id,))

    async def mark_undone(self, chat_id: str, numbers: Sequence[int]) -> None:
        await self.database.write(lambda session: change_rows.mark_undone(session, chat_id, numbers), (chat_id,))

    async def begin_revert(self, chat_id: str) -> None:
        alive = self.owners.is_alive
        await self.database.write(
            lambda session: change_rows.begin_revert(session, alive, chat_id, self.owner), (chat_id,)
        )

    async def end_revert(self, chat_id: str) -> None:
        await self.database.write(lambda session: change_rows.end_revert(session, chat_id, self.owner), (chat_id,))

    async def is_alive(self, owner: str) -> bool:
        return await self.database.read(lambda _: self.owners.is_alive(owner))

    async def result(self, chat_id: str, ref: str) -> dict[str, Any] | None:
        return (await self.results(chat_id, (ref,))).get(ref)

    async def results(self, chat_id: str, refs: Collection[str]) -> dict[str, dict[str, Any]]:
        return await self.database.read(lambda session: chat_rows.results(session, chat_id, refs), (chat_id,))

    async def append_events(
        self, chat_id: str, turn_id: str, events: Sequence[tuple[float, Event]], after: Numbers | None = None
    ) -> list[int]:
        return await self.database.write(
            lambda session: event_rows.append(session, chat_id, turn_id, events, after), (chat_id,)
        )

    async def reserve_numbers(self, chat_id: str) -> int:
        return await self.database.write(lambda session: event_rows.reserve(session, chat_id), (chat_id,))

    async def last_number(self, chat_id: str) -> int:
        return await self.database.read(lambda session: event_rows.last_number(session, chat_id), (chat_id,))

    async def events(self, chat_id: str, since: int) -> list[ChatEvent]:
        return await self.database.read(lambda session: event_rows.since(session, chat_id, since), (chat_id,))

    async def head(self, chat_id: str) -> ChatHead:
        return await self.database.read(lambda session: chat_rows.head(session, self.owners.is_alive, chat_id))

    async def last_compaction(self, chat_id: str) -> ChatEvent | None:
        return await self.database.read(lambda session: event_rows.last_compaction(session, chat_id), (chat_id,))

    async def merge_deltas(self, chat_id: str, turn_id: str) -> None:
        await self.database.write(lambda session: event_rows.merge_deltas(session, chat_id, turn_id), (chat_id,))

    async def save_todos(self, chat_id: str, todos: Sequence[Todo]) -> None:
        await self.database.write(lambda session: chat_rows.save_todos(session, chat_id, todos), (chat_id,))

    async def mark_noticed(self, chat_id: str, code: str) -> None:
        def work(session: Session) -> None:
            chat_rows.require(session, chat_id)
            session.execute(
                "INSERT INTO notices (chat_id, code) VALUES (?, ?) ON CONFLICT (chat_id, code) DO NOTHING",
                (chat_id, code),
            )

        await self.database.write(work, (chat_id,))

    async def grants(self) -> list[Grant]:
        def work(session: Session) -> list[Grant]:
            rows = session.execute("SELECT id, rule, scope, folder, person, checksum FROM grants ORDER BY position")
            reading = Reading()
            return [*reading.all(reading.grant, rows)]

        return await self.database.read(work, _GRANTS)

    async def add_grant(self, grant: Grant) -> None:
        sql = (
            "INSERT INTO grants (id, rule, scope, folder, person, checksum) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET rule = excluded.rule, scope = excluded.scope, folder = excluded.folder,"
            " person = excluded.person, checksum = excluded.checksum"
        )
        known = (grant.id, grant.rule, grant.scope, grant.folder, grant.person)
        row = (*known, checksum(*known))
        await self.database.write(lambda session: session.execute(sql, row), _GRANTS)

    async def revoke_grant(self, grant_id: str, person: str) -> bool:
        sql = "DELETE FROM grants WHERE id = ? AND person IN (?, '')"
        return await self.database.write(lambda session: session.execute(sql, (grant_id, person)).rowcount > 0, _GRANTS)

    async def note(self, entries: Sequence[AuditEntry]) -> None:
        await self.database.write(lambda session: audit_rows.note(session, entries), _AUDIT)

    async def audit(self, chat_id: str | None, limit: int) -> Sequence[AuditEntry]:
        return await self.database.read(lambda session: audit_rows.listed(session, chat_id, limit), _AUDIT)

    async def close(self) -> None:
        """Let go of the database; this owner is dead afterwards. May be called twice."""
        await self.search.close()
        if await self.database.close():
            await self.owners.leave()

    async def _say(self, work: Callable[[Session], T], *about: str) -> T:
        """Write messages, which will be searched for."""
        try:
            return await self.database.write(work, about)
        finally:
            self.search.said()
