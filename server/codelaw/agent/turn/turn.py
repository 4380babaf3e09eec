"""The loop: build the view, ask the model, run its calls, until it finishes (R-1, R-4). A turn's and a subagent's."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from codelaw.agent.dialects.base import InvalidCall
from codelaw.agent.dialects.choosing import SWITCHED
from codelaw.agent.dialects.scanning import GrowingText
from codelaw.agent.model_calls.caching import Sent, missed
from codelaw.agent.model_calls.recovery import REASONING, explain, refused
from codelaw.agent.recording.redacting import redacted
from codelaw.agent.turn.call import CallRun, call_hooks, report
from codelaw.agent.turn.model_call import Asker
from codelaw.agent.turn.running import Ending
from codelaw.agent.turn.window_fitter import WindowFitter
from codelaw.context.observations.layout import foreign
from codelaw.domain.chats import Notice, TurnError
from codelaw.domain.errors import ModelFailure, Refusal, RefusalCode, ToolFailure
from codelaw.domain.events import CallStatus, RetryEvent, TodoEvent, UsageEvent
from codelaw.domain.messages import Call
from codelaw.domain.results import ToolResult, failure
from codelaw.templates.render import render
from codelaw.tools.finding.find_tools import CALL_TOOL, unwrapped
from codelaw.tools.naming import named
from codelaw.transcript.repair.repairs import CANCELLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.dialects.base import ParsedReply
    from codelaw.agent.hooks.running import CallHooks
    from codelaw.agent.turn.model_call import ModelAttempt
    from codelaw.agent.turn.running import TurnRun
    from codelaw.context.sections import View
    from codelaw.domain.messages import Fragment, Message
    from codelaw.domain.permissions import Decision
    from codelaw.tools.toolbox import Toolbox

UNREADABLE_LIMIT = 3
"""Unreadable replies in a row that end a turn (R-3)."""
HELD_LIMIT = 3
"""Answers that hooks may hold up in one turn (X-7)."""
WARN_AFTER = 3
"""Equal failures after which the model is told (R-7)."""
STOP_AFTER = 6
"""Equal failures after which the turn ends (R-7)."""

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
        await self.run.pending.deliver(self.record, self.run.environment.ledger)
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
        now = Sent(
            view,
            inputs.model_name,
            tuple(inputs.toolbox.names),
            inputs.ttl,
            begun=begun,
            reply=reply,
            lasts=inputs.lasts,
        )
        miss, past.asked = missed(past.asked, now), now
        self.record.cache_miss = self.record.cache_miss or miss
        self.record.last_usage = usage
        self.fitter.learn(view, 0 if usage.estimated_tokens else usage.total_tokens - usage.output_tokens)
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
        if self.run.house.hooks is None:
            return False
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


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call that a reply asks for, under the names that its tool declares (T-11)."""

    call: Call
    problem: str = ""
    """Why it cannot be read; such a call is answered with this and never run (R-6)."""
    reported: str = ""
    """What the model is told about the names of its arguments, with the result."""


def planned(item: Call | InvalidCall, toolbox: Toolbox) -> PlannedCall:
    """The call with its arguments' names as declared, so that nothing behind this sees another spelling.

    A call through `call_tool` is from here on the call of the tool that it names (X-11).
    """
    if isinstance(item, InvalidCall):
        return PlannedCall(item.call, item.problem)
    if item.tool == CALL_TOOL:
        inside = unwrapped(item.arguments)
        if inside.problem:
            return PlannedCall(item, inside.problem)
        item = replace(item, tool=inside.name, arguments=inside.arguments)
    tool = toolbox.get(item.tool)
    if tool is None:
        return PlannedCall(item)
    read = named(tool.arguments, item.arguments)
    item = item if item.tool == tool.name else replace(item, tool=tool.name)
    return PlannedCall(replace(item, arguments=read.arguments) if read.renamed else item, reported=read.reported)


_Outcome = tuple[Call, ToolResult, "Decision | None"]
"""A call, its result, and the last decision about it; None when it never came to a judgement."""


