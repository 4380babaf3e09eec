"""The turn: build the view, ask the model, run its calls, until it finishes (R-1)."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.agent.dialects.choosing import SWITCHED
from codelaw.agent.dialects.scanning import GrowingText
from codelaw.agent.model_calls.caching import Sent, missed
from codelaw.agent.model_calls.recovery import REASONING, explain, refused
from codelaw.agent.turn.model_call import Asked, Asker
from codelaw.agent.turn.planned import planned
from codelaw.context.observations.layout import foreign
from codelaw.domain.chats import Notice, TurnError, TurnStop
from codelaw.domain.errors import ModelFailure, Refusal, RefusalCode
from codelaw.domain.events import RetryEvent, UsageEvent
from codelaw.domain.results import failure
from codelaw.templates.render import render
from codelaw.transcript.repair.closing import CANCELLED, STOPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.dialects.base import ParsedReply
    from codelaw.agent.recording.open_turn import OpenTurn
    from codelaw.agent.turn.execution import Executor
    from codelaw.agent.turn.window_fitter import WindowFitter
    from codelaw.context.sections import View
    from codelaw.domain.messages import Call, Message

UNREADABLE_LIMIT = 3
"""Unreadable replies in a row that end a turn (R-3)."""
HELD_LIMIT = 3
"""Answers that hooks may hold up in one turn (X-7)."""

_SWITCHED = "The model refuses to write down its reasoning: this chat goes on in the dialect `native`."

_log = logging.getLogger(__name__)


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
    typed: str
    """The user's words as typed (W-2)."""
    fitter: WindowFitter
    executor: Executor
    _unreadable: int = 0
    _held: int = 0
    """Answers that hooks have held up."""

    async def run(self) -> Ending:
        """The ReAct loop; a cancel is an ending like others (R-8)."""
        limit = asyncio.timeout(self.fitter.inputs.limits.seconds)
        try:
            async with limit:
                await self.fitter.prepare(self.typed)
                return await self._steps()
        except asyncio.CancelledError:
            return Ending("cancelled", self.open.partial_answer.text, why="cancelled by the user", calls=CANCELLED)
        except ModelFailure as problem:
            return self._ended(explain(problem))
        except Refusal as refusal:
            return self._failed(refusal.code, refusal.message, refusal.hint)
        except Exception:  # noqa: BLE001 - a bug ends the turn, not the server (R-10)
            if limit.expired():
                told = self.fitter.timed_out(self.fitter.inputs.limits.seconds or 0)
                return self._failed("model_unavailable", *told)
            _log.exception("turn %s failed", self.open.id)
            message = "codelaw failed inside; the log says why."
            return self._failed("internal_error", message, "Please report it.")

    async def _steps(self) -> Ending:
        limits = self.fitter.inputs.limits
        while self.open.step < limits.steps:
            if limits.tokens is not None and self.open.spent.total_tokens >= limits.tokens:
                return Ending("token_limit", why=f"the {self._called} used its {limits.tokens} tokens")
            above = self.open.above
            if above is not None and limits.above is not None and above.spent.total_tokens >= limits.above:
                return Ending("token_limit", why=f"the whole turn used its {limits.above} tokens")
            self.open.step += 1
            ending = await self._step()
            if ending is not None:
                return ending
        return Ending("step_limit", why=f"the {self._called} used its {limits.steps} steps")

    @property
    def _called(self) -> str:
        return "subagent" if self.open.parent else "turn"

    async def _step(self) -> Ending | None:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError  # whatever has swallowed it
        await self.executor.notes.tell(self.open, self.executor.environment.ledger)
        asked = await self._asked()
        if await self._switched(asked):
            asked = await self._asked()
        if asked.reply.stop_reason == "refusal":
            error = refused(asked.reply.refusal, asked_to_reason=self.fitter.inputs.dialect.name == "react")
            return Ending("refused", self.open.partial_answer.text, error, why="the model refused to answer")
        if asked.cut:
            return Ending("token_limit", self.open.partial_answer.text, why=asked.cut)
        # An escape in JSON may spell what the text of the reply did not show.
        reading = self.executor.redaction.value(asked.reading)
        if reading is not asked.reading and reading.items is not None:
            reading = replace(reading, items=reading.items.leading())
        return await self._act(reading)

    async def _switched(self, asked: Asked) -> bool:
        """Whether the step is to be asked again in another dialect: the model refuses to write down reasoning (R-3)."""
        if asked.reply.stop_reason != "refusal" or not asked.reply.refusal.startswith(REASONING):
            return False
        inputs = self.fitter.inputs.switched()
        if inputs is None:
            return False
        self.fitter.inputs, self.executor.toolbox = inputs, inputs.toolbox
        self.open.partial, self.open.partial_answer = GrowingText(), GrowingText()
        await self.open.notice_for_good(Notice("info", SWITCHED, _SWITCHED))
        self.open.emit(RetryEvent(2, 0.0, "the model refused to write down its reasoning", self.open.step))
        return True

    async def _act(self, reading: ParsedReply) -> Ending | None:
        if reading.answer is not None and await self._held_up(reading, reading.answer):
            return None
        if reading.answer is not None:
            try:
                await self.open.say(reading, answer=reading.answer)
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
        plan = planned(reading.calls, self.executor.toolbox)
        calls = tuple(one.call for one in plan)
        caller = await self.open.say(_true(reading, calls), calls)
        await self.executor.run(plan, caller)
        if self.executor.broken:
            message = "The same call failed the same way six times."
            return self._failed("repeated_failure", message, "Say what to do instead, or fix what it fails on.")
        return None

    async def _held_up(self, reading: ParsedReply, answer: str) -> bool:
        """Whether hooks let the turn go on instead of ending with this answer; the model is told why (X-7)."""
        opened = self.open
        hooked = self.executor.hooked(opened.parent)
        why = await hooked.held_up(answer, again=self._held > 0, agent=opened.agent, call_id=opened.parent)
        self.open.changes.extend(hooked.changes)
        if not why:
            return False
        if self._held == HELD_LIMIT:
            message = f"Hooks have held up the answer {HELD_LIMIT} times; this one ends the turn: {why}"
            self.open.notice(Notice("warning", "hook_ignored", message))
            return False
        self._held += 1
        self.open.emit(RetryEvent(self._held + 1, 0.0, f"a hook does not let the turn end: {why}", self.open.step))
        await self.open.say(reading)
        await self.open.note("reminder", render("held_up", reason=foreign(why)))
        return True

    async def _mend(self, reading: ParsedReply) -> Ending | None:
        """Answer an unreadable reply with what was expected, so that the model can mend it (R-3)."""
        assert reading.unreadable is not None  # noqa: S101 - narrowing; the caller has looked
        call, problem = reading.unreadable.call, reading.unreadable.problem
        caller = await self.open.say(reading, (call,))
        self.executor.tell(call, "failed", summary=problem)
        await self.open.observe(caller, call, failure("INVALID_PARAM", render("unreadable", problem=problem)))
        self._unreadable += 1
        if self._unreadable < UNREADABLE_LIMIT:
            return None
        message = f"The model gave {UNREADABLE_LIMIT} unreadable replies in a row; the last: {problem}"
        return self._failed("unreadable_reply", message, "Try model.dialect = native, or another model.")

    def _failed(self, code: RefusalCode, message: str, hint: str) -> Ending:
        return self._ended(TurnError(code, message, hint))

    def _ended(self, error: TurnError) -> Ending:
        return Ending("failed", self.open.partial_answer.text, error, why=error.message)

    async def _asked(self) -> Asked:
        """The reply to this step's view, which is made smaller as long as the vendor finds it too long (W-6)."""
        view = await self.fitter.view()
        news = self.fitter.laws.news()
        if news is not None:
            self.open.notice(news)
        while True:
            try:
                return await self._ask(view)
            except ModelFailure as failure:
                if failure.kind != "overflow":
                    raise
                view = await self.fitter.after_overflow(view, failure)
                self.open.emit(RetryEvent(2, 0.0, "the model found the context too long", self.open.step))

    async def _ask(self, view: View) -> Asked:
        inputs = self.fitter.inputs
        self.fitter.laws.sent(view)
        estimated = inputs.corrected(view.tokens)
        past, begun = self.fitter.past, time.time()
        previous = "" if past.asked is None else past.asked.reply.id
        asked = await Asker(self.open, inputs, view, estimated, previous).ask()
        reply, usage = asked.reply, asked.reply.usage
        now = Sent(view, inputs.model_name, tuple(inputs.toolbox.names), ttl=inputs.ttl, begun=begun, reply=reply)
        miss, past.asked = missed(past.asked, now), now
        self.open.cache_miss = self.open.cache_miss or miss
        self.open.last_usage = usage
        self.fitter.learn(view, usage.total_tokens - usage.output_tokens)
        filled = usage.total_tokens or estimated
        self.open.emit(UsageEvent(usage, filled, inputs.limits.window, self.open.step, cache_miss=miss))
        return asked


def _true(reading: ParsedReply, calls: Sequence[Call]) -> ParsedReply:
    """A reading whose calls are stored as `calls`: kept items behind one that is another are true no more (P-5)."""
    changed = next((at for at, call in enumerate(calls) if call != reading.calls[at]), None)
    if reading.items is None or changed is None:
        return reading
    return replace(reading, items=reading.items.before(changed))


def last_words(turn: OpenTurn, ending: Ending) -> list[Message]:
    """The messages that close the round: none for a finished turn, whose answer is already written (R-1a)."""
    return [] if ending.stop == "finished" else turn.closing(ending.why, ending.calls)
