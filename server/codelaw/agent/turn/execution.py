"""From the calls of a reply to their results: one for every call, in their order (R-4, R-6, R-7, R-10)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from codelaw.agent.dialects.base import InvalidCall
from codelaw.agent.recording.redacting import redacted
from codelaw.agent.turn.call import CallRun, call_hooks, report
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.events import CallStatus, TodoEvent
from codelaw.domain.results import ToolResult, failure
from codelaw.templates.render import render
from codelaw.tools.finding.find_tools import CALL_TOOL, unwrapped
from codelaw.tools.naming import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.hooks.running import CallHooks
    from codelaw.agent.turn.running import TurnRun
    from codelaw.domain.messages import Call, Fragment, Message
    from codelaw.domain.permissions import Decision
    from codelaw.tools.toolbox import Toolbox

WARN_AFTER = 3
"""Equal failures after which the model is told (R-7)."""
STOP_AFTER = 6
"""Equal failures after which the turn ends (R-7)."""

_log = logging.getLogger(__name__)


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


@dataclass(frozen=True, slots=True)
class _Outcome:
    call: Call
    result: ToolResult
    decision: Decision | None
    """The last one made about the call; None when it never came to a judgement."""


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
        return _Outcome(call, result, decision)

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
        record, call, result = self.run.record, outcome.call, outcome.result
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
        result = outcome.result
        refused = result.error is not None and result.error.code == "PERMISSION_DENIED"
        status: CallStatus = "rejected" if refused else "failed" if result.status == "error" else "completed"
        diff = "\n".join(change.diff for change in result.changes if change.diff) or None
        summary = result.error.message if result.error else result.text
        report(self.run, outcome.call, status, summary=summary, diff=diff, decision=outcome.decision)
