"""The database of a session, opened at its first use, and its chats, some loaded before they are needed (D-1)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from codelaw.adapters.stores.opening import open_stores
from codelaw.agent.chat.turns import halt
from codelaw.agent.effects.interrupted import settle_interrupted
from codelaw.domain.errors import Refusal
from codelaw.domain.events import NoticeEvent
from codelaw.domain.permissions import Grant
from codelaw.settings.places import person

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.adapters.crash_journal.crash_journal import CrashJournal
    from codelaw.adapters.workspace.disk import DiskWorkspace
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.recall import Recall
    from codelaw.domain.chats import Chat, Notice
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.store import ChatStore, Stores
    from codelaw.tools.freshness import Ledger

_log = logging.getLogger(__name__)

QUIET_SECONDS = 0.3
"""After a look at a chat: who looks through many of them loads none."""


class Ahead:
    """Loads the chat that was looked at last. It is let go like others that are not used (`app/chats`)."""

    def __init__(self, load: Callable[[str], Awaitable[object]]) -> None:
        """`load` brings a chat of an id into memory."""
        self._bring = load
        self._newest: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._loading: set[asyncio.Task[None] | None] = set()
        self.then: Callable[[str], Awaitable[object]] | None = None
        """What is done with a chat that was loaded, as long as no turn begins."""

    def looked_at(self, chat_id: str) -> None:
        """Somebody looks at this chat; it is loaded soon, unless another one is looked at by then."""
        self.make_way()
        self._newest = asyncio.create_task(self._load(chat_id), name=f"loading {chat_id}")
        self._tasks.add(self._newest)
        self._newest.add_done_callback(self._tasks.discard)

    def make_way(self) -> None:
        """A turn begins: nothing is loaded any more that does not load yet, and all stops that is done behind that."""
        newest, self._newest = self._newest, None
        if newest is not None and newest not in self._loading:
            newest.cancel()

    @property
    def busy(self) -> bool:
        """Whether a chat is about to be loaded, or is being loaded."""
        return bool(self._tasks)

    async def close(self) -> None:
        """Load nothing any more."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _load(self, chat_id: str) -> None:
        task = asyncio.current_task()
        try:
            await asyncio.sleep(QUIET_SECONDS)
            self._loading.add(task)
            await self._bring(chat_id)
            self._loading.discard(task)
            if self.then is not None and self._newest is task:
                await self.then(chat_id)
        except Refusal as refusal:  # whoever needs it is told
            _log.info("chat %s is not loaded ahead: %s", chat_id, refusal.message)
        except Exception:  # noqa: BLE001 - nobody waits for it
            _log.exception("chat %s could not be loaded ahead", chat_id)
        finally:
            self._loading.discard(task)


KEPT = 8
"""Idle chats whose transcripts stay in memory; older ones are loaded again when they are used (S-6)."""
REMEMBERED = 500
"""Chats of which it is known what they have read; in older ones a file is read again before it is changed (F-3)."""


@dataclass(slots=True)
class StandingGrants:
    """What this person has allowed for always (S-2)."""

    settings: SettingsInForce
    user: str
    """Who they are, as the database that is open tells people apart (`places.person`)."""
    always: list[Grant] = field(default_factory=list[Grant])
    """Those that count; the list stays the same one and changes."""

    async def refresh(self, store: ChatStore) -> Sequence[Grant]:
        """Take what the store has, as another server may have given or taken some; gives all that it has."""
        stored = await store.grants()
        own = [grant for grant in stored if grant.person == self.user]
        self.always[:] = [] if self.settings.effective.ignoring else own
        return stored


@dataclass(frozen=True, slots=True)
class StoreOpener:
    """Opens the database of a session, and takes over what dead servers have left."""

    settings: SettingsInForce
    home: Path
    workspace: DiskWorkspace
    leftovers: CrashJournal
    redaction: Redaction
    grants: StandingGrants
    report: Callable[[Notice], None]

    async def open(self) -> Stores:
        """The database.

        Raises:
            Refusal: `store_unavailable`.
        """
        url = self.settings.value.store.url
        self.grants.user = person(shared=url is not None)
        await self.leftovers.begin(url or "")
        stores = await open_stores(url, self.home / "codelaw.db", self.report)
        await settle_interrupted(self.leftovers, stores.chats, self.workspace, self.redaction)
        for notice in stores.notices:
            _log.warning("store: %s", notice.message)
            self.report(notice)
        await self.grants.refresh(stores.chats)
        return stores


