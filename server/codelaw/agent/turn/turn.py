"""The loop: build the view, ask the model, run its calls, until it finishes (R-1). A turn's and a subagent's."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.agent.dialects.choosing import SWITCHED
from codelaw.agent.dialects.scanning import GrowingText
from codelaw.agent.model_calls.caching import Sent, missed
from codelaw.agent.model_calls.recovery import REASONING, explain, refused
from codelaw.agent.turn.call import call_hooks, report
from codelaw.agent.turn.execution import Executor, planned
from codelaw.agent.turn.model_call import Asker
from codelaw.agent.turn.running import Ending
from codelaw.agent.turn.window_fitter import WindowFitter
from codelaw.context.observations.layout import foreign
from codelaw.domain.chats import Notice, TurnError
from codelaw.domain.errors import ModelFailure, Refusal, RefusalCode
from codelaw.domain.events import RetryEvent, UsageEvent
from codelaw.domain.results import failure
from codelaw.templates.render import render
from codelaw.transcript.repair.repairs import CANCELLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.dialects.base import ParsedReply
    from codelaw.agent.turn.model_call import ModelAttempt
    from codelaw.agent.turn.running import TurnRun
    from codelaw.context.sections import View
    from codelaw.domain.messages import Call

UNREADABLE_LIMIT = 3
"""Unreadable replies in a row that end a turn (R-3)."""
HELD_LIMIT = 3
"""Answers that hooks may hold up in one turn (X-7)."""

_SWITCHED = "The model refuses to write down its reasoning: this chat goes on in the dialect `native`."

_log = logging.getLogger(__name__)


class TurnLoop:
    """Runs a turn, or a subagent, to its end."""

    def __init__(self, run: TurnRun) -> None:
        self.run, self.record = run, run.record
        self.fitter, self.executor = WindowFitter(run), Executor(run)
        self._unreadable = self._held = 0
        """Unreadable replies in a row; answers that hooks have held up."""

    async def ending(self) -> Ending:
        """Run it. Never raises but for a second cancel; a cancel is an ending like others (R-8)."""
        limit = asyncio.timeout(self.run.inputs.limits.seconds)
        try:
            async with limit:
                await self.fitter.prepare()
                return await self._steps()
        except asyncio.CancelledError:
            return Ending("cancelled", self.record.partial_answer.text, why="cancelled by the user", calls=CANCELLED)
        except ModelFailure as problem:
            return self._ended(explain(problem))
        except Refusal as refusal:
            return self._failed(refusal.code, refusal.message, refusal.hint)
        except Exception:  # noqa: BLE001 - a bug ends the turn, not the server (R-10)
            if limit.expired():
                return self._failed("model_unavailable", *self.fitter.timed_out(self.run.inputs.limits.seconds or 0))
            _log.exception("turn %s failed", self.record.id)
            return self._failed("internal_error", "codelaw failed inside; the log says why.", "Please report it.")

    async def _steps(self) -> Ending:
        record, limits = self.record, self.run.inputs.limits
        called = "subagent" if record.parent else "turn"
        while record.step < limits.steps:
            if limits.tokens is not None and record.spent.total_tokens >= limits.tokens:
                return Ending("token_limit", why=f"the {called} used its {limits.tokens} tokens")
            above = record.above
            if above is not None and limits.above is not None and above.spent.total_tokens >= limits.above:
                return Ending("token_limit", why=f"the whole turn used its {limits.above} tokens")
            record.step += 1
            ending = await self._step()
            if ending is not None:
                return ending
        return Ending("step_limit", why=f"the {called} used its {limits.steps} steps")

    async def _step(self) -> Ending | None:
        """Ask the model once, and do what it says; gives how the turn ends, if it does."""
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError  # whatever has swallowed it
        await self.run.pending.report(self.record, self.run.environment.ledger)
        asked = await self._ask()
        if await self._switched(asked):
            asked = await self._ask()
        if asked.reply.stop_reason == "refusal":
            error = refused(asked.reply.refusal, asked_to_reason=self.run.inputs.dialect.name == "react")
            return Ending("refused", self.record.partial_answer.text, error, why="the model refused to answer")
        if asked.cut:
            return Ending("token_limit", self.record.partial_answer.text, why=asked.cut)
        # An escape in JSON may spell what the text of the reply did not show.
        reading = self.run.redaction.value(asked.reading)
        if reading is not asked.reading and reading.items is not None:
            reading = replace(reading, items=reading.items.leading())
        if reading.answer is not None:
            return await self._answer(reading, reading.answer)
        if reading.empty:
            message = "The model gave an empty reply twice."
            return self._failed("unreadable_reply", message, "Send the message again or choose another model.")
        if reading.unreadable is not None:
            return await self._mend(reading)
        return await self._act(reading)

    async def _ask(self) -> ModelAttempt:
        """The reply to this step's view, which is made smaller as long as the vendor finds it too long (W-6)."""
        view = await self.fitter.view()
        news = self.run.laws.news()
        if news is not None:
            self.record.notice(news)
        while True:
            try:
                return await self._ask_with(view)
            except ModelFailure as failure:
                if failure.kind != "overflow":
                    raise
                view = await self.fitter.after_overflow(view, failure)
                self.record.emit(RetryEvent(2, 0.0, "the model found the context too long", self.record.step))

    async def _ask_with(self, view: View) -> ModelAttempt:
        inputs, past, begun = self.run.inputs, self.run.past, time.time()
        self.run.laws.sent(view)
        estimated = inputs.corrected(view.tokens)
        previous = "" if past.asked is None else past.asked.reply.id
        asked = await Asker(self.record, inputs, view, estimated, previous).ask()
        reply, usage = asked.reply, asked.reply.usage
        now = Sent(view, inputs.model_name, tuple(inputs.toolbox.names), ttl=inputs.ttl, begun=begun, reply=reply)
        miss, past.asked = missed(past.asked, now), now
        self.record.cache_miss = self.record.cache_miss or miss
        self.record.last_usage = usage
        self.fitter.learn(view, usage.total_tokens - usage.output_tokens)
        filled = usage.total_tokens or estimated
        self.record.emit(UsageEvent(usage, filled, inputs.limits.window, self.record.step, cache_miss=miss))
        return asked

    async def _switched(self, asked: ModelAttempt) -> bool:
        """Whether the step is to be asked again in another dialect: the model refuses to write down reasoning (R-3)."""
        if asked.reply.stop_reason != "refusal" or not asked.reply.refusal.startswith(REASONING):
            return False
        inputs = self.run.inputs.switched()
        if inputs is None:
            return False
        self.run.inputs = inputs
        self.record.partial, self.record.partial_answer = GrowingText(), GrowingText()
        await self.record.notice_for_good(Notice("info", SWITCHED, _SWITCHED))
        self.record.emit(RetryEvent(2, 0.0, "the model refused to write down its reasoning", self.record.step))
        return True

    async def _act(self, reading: ParsedReply) -> Ending | None:
        """Run the calls of a reply."""
        self._unreadable = 0
        plan = [planned(one, self.run.inputs.toolbox) for one in reading.calls]
        calls = tuple(one.call for one in plan)
        caller = await self.record.say(_true(reading, calls), calls)
        await self.executor.execute(plan, caller)
        if self.executor.broken:
            message = "The same call failed the same way six times."
            return self._failed("repeated_failure", message, "Say what to do instead, or fix what it fails on.")
        return None

    async def _answer(self, reading: ParsedReply, answer: str) -> Ending | None:
        """End with an answer, unless hooks hold it up."""
        if await self._held_up(reading, answer):
            return None
        try:
            await self.record.say(reading, answer=answer)
        except asyncio.CancelledError:
            if not self.record.answered:
                raise
        # What is stored as the answer is one, even if a cancel came in that very moment.
        return Ending("finished", answer)

    async def _held_up(self, reading: ParsedReply, answer: str) -> bool:
        """Whether hooks let the turn go on instead of ending with this answer; the model is told why (X-7)."""
        record = self.record
        hooks = call_hooks(self.run, record.parent)
        why = await hooks.held_up(answer, again=self._held > 0, agent=record.agent, call_id=record.parent)
        record.changes.extend(hooks.changes)
        if not why:
            return False
        if self._held == HELD_LIMIT:
            message = f"Hooks have held up the answer {HELD_LIMIT} times; this one ends the turn: {why}"
            record.notice(Notice("warning", "hook_ignored", message))
            return False
        self._held += 1
        record.emit(RetryEvent(self._held + 1, 0.0, f"a hook does not let the turn end: {why}", record.step))
        await record.say(reading)
        await record.note("reminder", render("held_up", reason=foreign(why)))
        return True

    async def _mend(self, reading: ParsedReply) -> Ending | None:
        """Answer an unreadable reply with what was expected, so that the model can mend it (R-3)."""
        assert reading.unreadable is not None  # noqa: S101 - narrowing; the caller has looked
        call, problem = reading.unreadable.call, reading.unreadable.problem
        caller = await self.record.say(reading, (call,))
        report(self.run, call, "failed", summary=problem)
        await self.record.observe(caller, call, failure("INVALID_PARAM", render("unreadable", problem=problem)))
        self._unreadable += 1
        if self._unreadable < UNREADABLE_LIMIT:
            return None
        message = f"The model gave {UNREADABLE_LIMIT} unreadable replies in a row; the last: {problem}"
        return self._failed("unreadable_reply", message, "Try model.dialect = native, or another model.")

    def _failed(self, code: RefusalCode, message: str, hint: str) -> Ending:
        return self._ended(TurnError(code, message, hint))

    def _ended(self, error: TurnError) -> Ending:
        return Ending("failed", self.record.partial_answer.text, error, why=error.message)


def _true(reading: ParsedReply, calls: Sequence[Call]) -> ParsedReply:
    """A reading whose calls are stored as `calls`: kept items behind one that is another are true no more (P-5)."""
    changed = next((at for at, call in enumerate(calls) if call != reading.calls[at]), None)
    if reading.items is None or changed is None:
        return reading
    return replace(reading, items=reading.items.before(changed))
