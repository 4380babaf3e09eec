"""The turn: build the view, ask the model, run its calls, until it finishes (R-1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.agent.asking import Asked, Asker
from codelaw.agent.dialects.base import InvalidCall
from codelaw.agent.recovery import explain
from codelaw.context.builder import Gathered, History, build
from codelaw.context.tokens import max_tokens
from codelaw.domain.chats import Todo, TurnError, TurnStop
from codelaw.domain.errors import ModelFailure, Refusal, RefusalCode
from codelaw.domain.events import RetryEvent, TodoEvent, UsageEvent
from codelaw.domain.messages import Call, Fragment, Note
from codelaw.domain.results import failure
from codelaw.templates.render import render
from codelaw.transcript.closing import CANCELLED, STOPPED

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect, Reading
    from codelaw.agent.execution import Executor
    from codelaw.agent.open_turn import OpenTurn
    from codelaw.context.sections import Section, View
    from codelaw.domain.messages import Message
    from codelaw.domain.models import ApiMessage, ModelRequest
    from codelaw.domain.results import ToolResult
    from codelaw.ports.model import ChatModel
    from codelaw.tools.toolbox import Toolbox

UNREADABLE_LIMIT = 3
"""Unreadable replies in a row that end a turn (R-3)."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a turn may use (R-7, W-7). Tokens throughout; `seconds` None for no limit."""

    window: int
    reserve: int
    steps: int = 50
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the turn works with; everything volatile was gathered before it started (L-3)."""

    model: ChatModel
    model_name: str
    dialect: Dialect
    toolbox: Toolbox
    limits: Limits
    system: tuple[Section, ...]
    history: History
    law: Callable[[], Awaitable[str]]
    """L2 as it is now; asked at every step (L-4)."""
    tell_notes: Callable[[Callable[[Note, str], Awaitable[None]]], Awaitable[None]]
    """Hands on the steers and reminders that have come since the last step (R-9, F-5)."""
    recap: Callable[[], str]
    """The todo recap, empty without todos (T-7)."""
    save_todos: Callable[[], Awaitable[tuple[Todo, ...]]]
    """Makes the todo list durable, and gives it."""
    steered: Callable[[], bool]
    """Whether a steer is waiting (R-9)."""
    calibrate: Callable[[int, int], None]
    """Told the estimated and the reported input tokens of each call (W-4)."""
    corrected: Callable[[int], int]
    """An estimate, corrected by what was learned (W-4)."""
    beside: tuple[Fragment, ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended, before it is written down."""

    stop: TurnStop
    answer: str = ""
    error: TurnError | None = None
    why: str = ""
    """In the transcript's last message, for a turn that did not finish."""
    calls: str = STOPPED
    """The result of calls that were left open."""