class OpenChats:
    """Chats by id, the longest unused first."""

    make: Callable[[Stores, Chat], AgentChat]
    """Makes one of a stored chat and the database it lies in; set before the first is asked for."""

    def __init__(self, opener: StoreOpener, recall: Recall) -> None:
        self._opener = opener
        self._recall = recall
        self._opening = asyncio.Lock()
        self._stores: Stores | None = None
        self._chats: dict[str, AgentChat] = {}
        self._away: WeakValueDictionary[str, AgentChat] = WeakValueDictionary()
        """Let go, and perhaps still at work for a request: there is never a second one of a chat."""
        self._ledgers: OrderedDict[str, Ledger] = OrderedDict()
        """What the chats that were let go have read."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.ahead = Ahead(self.get)

    def __iter__(self) -> Iterator[AgentChat]:
        return iter((*self._chats.values(), *self._away.values()))

    def at_hand(self, chat_id: str) -> AgentChat | None:
        """The chat as it is in memory, without a look at the store; None when it is not there."""
        return self._chats.get(chat_id)

    async def store(self) -> ChatStore:
        """Where the chats are; as `stores`."""
        return (await self.stores()).chats

    async def stores(self) -> Stores:
        """The database, opened at its first use, so that a damaged one refuses only what needs it.

        Raises:
            Refusal: `store_unavailable`.
        """
        async with self._opening:
            if self._stores is None:
                stores = await self._opener.open()
                self._recall.begin(stores, self.notify)
                self._stores = stores
        return self._stores

    async def get(self, chat_id: str, *, whole: bool = True) -> AgentChat:
        """The chat as it is now, whoever wrote to it last; without `whole` what its `glance` tells of it.

        Raises:
            Refusal: `chat_not_found`, `store_unavailable`.
        """
        stores = await self.stores()
        lock = self._locks.setdefault(chat_id, asyncio.Lock())
        async with lock:
            try:
                agent = self._chats.pop(chat_id, None) or self._away.pop(chat_id, None)
                agent = agent or self.make(stores, await stores.chats.chat(chat_id))
                agent.ledger = self._ledgers.pop(chat_id, agent.ledger)
                self._chats[chat_id] = agent
                await (agent.refresh() if whole else agent.look())
            except Refusal as refusal:
                if refusal.code == "chat_not_found":
                    self.forget(chat_id)
                raise
        idle = [other for other in self._chats.values() if other.idle]
        for other in idle[:-KEPT]:
            other.unload()
            if other is not agent and _can_go(other):
                self._let_go(other)
        return agent

    def _let_go(self, agent: AgentChat) -> None:
        chat_id = agent.chat.id
        self._away[chat_id] = self._chats.pop(chat_id)
        if agent.ledger.entries():
            self._ledgers[chat_id] = agent.ledger
        while len(self._ledgers) > REMEMBERED:
            self._ledgers.popitem(last=False)

    def notify(self, chat_id: str, notice: Notice) -> None:
        """Give a notice in a chat, whether a turn runs there or not."""
        for agent in self:
            if agent.chat.id == chat_id:
                agent.outbox.report(NoticeEvent(notice.level, notice.code, notice.message))

    async def keep(self, agent: AgentChat, changed: Chat) -> None:
        """Make a changed chat durable."""
        if changed != agent.chat:
            changed = replace(changed, updated_at=time.time())
            await (await self.store()).update(changed)
            agent.chat = changed

    def forget(self, chat_id: str) -> None:
        """The chat is gone."""
        self._chats.pop(chat_id, None)
        self._away.pop(chat_id, None)
        self._ledgers.pop(chat_id, None)
        self._locks.pop(chat_id, None)

    async def stop(self) -> None:
        """Stop every turn and compaction, and load nothing more."""
        await self.ahead.close()
        halting = [halted for agent in self if (halted := halt(agent)) is not None]
        await asyncio.gather(*halting, return_exceptions=True)
        await asyncio.gather(*(agent.rolling.cancel() for agent in self))

    async def close(self) -> None:
        """Give the store back; nothing may run any more."""
        if self._stores is not None:
            await self._stores.chats.close()


def _can_go(agent: AgentChat) -> bool:
    """Whether all but the ledger can be made again from the store."""
    busy = not agent.idle or agent.rolling.in_flight or agent.following is not None
    return not busy and agent.pending.empty and not agent.gate.grants and not agent.losses
