"""One call: judged, perhaps asked about, and run (S-1, S-2, S-8, X-7)."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from codelaw.agent.effects.journal import journal_of
from codelaw.agent.hooks.running import CallHooks
from codelaw.agent.recording.redacting import refuse_marks
from codelaw.agent.turn.approval import refusal, spelled, strictness, unanswered, why_asked, with_git
from codelaw.agent.turn.live_call import LiveOutput, ServerAsking
from codelaw.context.mentions import candidates
from codelaw.domain.errors import ToolFailure
from codelaw.domain.events import CallStatus, ToolCallEvent
from codelaw.domain.permissions import ApprovalQuestion, Decision
from codelaw.domain.results import failure
from codelaw.domain.safety.key_files import keeps_keys
from codelaw.domain.safety.own_tags import not_piped
from codelaw.domain.safety.unseen import title
from codelaw.permissions.options import home
from codelaw.permissions.policy import CallFacts
from codelaw.permissions.sensitive_files import named_paths
from codelaw.tools.base import Preview, run_tool
from codelaw.tools.changing.snapshots import kept
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from codelaw.agent.turn.approval import Verdict
    from codelaw.agent.turn.running import TurnRun
    from codelaw.domain.messages import Call
    from codelaw.domain.permissions import By
    from codelaw.domain.results import ToolResult
    from codelaw.tools.base import Tool, ToolEnvironment

TITLE = 200
"""Characters of a call's title."""
DESCRIBED = 120
"""Characters of the model's own words for a call."""
_REFUSED = "The user refused this call."
SHOWN_DIFF = 60_000
"""Characters of a diff in an event; who is asked about it gets all of it."""


def report(run: TurnRun, call: Call, status: CallStatus, **more: Any) -> None:
    """Emit the state of a call."""
    toolbox, named = run.inputs.toolbox, call.tool
    if (tool := toolbox.get(call.tool)) is not None:
        with suppress(ToolFailure):
            named = tool.title(toolbox.parse(tool, call.arguments))
    run.record.emit(ToolCallEvent(call.id, call.tool, title(named, TITLE), status, run.record.step, **more))


def call_hooks(run: TurnRun, call_id: str) -> CallHooks:
    """What hooks do around a call; its journal keeps what they and the call do to files (E-2)."""
    house, workspace = run.house, run.environment.workspace
    journal = journal_of(run.record, call_id, workspace, redaction=house.redaction, held=house.held)
    environment = replace(run.environment, journal=journal)
    return CallHooks(house.hooks, environment, house.redaction, run.record.step, call_id)