@dataclass(slots=True)
class Turn:
    """Runs one open turn to its end. Never raises but for a second cancel."""

    open: OpenTurn
    around: Surroundings
    executor: Executor
    _unreadable: int = 0

    async def run(self) -> Ending:
        """The ReAct loop; a cancel is an ending like others (R-8)."""
        limit = asyncio.timeout(self.around.limits.seconds)
        try:
            async with limit:
                return await self._steps()
        except asyncio.CancelledError:
            return Ending("cancelled", self.open.partial_answer, why="cancelled by the user", calls=CANCELLED)
        except ModelFailure as problem:
            return self._ended(explain(problem))
        except Refusal as refusal:
            return self._failed(refusal.code, refusal.message, refusal.hint)
        except Exception:  # noqa: BLE001 - a bug ends the turn, not the server (R-10)
            if limit.expired():
                message = f"The turn took longer than turn.timeoutSeconds ({self.around.limits.seconds or 0:g} s)."
                return self._failed("model_unavailable", message, "Raise the limit or ask for less at once.")
            _log.exception("turn %s failed", self.open.id)
            message = "codelaw failed inside; the log says why."
            return self._failed("internal_error", message, "Please report it.")

    async def _steps(self) -> Ending:
        limits = self.around.limits
        while self.open.step < limits.steps:
            if limits.tokens is not None and self.open.usage.total_tokens >= limits.tokens:
                return Ending("token_limit", why=f"the turn used its {limits.tokens} tokens")
            self.open.step += 1
            ending = await self._step()
            if ending is not None:
                return ending
        return Ending("step_limit", why=f"the turn used its {limits.steps} steps")

    async def _step(self) -> Ending | None:
        await self.around.tell_notes(self.open.note)
        view = await self._view()
        asked = await self._ask(view)
        if asked.reply.stop_reason == "refusal":
            error = TurnError("model_refused", "The model refused to answer.", "Word the request differently.")
            return Ending("refused", self.open.partial_answer, error, why="the model refused to answer")
        if asked.cut:
            message = "The answer is longer than the model may write at once; it stops where it was cut."
            return Ending("token_limit", self.open.partial_answer, why=message)
        return await self._act(asked.reading)

    async def _act(self, reading: Reading) -> Ending | None:
        if reading.answer is not None and self.around.steered():
            # The user has spoken again: this was not the last word, so it is taken off the screen.
            self.open.partial_answer = ""
            self.open.emit(RetryEvent(2, 0.0, "your message came in before the answer ended", self.open.step))
            await self.open.say(reading.kept)
            return None
        if reading.answer is not None:
            self.open.answering = True
            try:
                await self.open.say(reading.kept, answer=reading.answer)
            except asyncio.CancelledError:
                if not self.open.answered:
                    raise
            # What is stored as the answer is one, even if a cancel came in that very moment.
            return Ending("finished", reading.answer)
        if reading.empty:
            message = "The model gave an empty reply twice."
            return self._failed("unreadable_reply", message, "Send the message again or choose another model.")
        if reading.unreadable is not None:
            return await self._mend(reading)
        self._unreadable = 0
        calls = tuple(item.call if isinstance(item, InvalidCall) else item for item in reading.calls)
        caller = await self.open.say(reading.kept, calls)

        async def done(call: Call, result: ToolResult) -> None:
            await self.open.observe(caller, call, result)
            if call.tool == "TodoWrite" and result.status == "success":
                self.open.emit(TodoEvent(await self.around.save_todos(), self.open.step))

        await self.executor.run(reading.calls, self.open.step, done)
        if self.executor.broken:
            message = "The same call failed the same way six times."
            return self._failed("repeated_failure", message, "Say what to do instead, or fix what it fails on.")
        return None

    async def _mend(self, reading: Reading) -> Ending | None:
        """Answer an unreadable reply with what was expected, so that the model can mend it (R-3)."""
        assert reading.unreadable is not None  # noqa: S101 - narrowing; the caller has looked
        call, problem = reading.unreadable.call, reading.unreadable.problem
        caller = await self.open.say(reading.kept, (call,))
        self.executor.tell(call, "failed", self.open.step, summary=problem)
        await self.open.observe(caller, call, failure("INVALID_PARAM", render("unreadable", problem=problem)))
        self._unreadable += 1
        if self._unreadable < UNREADABLE_LIMIT:
            return None
        message = f"The model gave {UNREADABLE_LIMIT} unreadable replies in a row; the last: {problem}"
        return self._failed("unreadable_reply", message, "Try model.dialect = native, or another model.")

    def _failed(self, code: RefusalCode, message: str, hint: str) -> Ending:
        return self._ended(TurnError(code, message, hint))

    def _ended(self, error: TurnError) -> Ending:
        return Ending("failed", self.open.partial_answer, error, why=error.message)

    async def _view(self) -> View:
        around = self.around
        recap = around.recap()
        tail = (Fragment("todo", render("todo", recap=recap)),) if recap else ()
        gathered = Gathered(around.system, await around.law(), around.beside, tail)
        view = build(around.history, self.open.scratchpad, self.open.question, gathered)
        tokens = around.corrected(view.tokens)
        if tokens >= around.limits.window:
            sizes = ", ".join(f"{section.name} {section.tokens}" for section in view.sections)
            raise Refusal(
                "context_overflow",
                f"About {tokens} tokens do not fit into the window of {around.limits.window}: {sizes}.",
                "Start a new chat, mention less at once, or choose a model with a larger window.",
            )
        return view

    async def _ask(self, view: View) -> Asked:
        around = self.around
        estimated = around.corrected(view.tokens)
        room = max_tokens(around.limits.window, around.limits.reserve, estimated)

        def spell(after: tuple[ApiMessage, ...]) -> ModelRequest:
            return around.dialect.request(
                view, model=around.model_name, max_tokens=room, toolbox=around.toolbox, after=after
            )

        asked = await Asker(self.open, around.model, around.dialect, spell).ask()
        usage = asked.reply.usage
        self.open.last_usage = usage
        around.calibrate(view.tokens, usage.total_tokens - usage.output_tokens)
        self.open.emit(UsageEvent(usage, usage.total_tokens or estimated, around.limits.window, self.open.step))
        return asked


def last_words(turn: OpenTurn, ending: Ending) -> list[Message]:
    """The messages that close the round: none for a finished turn, whose answer is already written (R-1a)."""
    return [] if ending.stop == "finished" else turn.closing(ending.why, ending.calls)
