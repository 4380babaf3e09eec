"""A chat: owns one transcript and runs one turn at a time (R-1, R-9)."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from codelaw.agent.chat import crash_recovery as crash
from codelaw.agent.chat.following import Following
from codelaw.agent.chat.glancing import Glance
from codelaw.agent.chat.leaving import Leaving
from codelaw.agent.compaction.compacting import Compacting
from codelaw.agent.compaction.compaction_plan import Cause
from codelaw.agent.compaction.thread_summary import Rolling
from codelaw.agent.recording.history import Past
from codelaw.agent.recording.losses import Losses
from codelaw.agent.recording.open_turn import OpenTurn
from codelaw.agent.recording.outbox import Outbox
from codelaw.agent.recording.pictures import Pictures
from codelaw.agent.subagents.running import ChildTurns
from codelaw.agent.turn.ending import FAILED, changed, ending_of, never_begun, result_of, tidy
from codelaw.agent.turn.execution import Executor
from codelaw.agent.turn.laws import TurnLaws
from codelaw.agent.turn.notes import Notes
from codelaw.agent.turn.running import RunningTurn
from codelaw.agent.turn.turn import Ending, Turn, last_words
from codelaw.agent.turn.window_fitter import WindowFitter
from codelaw.domain.chats import Notice, StoredTurn, TurnError, TurnResult
from codelaw.domain.errors import Refusal
from codelaw.domain.events import TurnEnded
from codelaw.domain.messages import Message
from codelaw.tools.base import ToolEnvironment
from codelaw.tools.freshness import Ledger
from codelaw.tools.reading.pages import named
from codelaw.tools.todo_list import TodoList
from codelaw.tools.watching import TreeWatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.chat.services import House
    from codelaw.agent.inputs.gathering import Question
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.turn.approval import Gate
    from codelaw.domain.chats import Chat, StoredChat
    from codelaw.domain.checkpoints import CompactionReport
    from codelaw.domain.media.images import Picture
    from codelaw.ports.cancelling import Scope

_log = logging.getLogger(__name__)


@dataclass(slots=True, weakref_slot=True)
class AgentChat:
    """One chat. `refresh` it before use: another server may have written to it (D-4)."""

    chat: Chat
    house: House
    gate: Gate
    todos: TodoList = field(default_factory=TodoList)
    noticed: set[str] = field(default_factory=set[str])
    """Once-per-chat notices already given."""
    finding: bool = False
    """The last turn had brought tools to be found, not described (X-11); not known of a turn before this server."""
    ledger: Ledger = field(default_factory=Ledger)
    tree: TreeWatch = field(default_factory=TreeWatch)
    greeted: bool = False
    """Hooks of the session's start have run here (X-7)."""
    running: RunningTurn | None = None
    opened: OpenTurn | None = None
    """What has been said in the running turn."""
    outbox: Outbox = field(init=False)
    past: Past = field(init=False)
    """The finished rounds."""
    compacting: Compacting = field(init=False)
    rolling: Rolling = field(init=False)
    notes: Notes = field(init=False)
    """Steers and reminders that the model has not been told yet."""
    following: Following = field(init=False)
    losses: Losses = field(init=False)
    pictures: Pictures = field(init=False)
    _refs: int = 0
    _starting: bool = False
    glance: Glance = field(init=False)
    loaded: bool = False
    """`past` is what the store held at the last look."""
    _owed: tuple[StoredTurn, list[Message]] | None = None
    """The end of a turn that the store could not take yet."""

    def __post_init__(self) -> None:
        chat, house = self.chat, self.house
        self.outbox = Outbox(chat.id, house.store, house.send, house.redaction, new=not chat.turns)
        self.past = Past(chat.id, house.store)
        self.compacting = Compacting(self.past, self.outbox)
        self.rolling = Rolling(self.past, self.outbox)
        self.notes, self.following = Notes(house.workspace, self.gate), Following(self)
        self.losses, self.pictures = Losses(chat.id, self.outbox), Pictures(chat.id, house.store)
        self.glance = Glance(self)

    @property
    def idle(self) -> bool:
        """No turn and no compaction runs here, none is about to, and all of it is stored."""
        return self.running is None and not self._starting and self._owed is None and not self.compacting.in_flight

    @property
    def owes(self) -> str | None:
        """The turn whose end is not stored yet."""
        return self._owed and self._owed[0].id

    @property
    def running_turn(self) -> str | None:
        """The turn that runs here, or in another living server."""
        if self.running is not None:
            return self.running.turn_id
        return self.chat.running if self._owed is None else None

    async def refresh(self) -> None:
        """Take in what another server did; cheap when there is nothing (D-4). A turn that runs here goes on untouched.

        A turn whose server died is closed (D-1). Calls must not overlap.
        """
        if self._owed is not None and self.running is None:
            try:
                await self._settle()
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
            await self._load()

    def unload(self) -> None:
        """Give the transcript's memory back; the next `refresh` loads it again. What was read and granted is kept."""
        if self.idle and not self.rolling.in_flight:
            self.past.forget()
            self.loaded = False

    def environment(self) -> ToolEnvironment:
        """What this chat's tools may use."""

        async def result(ref: str) -> dict[str, object] | None:
            return self.past.result(ref) or await self.house.store.result(self.chat.id, ref)

        house, memory = self.house, self.house.memory
        known = (house.workspace, house.processes, self.ledger, result, self.todos, False, None, self.tree)
        enabled = memory if memory is not None and memory.limits.enabled else None
        return ToolEnvironment(*known, house.services, enabled, code=house.code, servers=house.servers)

    def _named_urls(self, typed: str) -> frozenset[str]:
        """The addresses that the user has named: in what is sent now, and in all that was (T-8)."""
        said = (message for message in self.past.transcript.messages if message.role == "user")
        return named((typed, *(one.content for one in said if one.metadata.note in {None, "steer"})))

    def claim(self) -> None:
        """Reserve the chat for a turn about to start; `start` or `release` must follow.

        Raises:
            Refusal: `chat_busy`.
        """
        if self._starting or self.running_turn is not None:
            raise Refusal("chat_busy", "A turn is running in this chat.", "Wait for it, cancel it, or steer it.")
        self._starting = True

    def release(self) -> None:
        """Give back a claim without having started a turn."""
        self._starting = False

    async def start(
        self,
        question: Question,
        typed: str,
        inputs: TurnInputs | None,
        notices: Sequence[Notice] = (),
        *,
        leaving: Leaving | None = None,
        steers: tuple[str, ...] = (),
    ) -> RunningTurn:
        """Store the question, made of `steers`, and run the turn, `leaving` first; the chat must have been claimed.

        Without `inputs` it was cancelled while it began, and ends so (R-8).
        """
        turn_id = uuid4().hex[:12]
        user = Message(f"ask_{turn_id}", turn_id, "user", question.content, question.metadata)
        stored = StoredTurn(turn_id, self.chat.id, "running", self.house.store.owner, time.time())
        try:
            await self._begin(stored, user, question.pictures)
        finally:
            self._starting = False
        try:
            self.running = running = RunningTurn(self.chat.id, turn_id)
            self.notes.drop(steer for steer in self.notes.waiting if steer.id in steers)
            known = (self.chat.id, turn_id, user, self.house.store, self.outbox, self._refs)
            self.opened = opened = OpenTurn(*known, pictures=self.pictures, noticed=self.noticed)
            self.outbox.turn = turn_id
            opened.emit(question.started(typed, steers))
            for notice in notices:
                opened.notice(notice)
            executor = None if inputs is None else self._executor(opened, typed, inputs)
            work = never_begun() if executor is None or inputs is None else self._work(executor, typed, inputs, leaving)
            running.work = asyncio.create_task(work, name=f"turn {turn_id}")
            running.conduct = asyncio.create_task(self._conduct(running, opened, executor, stored))
        except Exception:  # a bug must not leave the chat busy for ever
            self._owed, self.loaded = (crash.ended(stored), crash.last_words(stored, [])), False
            if self.opened is not None:
                failed = result_of(self.chat.id, self.opened, Ending("failed", error=FAILED))
                self.outbox.post(turn_id, TurnEnded(failed))
            self.running = self.opened = None
            self.outbox.turn = ""
            raise
        return running

    def _executor(self, opened: OpenTurn, typed: str, inputs: TurnInputs) -> Executor:
        opened.compressing, opened.keeping = inputs.settings.compress_results, inputs.settings.economy
        opened.as_text = inputs.settings.as_text
        urls, house = self._named_urls(typed), self.house
        environment = replace(self.environment(), skills=inputs.skills, named_urls=urls, sees=inputs.sees)
        known = (opened, inputs.toolbox, environment, self.gate, self.notes, house.held, house.redaction)
        return Executor(*known, house.recorder, hooks=house.hooks)

    async def _work(self, executor: Executor, typed: str, inputs: TurnInputs, leaving: Leaving | None) -> Ending:
        """Run the turn, after the question where there is one. Never raises but for a second cancel."""
        opened = executor.open
        settled = inputs if leaving is None else await leaving.settled(opened, inputs)
        if isinstance(settled, Ending):
            return settled
        self.rolling.inputs = settled
        opened.model, opened.prices = settled.model_name, settled.prices
        house = self.house
        around = (self.chat, house.workspace, self.gate.denied("Read", "reads"), house.laws, house.redaction)
        executor.laws = laws = TurnLaws(settled, opened, *around)
        known = (self.past, self.compacting, self.todos, laws, house.measures, house.redaction)
        fitter = WindowFitter(opened, settled, *known)
        if settled.agents is not None:
            children = ChildTurns(executor, fitter, settled.agents)
            executor.environment = replace(executor.environment, subagents=children)
        return await Turn(opened, typed, fitter, executor).run()

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

    async def _begin(self, turn: StoredTurn, user: Message, pictures: Sequence[Picture]) -> None:
        await self._settle()
        kept = await self.pictures.taken(pictures)
        await self.outbox.reserve()
        try:
            before = await self.house.store.begin_turn(turn, user, kept)
            if before != self.chat.turns:  # another server was here since the last look
                await self._load(own=turn.id)
        except BaseException as error:
            # It may have begun although the store failed, and nobody else would end it.
            if not isinstance(error, Refusal) or error.code != "chat_busy":
                self._owed = crash.ended(turn), crash.last_words(turn, [])
            raise
        self.chat = replace(self.chat, turns=before + 1)

    async def _load(self, own: str | None = None) -> None:
        """Everything from the store but the turn `own`, and turns that run elsewhere, which are not history yet."""
        store = self.house.store
        stored = await store.load(self.chat.id)
        await self.glance.close_compaction()
        for turn in stored.turns:
            if turn.id != own and turn.status == "running" and not await store.is_alive(turn.owner):
                await self._close_crashed(turn, stored)
                stored = await store.load(self.chat.id)
        left_out = {turn.id for turn in stored.turns if turn.status == "running"}
        self.chat = stored.chat if own is None else replace(stored.chat, running=None)
        self.past.take(stored, left_out)
        await self.past.recall()
        self.losses.tell(stored.losses)
        self.todos.now = self.todos.saved = stored.todos
        self.noticed = set(stored.notices)
        self._refs = max(self._refs, sum(message.role == "tool" for message in stored.messages))
        self.loaded = not left_out - {own}
        if own is None:
            await self.following.look_back(stored.turns[-1] if stored.turns else None)

    async def _close_crashed(self, turn: StoredTurn, stored: StoredChat) -> None:
        await self.house.settle_interrupted()
        for event in await crash.closed(self.house.store, turn, stored.messages):
            self.outbox.post(turn.id, event)
        await self.outbox.drain()

    async def _settle(self) -> None:
        """Write the end that is owed.

        Raises:
            Refusal: `store_unavailable`: not yet.
        """
        if self._owed is None:
            return
        turn, last = self._owed
        try:
            await self.house.store.end_turn(turn, last)
        except Refusal as refusal:
            if refusal.code == "store_unavailable":
                raise
            _log.warning("turn %s is gone from the store: %s", turn.id, refusal.message)
            self.loaded = False
        self._owed = None

    async def _conduct(
        self, running: RunningTurn, opened: OpenTurn, executor: Executor | None, stored: StoredTurn
    ) -> TurnResult:
        assert running.work is not None  # noqa: S101 - set before this task was made
        ending = await ending_of(running.work, opened.id)
        try:
            result = await self._conclude(ending, opened, executor, stored)
        except Exception:  # noqa: BLE001 - a bug must not leave the chat busy for ever (R-10)
            _log.exception("turn %s could not be concluded", opened.id)
            self._owed = self._owed or (crash.ended(stored), crash.last_words(stored, opened.record))
            self.loaded = False
            result = result_of(self.chat.id, opened, Ending("failed", error=FAILED))
        try:
            self.notes.heard(opened)
            if result.stop_reason != "finished":
                self.following.give_back(opened.id)
        finally:
            self.outbox.post(opened.id, TurnEnded(result))
            self._refs = opened.refs
            self.running = self.opened = None
            self.outbox.turn = ""
        self._starting = self.following.begin(opened.id)
        await self.outbox.drain()
        await tidy(self.house.store, self.chat.id, opened.id)
        self.rolling.after_turn(self.house.measures.known)
        if self.house.embedding is not None:
            self.house.embedding.kick(self.chat.id)
        return result

    async def _conclude(
        self, ending: Ending, opened: OpenTurn, executor: Executor | None, stored: StoredTurn
    ) -> TurnResult:
        self.loaded &= await opened.recall()
        left = [call for _, call in opened.open_calls()]
        last = last_words(opened, ending)
        ended = replace(stored, status="ended", last_usage=opened.last_usage, stop_reason=ending.stop)
        error = await self._write_end(ended, last, (crash.ended(stored), crash.last_words(stored, opened.record)))
        if error is not None:
            ending = replace(ending, stop="failed", error=error)
        for call in left:
            if executor is not None:
                executor.tell(call, "interrupted")
        said, known = [opened.question, *opened.record, *last], (opened.id, stored.started_at, opened.last_usage)
        self.past.ended(said, *known, time.time(), told=opened.told, asides=opened.asides)
        await self.past.shorten((*opened.gave_way(), *self.past.refused(opened.refused)))
        return result_of(self.chat.id, opened, ending, await changed(opened))

    async def _write_end(
        self, turn: StoredTurn, last: list[Message], plain: tuple[StoredTurn, list[Message]]
    ) -> TurnError | None:
        """Store a turn's end; what the store cannot take is owed to it, in `plain` words where it never will."""
        self._owed = turn, last
        error: TurnError | None = None
        try:
            await self._settle()
            if self.todos.now != self.todos.saved:
                await self.todos.save(self.house.store, self.chat.id)
        except Refusal as refusal:
            error = TurnError(refusal.code, refusal.message, refusal.hint)
        except Exception:  # noqa: BLE001 - a bug must not leave the chat busy for ever (R-10)
            _log.exception("the end of turn %s could not be stored", turn.id)
            self._owed, error = self._owed and plain, FAILED
        self.todos.now = self.todos.saved
        return error
