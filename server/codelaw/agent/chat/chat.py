"""A chat: owns one transcript and runs one turn at a time (R-1, R-9)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from codelaw.agent.chat import crash_recovery as crash
from codelaw.agent.compaction.compacting import Compacting
from codelaw.agent.compaction.compaction_plan import Cause
from codelaw.agent.compaction.thread_summary import Rolling
from codelaw.agent.inputs.attachments import check_pictures, pictures_in
from codelaw.agent.recording.history import Past
from codelaw.agent.recording.outbox import Outbox
from codelaw.agent.recording.pictures import rows_of
from codelaw.agent.turn.pending import PendingMessages
from codelaw.domain.errors import Refusal
from codelaw.domain.events import NoticeEvent, SteerEvent
from codelaw.tools.freshness import Ledger
from codelaw.tools.todo_list import TodoList
from codelaw.tools.watching import TreeWatch

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.agent.services import ChatServices
    from codelaw.agent.turn.approval import Gate
    from codelaw.agent.turn.pending import QueuedSteer
    from codelaw.agent.turn.running import TurnTask
    from codelaw.domain.chats import Chat, StoredChat, StoredTurn
    from codelaw.domain.checkpoints import Checkpoint, CompactionReport
    from codelaw.domain.messages import Message
    from codelaw.ports.cancelling import Scope

NAMED = 20
"""Losses that one notice names; the log has all."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, weakref_slot=True)
class AgentChat:
    """One chat. `refresh` it before use: another server may have written to it (D-4)."""

    chat: Chat
    house: ChatServices
    gate: Gate
    follow: Callable[[AgentChat, Sequence[QueuedSteer]], Awaitable[TurnTask]]
    """Starts the turn that waiting steers become, in this chat, which is claimed for it (R-9)."""
    todos: TodoList = field(default_factory=TodoList)
    noticed: set[str] = field(default_factory=set[str])
    """Once-per-chat notices already given."""
    finding: bool = False
    """The last turn had brought tools to be found, not described (X-11); not known of a turn before this server."""
    ledger: Ledger = field(default_factory=Ledger)
    tree: TreeWatch = field(default_factory=TreeWatch)
    greeted: bool = False
    """Hooks of the session's start have run here (X-7)."""
    running: TurnTask | None = None
    opened: TurnRecord | None = None
    """What has been said in the running turn."""
    ended: str = ""
    """The turn that ended last."""
    following: asyncio.Task[None] | None = None
    """Starts the turn that steers become which were not reported when the answer came (R-9)."""
    followed: TurnTask | None = None
    """That turn, once it has begun."""
    outbox: Outbox = field(init=False)
    past: Past = field(init=False)
    """The finished rounds."""
    compacting: Compacting = field(init=False)
    rolling: Rolling = field(init=False)
    pending: PendingMessages = field(init=False)
    """Steers and reminders that the model has not been told yet."""
    checkpoints: tuple[Checkpoint, ...] = ()
    """Those of the newest look."""
    losses: set[str] = field(default_factory=set[str])
    """What of the chat is damaged or missing, each reported once in a server's life (D-1)."""
    loaded: bool = False
    """`past` is what the store held at the last look."""
    starting: bool = False
    """It is claimed for a turn about to start."""
    refs: int = 0
    """Refs of results that were given (C-4)."""
    owed: tuple[StoredTurn, list[Message]] | None = None
    """The end of a turn that the store could not take yet."""
    _looked: bool = False
    """For a compaction that a dead server left open."""
    _newest: str = ""
    """The turn behind which was looked for what a dead server had taken and not sent on."""

    def __post_init__(self) -> None:
        chat, house = self.chat, self.house
        self.outbox = Outbox(chat.id, house.store, house.send, house.redaction, new=not chat.turns)
        self.past = Past(chat.id, house.store)
        self.compacting = Compacting(self.past, self.outbox)
        self.rolling = Rolling(self.past, self.outbox)
        self.pending = PendingMessages(house.workspace, self.gate)

    @property
    def idle(self) -> bool:
        """No turn and no compaction runs here, none is about to, and all of it is stored."""
        return self.running is None and not self.starting and self.owed is None and not self.compacting.in_flight

    @property
    def owes(self) -> str | None:
        """The turn whose end is not stored yet."""
        return None if self.owed is None else self.owed[0].id

    @property
    def running_turn(self) -> str | None:
        """The turn that runs here, or in another living server."""
        if self.running is not None:
            return self.running.turn_id
        return self.chat.running if self.owed is None else None

    async def refresh(self) -> None:
        """Take in what another server did; cheap when there is nothing (D-4). A turn that runs here goes on untouched.

        A turn whose server died is closed (D-1). Calls must not overlap.
        """
        if self.owed is not None and self.running is None:
            try:
                await self.settle()
            except Refusal as refusal:
                _log.warning("chat %s: %s", self.chat.id, refusal.message)
        if not self.idle:
            return
        now = await self.house.store.chat(self.chat.id)
        if not self.idle:
            return
        known = (self.chat.turns, self.past.generation)
        same = self.loaded and now.running is None and (now.turns, now.generation) == known
        self.chat = now
        if not same:
            await self.load()

    async def look(self) -> None:
        """As `refresh`, but a chat that is not loaded stays so: a page of a long one must not cost all of it (D-1).

        It is loaded where a server that died has left a turn to be closed.
        """
        if self.idle and not self.loaded:
            head = await self.house.store.head(self.chat.id)
            if not head.crashed and self.idle and not self.loaded:
                self.chat, self.checkpoints = head.chat, head.checkpoints
                self.report_losses(head.losses)
                await self._close_compaction()
                if head.last is not None and head.last.id != self._newest:
                    self._newest = head.last.id
                    await self._look_back(head.last)
                return
        await self.refresh()
        self.checkpoints = self.past.transcript.checkpoints

    def unload(self) -> None:
        """Give the transcript's memory back; the next `refresh` loads it again. What was read and granted is kept."""
        if self.idle and not self.rolling.in_flight:
            self.past.forget()
            self.loaded = False

    def claim(self) -> None:
        """Reserve the chat for a turn about to start; `turns.start` or `release` must follow.

        Raises:
            Refusal: `chat_busy`.
        """
        if self.starting or self.running_turn is not None:
            raise Refusal("chat_busy", "A turn is running in this chat.", "Wait for it, cancel it, or steer it.")
        self.starting = True

    def release(self) -> None:
        """Give back a claim without having started a turn."""
        self.starting = False

    async def steer(self, steer: QueuedSteer) -> None:
        """Queue a message for the model's next step, or the next turn; returns once it cannot be lost.

        Raises:
            Refusal: `turn_not_found`; `invalid_attachment`: the pictures of all that waits are too many.
        """
        self._refuse_idle()
        pictures = pictures_in(steer.attachments)
        check_pictures([*(one for other in self.pending.waiting for one in pictures_in(other.attachments)), *pictures])
        if pictures:
            # Kept from now on: who takes the message back, or gets it back, has them again.
            await self.house.store.append(self.chat.id, (), await asyncio.to_thread(rows_of, pictures))
            self._refuse_idle()
        self.pending.steer(steer)
        step = self.opened.step or None if self.opened is not None else None
        await self._report_steer(SteerEvent(steer.text, step, steer.id, "waiting", images=steer.images))

    async def unsteer(self, steer_id: str) -> bool:
        """Take back a steer that still waits; False when it does not (any more)."""
        steer = self.pending.withdraw(steer_id)
        if steer is None:
            return False
        await self._report_steer(SteerEvent(steer.text, None, steer.id, "withdrawn", images=steer.images))
        return True

    async def _report_steer(self, event: SteerEvent) -> None:
        self.outbox.post(self.ended if self.opened is None else self.opened.id, event)
        await self.outbox.drain()

    def _refuse_idle(self) -> None:
        if self.opened is None and self.following is None:
            raise Refusal("turn_not_found", "No turn is running in this chat.", "Send the message instead.")

    def give_back(self, after: str) -> None:
        """Return all that waits: it will not be sent."""
        for steer in self.pending.take():
            self.outbox.post(after, SteerEvent(steer.text, None, steer.id, "returned", images=steer.images))

    async def next(self, after: str) -> TurnTask | None:
        """The turn that follows the turn `after`, once it has begun."""
        if self.following is not None:
            await asyncio.shield(self.following)
        return self.followed if after == self.ended else None

    async def compact(self, inputs: TurnInputs, scope: Scope) -> CompactionReport:
        """Compact now, keeping exactly `keep_rounds` rounds; joins a compaction in flight, which `scope` stops (K-8).

        Raises:
            Refusal: `chat_busy`: a turn runs in another server.
        """
        if self.running is None and self.running_turn is not None:
            raise Refusal("chat_busy", "A turn of another codelaw runs in this chat.", "Wait until it has ended.")
        cause = Cause("manual", turn_id="" if self.opened is None else self.opened.id)
        scope.becomes(running := self.compacting.begin(inputs, cause))
        report = await running.result()
        if report.checkpoint_id is not None and self.opened is not None:
            self.opened.last_usage = None
        await self.outbox.drain()
        return report

    async def restore(self, checkpoint_id: str | None) -> None:
        """Undo a compaction; a turn that runs sees it at its next step (K-3).

        Raises:
            Refusal: `nothing_to_undo`; `chat_busy`: a compaction is running.
        """
        if self.compacting.in_flight:
            raise Refusal("chat_busy", "A compaction is running in this chat.", "Wait for it, or cancel it.")
        await self.past.restore(checkpoint_id)
        if self.opened is not None:
            self.opened.last_usage = None

    async def load(self, own: str | None = None) -> None:
        """Everything from the store but the turn `own`, and turns that run elsewhere, which are not history yet."""
        store = self.house.store
        stored = await store.load(self.chat.id)
        await self._close_compaction()
        for turn in stored.turns:
            if turn.id != own and turn.status == "running" and not await store.is_alive(turn.owner):
                await self._close_crashed(turn, stored)
                stored = await store.load(self.chat.id)
        left_out = {turn.id for turn in stored.turns if turn.status == "running"}
        self.chat = stored.chat if own is None else replace(stored.chat, running=None)
        self.past.take(stored, left_out)
        await self.past.recall()
        self.report_losses(stored.losses)
        self.todos.now = self.todos.saved = stored.todos
        self.noticed = set(stored.notices)
        self.refs = max(self.refs, sum(message.role == "tool" for message in stored.messages))
        self.loaded = not left_out - {own}
        if own is None and stored.turns:
            await self._look_back(stored.turns[-1])

    async def settle(self) -> None:
        """Write the end that is owed.

        Raises:
            Refusal: `store_unavailable`: not yet.
        """
        if self.owed is None:
            return
        turn, last = self.owed
        try:
            await self.house.store.end_turn(turn, last)
        except Refusal as refusal:
            if refusal.code == "store_unavailable":
                raise
            _log.warning("turn %s is gone from the store: %s", turn.id, refusal.message)
            self.loaded = False
        self.owed = None

    def report_losses(self, losses: Sequence[str]) -> None:
        """Report those that are new, in one notice."""
        new = [loss for loss in dict.fromkeys(losses) if loss not in self.losses]
        if not new:
            return
        self.losses.update(new)
        _log.warning("chat %s: damaged: %s", self.chat.id, "; ".join(new))
        named = "; ".join(new[:NAMED]) + (f"; and {len(new) - NAMED} more" if len(new) > NAMED else "")
        message = f"Damaged on the disk in this chat: {named}. What can still be read of it is shown, and marked."
        self.outbox.report(NoticeEvent("warning", "record_damaged", message))

    async def _close_crashed(self, turn: StoredTurn, stored: StoredChat) -> None:
        await self.house.settle_interrupted()
        for event in await crash.closed(self.house.store, turn, stored.messages):
            self.outbox.post(turn.id, event)
        await self.outbox.drain()

    async def _close_compaction(self) -> None:
        """Send the end of a compaction whose server died (K-6); looked for once."""
        left = None if self._looked else await crash.compaction_left_open(self.house.store, self.chat.id)
        self._looked = True
        if left is not None:
            self.outbox.post(*left)
            await self.outbox.drain()

    async def _look_back(self, last: StoredTurn) -> None:
        """Send what a server that died has not sent: what it had taken, and the end of its newest turn `last` (D-1)."""
        for turn_id, event in await crash.left_unreported(self.house.store, last):
            self.outbox.post(turn_id, event)
        await self.outbox.drain()
