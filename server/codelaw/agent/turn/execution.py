"""From calls to results: validate, judge, ask, run; one result for every call (R-6, R-10, S-1)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from codelaw.agent.effects.journal import journal_of
from codelaw.agent.hooks.running import At
from codelaw.agent.recording.redacting import redacted, refuse_marks
from codelaw.agent.turn.afterwards import Afterwards
from codelaw.agent.turn.approval import Asked, refusal, spelled, strictness, with_git
from codelaw.agent.turn.elicitation import ServerAsking
from codelaw.agent.turn.hooking import Hooked
from codelaw.agent.turn.live_output import LiveOutput
from codelaw.agent.turn.planned import PlannedCall
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.events import CallStatus, TodoEvent, ToolCallEvent
from codelaw.domain.messages import Call
from codelaw.domain.permissions import Decision
from codelaw.domain.results import ToolResult, failure
from codelaw.domain.safety.redaction import Redaction
from codelaw.domain.safety.unseen import title
from codelaw.permissions.persistent_grants import home
from codelaw.permissions.policy import CallFacts
from codelaw.permissions.sensitive_files import named_paths
from codelaw.templates.render import render
from codelaw.tools.base import Preview, run_tool
from codelaw.tools.paths import located
from codelaw.tools.withholding import Withheld

if TYPE_CHECKING:
    from codelaw.agent.hooks.running import Hooks
    from codelaw.agent.recording.open_turn import OpenTurn
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.agent.turn.approval import Gate
    from codelaw.agent.turn.laws import TurnLaws
    from codelaw.agent.turn.notes import Notes
    from codelaw.domain.audit import By
    from codelaw.domain.messages import Fragment, Message
    from codelaw.ports.held import HeldImages
    from codelaw.tools.base import Tool, ToolEnvironment
    from codelaw.tools.toolbox import Toolbox

WARN_AFTER = 3
"""Equal failures after which the model is told (R-7)."""
STOP_AFTER = 6
"""Equal failures after which the turn ends (R-7)."""
TITLE = 200
"""Characters of a call's title."""
DESCRIBED = 120
"""Characters of the model's own words for a call."""
TOLD_DIFF = 60_000
"""Characters of a diff in an event; who is asked about it gets all of it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Outcome:
    call: Call
    result: ToolResult
    decision: Decision | None
    """The last one made about the call; None when it never came to a judgement."""


@dataclass(slots=True)
class Executor:
    """Runs the calls of one turn."""

    open: OpenTurn
    toolbox: Toolbox
    environment: ToolEnvironment
    gate: Gate
    notes: Notes
    """Keep what the user says at an approval (M-7)."""
    held: HeldImages | None = None
    """Keeps what commands may change while they run (E-2)."""
    redaction: Redaction = field(default_factory=Redaction)
    recorder: Recorder | None = None
    """Keeps on record what is decided (S-8)."""
    laws: TurnLaws | None = None
    """Tell the laws of the folders that calls touch (X-10)."""
    hooks: Hooks | None = None
    """The user's, which hear of every call (X-7)."""
    _failures: Counter[str] = field(default_factory=Counter[str])

    @property
    def broken(self) -> bool:
        """The same call has failed the same way too often (R-7)."""
        return any(count >= STOP_AFTER for count in self._failures.values())

    async def run(self, calls: Sequence[PlannedCall], caller: Message) -> None:
        """Run all calls of a message; neighbours that only read run together, all else one by one (R-4).

        Results are stored in the order of the calls, as early as that order allows, and a call's end is told only when
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

    def hooked(self, call_id: str) -> Hooked:
        """What hooks do around a call; its journal keeps what they and the call do to files (E-2)."""
        workspace = self.environment.workspace
        journal = journal_of(self.open, call_id, workspace, redaction=self.redaction, held=self.held)
        within = replace(self.environment, journal=journal)
        return Hooked(self.hooks, within, self.redaction, At(self.open.step, call_id))

    def tell(self, call: Call, status: CallStatus, **more: Any) -> None:
        """Emit the state of a call."""
        tool = self.toolbox.get(call.tool)
        self.open.emit(ToolCallEvent(call.id, call.tool, self._title(tool, call), status, self.open.step, **more))

    def _reads_only(self, planned: PlannedCall) -> bool:
        tool = self.toolbox.get(planned.call.tool)
        given = planned.call.arguments
        return tool is not None and tool.effect == "read" and not tool.alone(given, self.environment)

    async def _conclude(self, outcome: _Outcome, caller: Message) -> None:
        behind: tuple[Fragment, ...] = ()
        try:
            try:
                behind = await self.laws.behind(outcome.call, outcome.result) if self.laws is not None else ()
            finally:
                # What the call has done is told, even if a cancel came in that very moment.
                await self.open.observe(caller, outcome.call, outcome.result, behind)
            if outcome.call.tool == "TodoWrite" and outcome.result.status == "success" and not self.open.parent:
                todos = await self.environment.todos.save(self.open.store, self.open.chat_id)
                self.open.emit(TodoEvent(todos, self.open.step))
        except asyncio.CancelledError:
            # The result has been stored all the same.
            self._tell_end(outcome)
            raise
        self._tell_end(outcome)

    def _tell_end(self, outcome: _Outcome) -> None:
        result = outcome.result
        refused = result.error is not None and result.error.code == "PERMISSION_DENIED"
        status: CallStatus = "rejected" if refused else "failed" if result.status == "error" else "completed"
        diff = "\n".join(change.diff for change in result.changes if change.diff) or None
        summary = result.error.message if result.error else result.text
        self.tell(outcome.call, status, summary=summary, diff=diff, decision=outcome.decision)

    async def _run_one(self, planned: PlannedCall) -> _Outcome:
        call = planned.call
        self.tell(call, "pending", args=call.arguments)
        decisions: list[Decision] = []
        hooked = self.hooked(call.id)
        try:
            if planned.problem:
                result = failure("INVALID_PARAM", planned.problem)
            else:
                result = await self._judged(call, decisions, hooked)
        except ToolFailure as error:
            result = failure(error.code, error.message)
        except Refusal:
            raise
        except Exception:  # noqa: BLE001 - a tool's bug must not end the server (R-10)
            _log.exception("the tool %s failed", call.tool)
            result = failure("INTERNAL_ERROR", f"{call.tool} failed inside codelaw; the log says why. Try another way.")
        tool = self.toolbox.get(call.tool)
        effect = "read" if tool is None else tool.effect
        pictures = result.pictures
        result = redacted(replace(result, pictures=()), effect, call.arguments.get("path"), self.redaction)
        result = replace(result, pictures=pictures)
        result = self._counted(call, result)
        result = await hooked.commented(call, result, decisions[-1] if decisions else None)
        if planned.told:
            result = replace(result, text=" ".join(filter(None, (result.text, planned.told))))
        return _Outcome(call, result, decisions[-1] if decisions else None)

    async def _judged(self, call: Call, decisions: list[Decision], hooked: Hooked) -> ToolResult:
        tool = self.toolbox.get(call.tool)
        if tool is None:
            servers = self.environment.servers
            states = () if servers is None else servers.states()
            return failure("INVALID_PARAM", await asyncio.to_thread(self.toolbox.unknown, call.tool, states))
        arguments = self.toolbox.parse(tool, call.arguments)
        subject = await self._subject(tool, arguments)
        await refuse_marks(call, tool.effect, subject, self.environment.workspace, self.redaction)
        facts = CallFacts(tool.name, tool.effect, subject, call.arguments, tool.paths)
        facts = await with_git(self.environment.workspace, facts, tool.subject(arguments))
        facts, decision = await self._strictest(tool, arguments, facts)
        decision = await hooked.permitted(decision, facts, call, self.gate)
        if (decision.action, decision.source) == ("allow", "default") and (why := tool.asks(arguments)):
            decision = Decision("ask", "default", why)
        decisions.append(decision)
        comment, environment, by = "", self.environment, None
        reviewing = decision.action == "ask" and not decision.always_asked and tool.effect == "write"
        if reviewing and await tool.reviewed(arguments, self.environment):
            decision = Decision("allow", "default", "You confirm each part in the editor.")
            decisions.append(decision)
            environment = replace(environment, confirmed_in_editor=True)
        if decision.action == "ask":
            # What would be written holds no key: it is what stood there before that may.
            preview = self.redaction.value(await tool.preview(arguments, self.environment))
            told = preview.diff[:TOLD_DIFF] if preview.diff is not None else None
            self.tell(call, "awaiting_approval", diff=told, decision=decision)
            asked = Asked(
                self.asked_title(tool.title(arguments)),
                preview if preview != Preview() else Preview(text=spelled(call.arguments)),
                title(tool.described(arguments), DESCRIBED),
                decision,
            )
            verdict = await self.gate.ask(facts, call, asked, chat_id=self.open.chat_id, turn_id=self.open.id)
            if verdict.allowed and decision.always_asked and tool.effect == "execute":
                # What the user has seen named is open in the first run already: nobody is asked twice.
                environment = replace(environment, opened=self._named(facts.subject or ""))
            decision, comment, by = verdict.decision, self.redaction.text(verdict.comment), verdict.by
            decisions.append(decision)
            if comment:
                await self.notes.comment(comment)
        about = self._about(tool, arguments, facts, comment)
        await self.recorded(tool, decision, by, about)
        if decision.action != "allow":
            why = "The user refused this call." if by is not None else refusal(decision)
            return failure("PERMISSION_DENIED", f"{why} The user says: {comment}" if comment else why)
        self.tell(call, "running", decision=decision)
        asking = ServerAsking(self.gate.approver, self.open, call)
        journal = hooked.environment.journal
        seen = replace(self._seen_by(tool, environment), journal=journal, asking=asking, call_id=call.id)
        result = await self.run_it(call, tool, arguments, seen)
        if self.recorder is not None and tool.effect == "execute":
            self.recorder.violated(result, **about)
        shut, aside = tool.blocked(result), tool.aside(result)
        if shut or aside:
            after = Afterwards(self, call, tool, arguments, facts, about=about, decisions=decisions)
            if shut:
                result, said = await after.again(seen, result, shut)
                comment, aside = " ".join(filter(None, (comment, said))), tool.aside(result)
            if aside:
                result, said = await after.brought_back(seen, result, aside)
                comment = " ".join(filter(None, (comment, said)))
        return replace(result, text=f"{result.text} The user says: {comment}") if comment else result

    async def run_it(self, call: Call, tool: Tool[Any], arguments: Any, environment: ToolEnvironment) -> ToolResult:
        """Run a call; what a command prints is told meanwhile."""
        if tool.effect != "execute":
            return await run_tool(tool, arguments, environment)
        live = LiveOutput(self.open, call.id, self.redaction)
        try:
            return await run_tool(tool, arguments, replace(environment, listener=live))
        finally:
            live.close()

    def _named(self, command: str) -> tuple[str, ...]:
        """The paths that a command is seen to name and other programs obey, from the folder that it runs in."""
        folders = self.environment.workspace.folders
        return tuple(str(folders[0].root / path) for path in named_paths(command)) if folders else ()

    async def recorded(self, tool: Tool[Any], decision: Decision, by: By | None, about: Mapping[str, str]) -> None:
        """Put a decision on record before what it allows can happen; that something may be read is no news (S-8)."""
        if self.recorder is not None and (decision.action != "allow" or tool.effect != "read"):
            self.recorder.judged(decision, by, **about)
            if decision.action == "allow":
                await self.recorder.settled()

    def _about(self, tool: Tool[Any], arguments: Any, facts: CallFacts, comment: str) -> dict[str, str]:
        """What the record says of a call."""
        said = f"The user says: {comment}" if comment else ""
        detail = "\n".join(text for text in (facts.subject, said) if text)
        folder, _ = home(facts, self.gate.folders)
        title = tool.title(arguments)
        return {"chat_id": self.open.chat_id, "tool": tool.name, "title": title, "detail": detail, "folder": folder}

    def _seen_by(self, tool: Tool[Any], environment: ToolEnvironment) -> ToolEnvironment:
        """The world as a tool that reads may see it: without what rules deny it (S-1)."""
        denied = self.gate.denied(tool.name, tool.paths) if tool.paths == "reads" else None
        if denied is None:
            return environment
        return replace(environment, workspace=Withheld(environment.workspace, denied), withheld=True)

    async def _strictest(self, tool: Tool[Any], arguments: Any, facts: CallFacts) -> tuple[CallFacts, Decision]:
        """The judgement of a call; of one that changes several files the strictest, and the file it is about."""
        decision = await self.gate.judge(facts)
        if decision.action != "deny":
            for subject in await tool.subjects(arguments, self.environment):
                other = await with_git(self.environment.workspace, replace(facts, subject=subject), subject)
                judged = await self.gate.judge(other)
                if strictness(judged) > strictness(decision):
                    facts, decision = other, judged
        return facts, decision

    async def _subject(self, tool: Tool[Any], arguments: Any) -> str | None:
        """What rules match: a path as it is shown, so that no other spelling of it escapes a rule."""
        subject = tool.subject(arguments)
        if subject is None or tool.effect == "execute" or (tool.effect == "read" and not self.gate.ruled):
            return subject
        try:
            return (await located(self.environment.workspace, subject)).shown
        except ToolFailure:
            return subject

    def _counted(self, call: Call, result: ToolResult) -> ToolResult:
        if result.error is None:
            return result
        arguments = json.dumps(call.arguments, sort_keys=True, default=str)
        key = f"{call.tool}{arguments}{result.error.code}{result.error.message}"
        self._failures[key] += 1
        times = self._failures[key]
        return replace(result, text=render("repeated", times=times)) if times >= WARN_AFTER else result

    def asked_title(self, done: str) -> str:
        """What the user is asked about; of a subagent's call whose it is (X-4)."""
        return title(f"Subagent {self.open.agent}: {done}" if self.open.parent else done, TITLE)

    def _title(self, tool: Tool[Any] | None, call: Call) -> str:
        if tool is None:
            return title(call.tool, TITLE)
        try:
            return title(tool.title(self.toolbox.parse(tool, call.arguments)), TITLE)
        except ToolFailure:
            return title(call.tool, TITLE)