@dataclass(slots=True)
class CallRun:
    """A call whose tool and arguments are known."""

    run: TurnRun
    call: Call
    tool: Tool[Any]
    arguments: Any
    hooks: CallHooks
    decisions: list[Decision]
    """What was decided about it by now."""
    facts: CallFacts = field(init=False)
    audited: dict[str, str] = field(init=False)
    """What the audit says of it."""
    comments: list[str] = field(default_factory=list[str])
    """What the user has said to the model about it."""

    async def result(self) -> ToolResult:
        """What comes of the call.

        Raises:
            ToolFailure: it cannot be run.
        """
        decision, by, environment = await self._decided()
        said = f"The user says: {self.comments[0]}" if self.comments else ""
        self.audited = {
            "chat_id": self.run.record.chat_id,
            "tool": self.tool.name,
            "title": self.tool.title(self.arguments),
            "detail": "\n".join(filter(None, (self.facts.subject, said))),
            "folder": home(self.facts, self.run.gate.folders)[0],
        }
        await self._audit(decision, by)
        if decision.action != "allow":
            why = refusal(decision) if by is None else unanswered(self.decisions) if by == "headless" else _REFUSED
            return failure("PERMISSION_DENIED", f"{why} {said}" if said else why)
        self._report("running", decision=decision)
        environment = replace(
            self._seen_by_tool(environment),
            journal=self.hooks.environment.journal,
            asking=ServerAsking(self.run.gate.approver, self.run.record, self.call),
            call_id=self.call.id,
        )
        result = await self._executed(environment)
        if shut := self.tool.blocked(result):
            result = await self._again(environment, result, shut)
        if aside := self.tool.aside(result):
            result = await self._brought_back(environment, result, aside)
        return (
            replace(result, text=f"{result.text} The user says: {' '.join(self.comments)}") if self.comments else result
        )

    async def _decided(self) -> tuple[Decision, By | None, ToolEnvironment]:
        """The decision about the call, whose it is where it was no rule's, and in what world the call runs."""
        run, tool, arguments = self.run, self.tool, self.arguments
        environment = run.environment
        subject = await self._subject()
        await refuse_marks(self.call, tool.effect, subject, environment.workspace, run.redaction)
        facts = CallFacts(
            tool.name,
            tool.effect,
            subject,
            self.call.arguments,
            tool.paths,
            digest=tool.digest,
            every_time=tool.asks_every_time(arguments),
        )
        if subject is not None and tool.paths == "reads" and keeps_keys(subject):
            facts = replace(facts, mentioned=await self._mentioned(subject))
        self.facts = await with_git(environment.workspace, facts, tool.subject(arguments))
        decision = await self._permitted(await self._strictest())
        if (decision.action, decision.source) == ("allow", "default") and (why := tool.asks(arguments)):
            decision = Decision("ask", "default", why)
        self.decisions.append(decision)
        reviewing = decision.action == "ask" and not decision.always_asked and tool.effect == "write"
        if reviewing and await tool.reviewed(arguments, environment):
            decision = Decision("allow", "default", "You confirm each part in the editor.")
            self.decisions.append(decision)
            environment = replace(environment, confirmed_in_editor=True)
        if decision.action != "ask":
            return decision, None, environment
        # What would be written holds no key: it is what stood there before that may.
        preview = run.redaction.value(await tool.preview(arguments, run.environment))
        preview = preview if preview != Preview() else Preview(text=spelled(self.call.arguments))
        verdict = await self._ask(decision, tool.title(arguments), preview)
        if verdict.allowed and decision.always_asked and tool.effect == "execute":
            # What the user has seen named is open in the first run already: nobody is asked twice.
            environment = replace(environment, opened=self._named(self.facts.subject or ""))
        await self._comment(verdict)
        return verdict.decision, verdict.by, environment

    async def _permitted(self, decision: Decision) -> Decision:
        """The rules' decision as hooks leave it; what rules deny, no hook is asked about.

        A deny counts, and an ask. An allow counts as a rule for the whole tool would, for this call alone: it beats no
        deny rule, no mode, none of the questions of S-8, and without a sandbox it lets no command run (S-4).
        """
        if decision.action == "deny":
            return decision
        said = await self.hooks.before(self.call)
        match said.verdict:
            case "deny":
                return Decision("deny", "hook", said.reason)
            case "ask" if not decision.always_asked:
                return Decision("ask", "hook", said.reason or "A hook wants you to be asked.")
            case "allow" if decision.action == "ask":
                judged = await self.run.gate.judge(self.facts, also=self.tool.name)
                return (
                    Decision("allow", "hook", said.reason or "A hook allows it.")
                    if judged.action == "allow"
                    else decision
                )
            case _:
                return decision

    async def _subject(self) -> str | None:
        """What rules match: a path as it is shown, so that no other spelling of it escapes a rule."""
        subject, effect = self.tool.subject(self.arguments), self.tool.effect
        if subject is None or effect == "execute":
            return subject
        try:
            return (await located(self.run.environment.workspace, subject)).shown
        except ToolFailure:
            return subject

    async def _mentioned(self, shown: str) -> bool:
        """Whether the user's own words, or what was attached to them, name a file; a command's text is not theirs."""
        record = self.run.record
        if record.parent:
            return False
        own = {*candidates(not_piped(self.run.typed))}
        own.update(path for one in record.record if one.metadata.note == "steer" for path in candidates(one.content))
        if await self._lead_to(shown, {path for path in own if keeps_keys(path)}):
            return True
        # What is attached stands beside what others' texts mention, and what a word of the user's leads to by a link.
        others = {path for one in record.question.metadata.fragments for path in candidates(one.text)}
        others.update(own, candidates(self.run.typed))
        return not await self._lead_to(shown, others) and await self._lead_to(
            shown, {*candidates(record.question.content)}
        )

    async def _lead_to(self, shown: str, paths: Collection[str]) -> bool:
        """Whether one of some mentioned paths is that file."""
        for path in paths:
            for start in ("", *(f"{folder.name}/" for folder in self.run.environment.workspace.folders)):
                with suppress(ToolFailure):
                    if (await located(self.run.environment.workspace, f"{start}{path}")).shown == shown:
                        return True
        return False

    async def _strictest(self) -> Decision:
        """The judgement of the call; of one that changes several files the strictest, and the file it is about."""
        gate, facts, environment = self.run.gate, self.facts, self.run.environment
        decision = await gate.judge(facts)
        if decision.action != "deny":
            for subject in await self.tool.subjects(self.arguments, environment):
                other = await with_git(environment.workspace, replace(facts, subject=subject), subject)
                judged = await gate.judge(other)
                if strictness(judged) > strictness(decision):
                    self.facts = facts = other
                    decision = judged
        return decision

    async def _ask(self, decision: Decision, heading: str, preview: Preview) -> Verdict:
        """Put a question about the call to the user; of a subagent's call it names whose it is (X-4)."""
        record = self.run.record
        diff = preview.diff[:SHOWN_DIFF] if preview.diff is not None else None
        self._report("awaiting_approval", diff=diff, decision=decision)
        heading = title(f"Subagent {record.agent}: {heading}" if record.parent else heading, TITLE)
        question = ApprovalQuestion(
            record.chat_id,
            record.id,
            self.call.id,
            self.call.tool,
            heading,
            risk="execute" if self.facts.effect == "execute" else "write",
            diff=preview.diff,
            command=preview.command,
            text=preview.text,
            description=title(self.tool.described(self.arguments), DESCRIBED),
            why=why_asked(self.facts, decision),
            always_asked=decision.always_asked,
        )
        verdict = await self.run.gate.ask(self.facts, question)
        self.decisions.append(verdict.decision)
        return verdict

    async def _comment(self, verdict: Verdict) -> None:
        comment = self.run.redaction.text(verdict.comment)
        if comment:
            self.comments.append(comment)
            await self.run.pending.comment(comment)

    async def _audit(self, decision: Decision, by: By | None, detail: str = "") -> None:
        """Put a decision on record before what it allows can happen; that something may be read is no news (S-8)."""
        recorder = self.run.house.recorder
        if recorder is not None and (decision.action != "allow" or self.tool.effect != "read"):
            noted = "\n".join(filter(None, (detail, self.audited["detail"])))
            recorder.judged(decision, by, **{**self.audited, "detail": noted})
            if decision.action == "allow":
                await recorder.settled()

    async def _executed(self, environment: ToolEnvironment) -> ToolResult:
        """Run it; what a command prints is shown meanwhile, and what it met is put on record."""
        if self.tool.effect != "execute":
            return await run_tool(self.tool, self.arguments, environment)
        live = LiveOutput(self.run.record, self.call.id, self.run.redaction)
        try:
            result = await run_tool(self.tool, self.arguments, replace(environment, listener=live))
        finally:
            live.close()
        if self.run.house.recorder is not None:
            self.run.house.recorder.violated(result, **self.audited)
        return result

    async def _again(self, environment: ToolEnvironment, failed: ToolResult, shut: Sequence[str]) -> ToolResult:
        """Ask whether a call that failed on paths which other programs obey may run again and change them (S-8)."""
        named = ", ".join(shut)
        why = f"It ran and failed: other programs obey {named}."
        preview = self.run.redaction.value(await self.tool.preview(self.arguments, environment))
        heading = f"Run again what failed, and let it change {named}"
        verdict = await self._ask_afterwards(why, heading, preview, f"To change {named}")
        if not verdict.allowed:
            error = failed.error
            if error is not None:
                error = replace(error, message=f"{error.message} The user did not let it run again to change {named}.")
            return replace(failed, error=error)
        self._report("running", decision=verdict.decision)
        result = await self._executed(replace(environment, opened=(*environment.opened, *shut)))
        before = f"It had run before and failed on {named}; the user let it run again and change that."
        if result.error is not None:
            return replace(result, error=replace(result.error, message=f"{before} {result.error.message}"))
        return replace(result, text=f"{before} {result.text}")

    async def _brought_back(
        self, environment: ToolEnvironment, result: ToolResult, aside: Mapping[str, Path]
    ) -> ToolResult:
        """Ask whether what a command made under names that other programs obey shall come back (S-8)."""
        named, processes = ", ".join(aside), environment.processes
        files: dict[str, str] = {}
        for shown, place in aside.items():
            above = shown.rpartition("/")[0]
            found = await asyncio.to_thread(processes.kept_files, place)
            files |= {f"{above}/{name}".lstrip("/"): text for name, text in found.items()}
        text = "\n".join(f"{name}\n{content}".rstrip() for name, content in files.items()) or f"{named}: empty"
        preview = self.run.redaction.value(Preview(text=text))
        why = f"It made {named}, which other programs obey and which was taken away."
        heading = f"Bring back {named}, which the command has made"
        verdict = await self._ask_afterwards(why, heading, preview, f"To bring back {named}")
        reported = f"The user did not let {named} come back."
        if verdict.allowed:
            async with kept(shlex.join(files), environment):
                problems = [await asyncio.to_thread(processes.bring_back, place) for place in aside.values()]
            reported = " ".join(filter(None, problems)) or f"The user let {named} come back."
        if result.error is not None:
            return replace(result, error=replace(result.error, message=f"{result.error.message} {reported}"))
        return replace(result, text=f"{result.text} {reported}")

    async def _ask_afterwards(self, why: str, heading: str, preview: Preview, detail: str) -> Verdict:
        """Put a question about a command that has run, which only a person answers."""
        decision = Decision("ask", "default", why, always_asked=True)
        self.decisions.append(decision)
        verdict = await self._ask(decision, heading, preview)
        await self._audit(verdict.decision, verdict.by, detail)
        await self._comment(verdict)
        return verdict

    def _report(self, status: CallStatus, **more: Any) -> None:
        report(self.run, self.call, status, **more)

    def _named(self, command: str) -> tuple[str, ...]:
        """The paths that a command is seen to name and other programs obey, from the folder that it runs in."""
        folders = self.run.environment.workspace.folders
        return tuple(str(folders[0].root / path) for path in named_paths(command)) if folders else ()

    def _seen_by_tool(self, environment: ToolEnvironment) -> ToolEnvironment:
        """The world as a tool that reads may see it: without what rules deny it (S-1)."""
        tool = self.tool
        denied = self.run.gate.denied(tool.name, tool.paths) if tool.paths == "reads" else None
        if denied is None:
            return environment
        return replace(environment, workspace=environment.workspace.without(denied), withheld=True)