@dataclass(slots=True)
class Executor:
    """Runs the calls of one run of the engine."""

    run: TurnRun
    _failures: Counter[str] = field(default_factory=Counter[str])

    @property
    def broken(self) -> bool:
        """The same call has failed the same way too often (R-7)."""
        return any(count >= STOP_AFTER for count in self._failures.values())

    async def execute(self, calls: Sequence[PlannedCall], caller: Message) -> None:
        """Run all calls of a message; neighbours that only read run together, all else one by one (R-4).

        Results are stored in the order of the calls, as early as that order allows, and a call's end is sent only when
        its result is durable (D-1).

        Raises:
            Refusal: the store failed (`store_unavailable`); calls that still run are stopped.
        """
        for reading, group in groupby(calls, self._reads_only):
            batch = list(group)
            if reading:
                running = [asyncio.create_task(self._run_one(call)) for call in batch]
                try:
                    for task in running:
                        await self._conclude(await task, caller)
                finally:
                    for task in running:
                        task.cancel()
                    await asyncio.gather(*running, return_exceptions=True)
            else:
                for call in batch:
                    await self._conclude(await self._run_one(call), caller)

    def _reads_only(self, planned: PlannedCall) -> bool:
        tool, environment = self.run.inputs.toolbox.get(planned.call.tool), self.run.environment
        return tool is not None and tool.effect == "read" and not tool.alone(planned.call.arguments, environment)

    async def _run_one(self, planned: PlannedCall) -> _Outcome:
        call, run = planned.call, self.run
        report(run, call, "pending", args=call.arguments)
        decisions: list[Decision] = []
        hooks = call_hooks(run, call.id)
        try:
            if planned.problem:
                result = failure("INVALID_PARAM", planned.problem)
            else:
                result = await self._result(call, hooks, decisions)
        except ToolFailure as error:
            result = failure(error.code, error.message)
        except Refusal:
            raise
        except Exception:  # noqa: BLE001 - a tool's bug must not end the server (R-10)
            _log.exception("the tool %s failed", call.tool)
            result = failure("INTERNAL_ERROR", f"{call.tool} failed inside codelaw; the log says why. Try another way.")
        tool, pictures = run.inputs.toolbox.get(call.tool), result.pictures
        effect = "read" if tool is None else tool.effect
        result = redacted(replace(result, pictures=()), effect, call.arguments.get("path"), run.redaction)
        result = self._counted(call, replace(result, pictures=pictures))
        decision = decisions[-1] if decisions else None
        result = await hooks.commented(call, result, decision)
        if planned.reported:
            result = replace(result, text=" ".join(filter(None, (result.text, planned.reported))))
        return call, result, decision

    async def _result(self, call: Call, hooks: CallHooks, decisions: list[Decision]) -> ToolResult:
        toolbox = self.run.inputs.toolbox
        tool = toolbox.get(call.tool)
        if tool is None:
            servers = self.run.environment.servers
            states = () if servers is None else servers.states()
            return failure("INVALID_PARAM", await asyncio.to_thread(toolbox.unknown, call.tool, states))
        arguments = toolbox.parse(tool, call.arguments)
        return await CallRun(self.run, call, tool, arguments, hooks=hooks, decisions=decisions).result()

    def _counted(self, call: Call, result: ToolResult) -> ToolResult:
        if result.error is None:
            return result
        arguments = json.dumps(call.arguments, sort_keys=True, default=str)
        key = f"{call.tool}{arguments}{result.error.code}{result.error.message}"
        self._failures[key] += 1
        times = self._failures[key]
        return replace(result, text=render("repeated", times=times)) if times >= WARN_AFTER else result

    async def _conclude(self, outcome: _Outcome, caller: Message) -> None:
        record, (call, result, _) = self.run.record, outcome
        behind: tuple[Fragment, ...] = ()
        try:
            try:
                behind = await self.run.laws.behind(call, result)
            finally:
                # What the call has done is stored, even if a cancel came in that very moment.
                await record.observe(caller, call, result, behind)
            if call.tool == "TodoWrite" and result.status == "success" and not record.parent:
                record.emit(TodoEvent(await self.run.environment.todos.save(record.store, record.chat_id), record.step))
        except asyncio.CancelledError:
            # The result has been stored all the same.
            self._report_end(outcome)
            raise
        self._report_end(outcome)

    def _report_end(self, outcome: _Outcome) -> None:
        call, result, decision = outcome
        refused = result.error is not None and result.error.code == "PERMISSION_DENIED"
        status: CallStatus = "rejected" if refused else "failed" if result.status == "error" else "completed"
        diff = "\n".join(change.diff for change in result.changes if change.diff) or None
        summary = result.error.message if result.error else result.text
        report(self.run, call, status, summary=summary, diff=diff, decision=decision)
