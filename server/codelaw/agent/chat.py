"""A chat: owns one transcript and runs one turn at a time (R-1, R-9)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from codelaw.agent.execution import Executor
from codelaw.agent.open_turn import OpenTurn
from codelaw.agent.outbox import Outbox
from codelaw.agent.running import RunningTurn
from codelaw.agent.turn import Ending, Surroundings, Turn, last_words
from codelaw.context.observations import neutralise, one_line, one_name
from codelaw.domain.chats import Notice, StoredTurn, TurnError, TurnResult
from codelaw.domain.errors import Refusal
from codelaw.domain.events import ChatEvent, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.messages import Message, Metadata, Note
from codelaw.domain.models import Usage
from codelaw.permissions.policy import CallFacts
from codelaw.templates.render import render
from codelaw.tools.base import ToolEnvironment
from codelaw.tools.freshness import Ledger
from codelaw.transcript.closing import CRASHED, final_message, open_calls, result_message

if TYPE_CHECKING:
    from codelaw.agent.approval import Gate
    from codelaw.agent.gather import Question
    from codelaw.domain.chats import Chat, StoredChat, Todo
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import Processes, Workspace

CHANGED_NAMED = 5
"""Most changed files a reminder names (F-5)."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class House:
    """What all chats of a session share."""

    store: ChatStore
    workspace: Workspace
    processes: Processes
    send: Callable[[ChatEvent], None]
    clock: Callable[[], float]
    """Seconds since the epoch."""


@dataclass(slots=True)
class AgentChat:
    """One chat, loaded."""

    chat: Chat
    house: House
    gate: Gate
    messages: list[Message]
    """The finished rounds, in order."""
    todos: tuple[Todo, ...] = ()
    noticed: set[str] = field(default_factory=set[str])
    """Once-per-chat notices already given."""
    ledger: Ledger = field(default_factory=Ledger)
    running: RunningTurn | None = None
    last_usage: Usage | None = None
    """Of the latest real answer, until a compaction (W-2)."""
    opened: OpenTurn | None = None
    """What has been said in the running turn."""
    outbox: Outbox = field(init=False)
    _steers: list[str] = field(default_factory=list[str])
    _refs: int = 0
    _starting: bool = False

    def __post_init__(self) -> None:
        self.outbox = Outbox(self.chat.id, self.house.store, self.house.send, self.house.clock)
        self._refs = sum(message.role == "tool" for message in self.messages)

    @classmethod
    async def load(cls, stored: StoredChat, house: House, gate: Gate) -> AgentChat:
        """A stored chat. A turn whose server died is closed: marked interrupted, nothing run again (D-1)."""
        chat = cls(stored.chat, house, gate, list(stored.messages), stored.todos, set(stored.notices))
        chat.last_usage = next((turn.last_usage for turn in reversed(stored.turns) if turn.last_usage), None)
        for turn in stored.turns:
            if turn.status == "running" and not await house.store.is_alive(turn.owner):
                await chat._close_crashed(turn)
        return chat

    def environment(self) -> ToolEnvironment:
        """What this chat's tools may use."""

        def keep(todos: tuple[Todo, ...]) -> None:
            self.todos = todos

        async def result(ref: str) -> dict[str, object] | None:
            return await self.house.store.result(self.chat.id, ref)

        def kept_back(shown: str) -> bool:
            return self.gate.judge(CallFacts("Read", "read", shown)).action == "deny"

        return ToolEnvironment(self.house.workspace, self.house.processes, self.ledger, result, keep, kept_back)

    def claim(self) -> None:
        """Reserve the chat for a turn about to start; `start` or `release` must follow.

        Raises:
            Refusal: `chat_busy`.
        """
        if self._starting or self.running is not None:
            raise Refusal("chat_busy", "A turn is running in this chat.", "Wait for it, cancel it, or steer it.")
        self._starting = True

    def release(self) -> None:
        """Give back a claim without having started a turn."""
        self._starting = False

    async def start(
        self,
        question: Question,
        typed: str,
        around: Surroundings,
        notices: list[Notice],
        cost: Callable[[Usage], float | None],
    ) -> RunningTurn:
        """Store the question and run the turn; the chat must have been claimed."""
        turn_id = uuid4().hex[:12]
        user = Message(f"ask_{turn_id}", turn_id, "user", question.content, Metadata(fragments=question.fragments))
        stored = StoredTurn(turn_id, self.chat.id, "running", self.house.store.owner, self.house.clock())
        try:
            await self.house.store.begin_turn(stored, user)
            self.running = running = RunningTurn(self.chat.id, turn_id)
        finally:
            self._starting = False
        self._steers.clear()
        opened = OpenTurn(
            self.chat.id,
            turn_id,
            user,
            self.house.store,
            self._next_ref,
            lambda event: self.outbox.post(turn_id, event),
        )
        self.opened = opened
        self.outbox.post(turn_id, TurnStarted(typed, question.mentions, question.left_out))
        for notice in notices:
            opened.notice(notice)
        executor = Executor(self.chat.id, turn_id, around.toolbox, self.environment(), self.gate, opened.emit)
        running.work = asyncio.create_task(Turn(opened, around, executor).run(), name=f"turn {turn_id}")
        running.conduct = asyncio.create_task(self._conduct(running, opened, executor, stored, cost))
        return running

    def steer(self, text: str) -> None:
        """Queue a message for the model's next step (R-9).

        Raises:
            Refusal: `turn_not_found`.
        """
        if self.running is None or self.running.over:
            raise Refusal("turn_not_found", "No turn is running in this chat.", "Send the message instead.")
        self._steers.append(text)

    def steered(self) -> bool:
        """Whether a steer is waiting."""
        return bool(self._steers)

    async def notes(self) -> list[tuple[Note, str]]:
        """What the model must be told before its next step: steers, and files the user changed (R-9, F-5)."""
        taken, self._steers = self._steers, []
        notes: list[tuple[Note, str]] = [("steer", render("steer", text=neutralise(text))) for text in taken]
        changed = await self.ledger.external_changes(self.house.workspace)
        if changed:
            named, more = [one_name(path) for path in changed[:CHANGED_NAMED]], max(0, len(changed) - CHANGED_NAMED)
            notes.append(("reminder", render("changed", paths=named, more=more)))
        return notes

    async def save_todos(self) -> tuple[Todo, ...]:
        """Make the todo list durable."""
        await self.house.store.save_todos(self.chat.id, self.todos)
        return self.todos

    async def _conduct(
        self,
        running: RunningTurn,
        opened: OpenTurn,
        executor: Executor,
        stored: StoredTurn,
        cost: Callable[[Usage], float | None],
    ) -> TurnResult:
        assert running.work is not None  # noqa: S101 - set before this task was made
        try:
            ending = await running.work
        except asyncio.CancelledError:
            ending = Ending("cancelled", why="cancelled by the user")
        for _, call in opened.open_calls():
            executor.tell(call, "interrupted", opened.step)
        last, late = last_words(opened, ending), self._unheard(opened)
        last = [*last[:-1], *late, *last[-1:]]
        try:
            await self.house.store.end_turn(
                replace(stored, status="ended", last_usage=opened.last_usage, stop_reason=ending.stop), last
            )
        except Refusal as refusal:
            error = TurnError(refusal.code, refusal.message, refusal.hint)
            ending = replace(ending, stop="failed", error=error)
        self.messages += [opened.question, *opened.record, *last]
        self.last_usage = opened.last_usage or self.last_usage
        self.chat = replace(self.chat, turns=self.chat.turns + 1, updated_at=self.house.clock())
        result = TurnResult(
            self.chat.id,
            opened.id,
            ending.stop,
            ending.answer,
            opened.step,
            opened.usage,
            tuple(opened.notices),
            tuple(opened.changes),
            ending.error,
            cost(opened.usage),
        )
        self.running = self.opened = None
        self.outbox.post(opened.id, TurnEnded(result))
        await self.outbox.drain()
        await self._tidy(opened.id)
        return result

    def _unheard(self, opened: OpenTurn) -> list[Message]:
        """Steers that came too late for this turn: kept, and seen by the model in the next (R-9)."""
        texts, self._steers = self._steers, []
        return [
            Message(
                f"steer_{opened.id}_late_{number}",
                opened.id,
                "user",
                render("steer", text=neutralise(text)),
                Metadata(step=opened.step, note="steer"),
            )
            for number, text in enumerate(texts)
        ]

    async def _tidy(self, turn_id: str) -> None:
        try:
            await self.house.store.merge_deltas(self.chat.id, turn_id)
        except Refusal as refusal:
            _log.warning("deltas of turn %s stay unmerged: %s", turn_id, refusal.message)

    async def _close_crashed(self, turn: StoredTurn) -> None:
        mine = [message for message in self.messages if message.turn_id == turn.id]
        error = {"status": "error", "data": {}, "error": {"code": "EXECUTION_ERROR", "message": CRASHED}}
        left = open_calls(mine)
        last = [result_message(caller, call, one_line(error)) for caller, call in left]
        last.append(final_message(turn.id, "", "codelaw stopped before the turn ended"))
        await self.house.store.end_turn(replace(turn, status="ended", stop_reason="failed"), last)
        place = max((index for index, message in enumerate(self.messages) if message.turn_id == turn.id), default=-1)
        self.messages[place + 1 : place + 1] = last
        for caller, call in left:
            step = caller.metadata.step or 0
            self.outbox.post(turn.id, ToolCallEvent(call.id, call.tool, call.tool, "interrupted", step))
        gone = TurnError("internal_error", "codelaw stopped before the turn ended.", "Send the message again to go on.")
        steps = max((message.metadata.step or 0 for message in mine), default=0)
        ended = TurnResult(self.chat.id, turn.id, "failed", "", steps, turn.last_usage or Usage(), error=gone)
        self.outbox.post(turn.id, TurnEnded(ended))
        await self.outbox.drain()
        self.chat = replace(self.chat, running=None)

    def _next_ref(self) -> str:
        self._refs += 1
        return f"r{self._refs}"
