"""What hooks do around a call, and at the answer: what they say, and the files that they change (X-7, E-2)."""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from codelaw.agent.effects.journal import journal_of
from codelaw.agent.recording.redacting import KEEPS_SECRETS
from codelaw.domain.permissions import Decision
from codelaw.domain.results import FileChange, ToolResult
from codelaw.hooks.answers import NOTHING
from codelaw.tools.changing.diffs import difference

if TYPE_CHECKING:
    from codelaw.agent.hooks.running import Hooks
    from codelaw.agent.turn.approval import Gate
    from codelaw.agent.turn.running import TurnRun
    from codelaw.domain.events import HookMoment
    from codelaw.domain.files import FileImage, Located, MadeChange
    from codelaw.domain.messages import Call
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.hooks.answers import Merged
    from codelaw.permissions.policy import CallFacts
    from codelaw.tools.base import ToolEnvironment

DIFF_LINES = 500
DIFF_CHARACTERS = 20_000
_NO_TEXT = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class HookedFile:
    """One file that was changed."""

    located: Located
    change: FileChange
    """Without keys."""
    diff: str
    """Whole, for the model to know the file by; empty where a part of it is hidden, and where it is not text."""
    before: str | None
    """The digest of the text, as a `FileText` has it; None where there was no file."""
    after: str | None


def changed_files(made: Iterable[MadeChange], redaction: Redaction) -> list[HookedFile]:
    """The files that are different."""
    return [_changed(one, redaction) for one in made]


def _changed(made: MadeChange, redaction: Redaction) -> HookedFile:
    before, after, place = _text(made.before), _text(made.after), made.place
    kind = "created" if before is None else "deleted" if after is None else "modified"
    readable = "\0" not in f"{before}{after}"
    diff = difference(before or "", after or "", place.shown) if readable else None
    whole = diff.text if diff is not None else ""
    secret = KEEPS_SECRETS.fullmatch(place.path.name) is not None
    reported = redaction.text(whole, shapes=True) if secret else redaction.text(whole)
    change = FileChange(
        path=place.shown,
        uri=place.uri,
        kind=kind,
        added=diff.added if diff is not None else 0,
        removed=diff.removed if diff is not None else 0,
        diff="\n".join(reported.split("\n")[:DIFF_LINES])[:DIFF_CHARACTERS],
    )
    known = whole if reported == whole and kind == "modified" else ""
    return HookedFile(place, change, known, _digest(before), _digest(after))


def _text(image: FileImage | None) -> str | None:
    """As a Read has it: without a byte order mark, with U+FFFD for what is no UTF-8."""
    if image is None:
        return None
    return _NO_TEXT.sub("\ufffd", image.content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"))


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


MOST_FILES = 20
"""Named in a result."""
SHOWN_DIFF = 6_000
"""Characters of all diffs that a result shows of what hooks have changed."""
READ_AGAIN = "A hook has changed what stands under `hook_changed`: read it again before you rely on it."
SEEN = "`hook_diff` is what a hook made of files after this; you need not read them again."


@dataclass(slots=True)
class CallHooks:
    """The hooks around one call, or at the answer, and what they have done by now."""

    hooks: Hooks | None
    environment: ToolEnvironment
    """With the journal of the call."""
    redaction: Redaction
    step: int
    call_id: str
    changes: list[FileChange] = field(default_factory=list[FileChange])
    diffs: list[str] = field(default_factory=list[str])
    """Whole; the model is shown them."""
    unknown: list[str] = field(default_factory=list[str])
    """Files, as shown, that the model has read and does not know as they are now."""

    async def permitted(self, decision: Decision, facts: CallFacts, call: Call, gate: Gate) -> Decision:
        """The rules' decision about a call as hooks leave it; what rules deny, no hook is asked about.

        A deny counts, and an ask. An allow counts as a rule for the whole tool would, for this call alone: it beats no
        deny rule, no mode, none of the questions of S-8, and without a sandbox it lets no command run (S-4).
        """
        if self.hooks is None or decision.action == "deny":
            return decision
        said, files = await self._run("PreToolUse", facts.tool, _about(call))
        self._take(files)
        match said.verdict:
            case "deny":
                return Decision("deny", "hook", said.reason)
            case "ask" if not decision.always_asked:
                return Decision("ask", "hook", said.reason or "A hook wants you to be asked.")
            case "allow" if decision.action == "ask":
                judged = await gate.judge(facts, also=facts.tool)
                allowed = Decision("allow", "hook", said.reason or "A hook allows it.")
                return allowed if judged.action == "allow" else decision
            case _:
                return decision

    async def commented(self, call: Call, result: ToolResult, decision: Decision | None) -> ToolResult:
        """The result of a call that was decided about so, with what hooks say of it and have done to files."""
        said = NOTHING
        if decision is not None and decision.action == "allow":
            about = {**_about(call), "tool_response": result.envelope()}
            said, files = await self._run("PostToolUse", call.tool, about)
            self._take(files)
        refused = f"A hook objects: {said.reason}" if said.verdict == "deny" else ""
        reported = "\n".join(filter(None, (refused, *(text for _, text in said.contexts))))
        shown = {"hook_changed": self.unknown[:MOST_FILES], "hook_diff": "\n".join(self.diffs)}
        more = {"hook_said": reported, **shown}
        news = {name: value for name, value in more.items() if value}
        if not news and not self.changes:
            return result
        text = " ".join(filter(None, (result.text, SEEN if self.diffs else "", READ_AGAIN if self.unknown else "")))
        return replace(result, data={**result.data, **news}, text=text, changes=(*result.changes, *self.changes))

    async def held_up(self, answer: str, *, again: bool, agent: str = "", call_id: str = "") -> str:
        """Why hooks do not let an answer end the turn; empty where they do. `again`: they have held it up before.

        With `agent` it is the report of a subagent of that kind, which the call `call_id` has begun (X-4).
        """
        about = {"stop_reason": "finished", "last_assistant_message": answer, "stop_hook_active": again}
        if agent:
            said, files = await self._run("SubagentStop", agent, {**about, "agent_type": agent, "agent_id": call_id})
        else:
            said, files = await self._run("Stop", "", about)
        for file in files:
            self.environment.ledger.note_hook_at_end(file.located, file.after)
        return said.reason if said.verdict == "deny" else ""

    async def _run(
        self, event: HookMoment, subject: str, about: Mapping[str, Any]
    ) -> tuple[Merged, Sequence[HookedFile]]:
        """What they say, and the files that are different."""
        if self.hooks is None:
            return NOTHING, ()
        said = await self.hooks.run(
            event, subject, about, step=self.step, call_id=self.call_id, environment=self.environment
        )
        files = await asyncio.to_thread(changed_files, said.changed, self.redaction) if said.changed else ()
        self.changes += [file.change for file in files]
        return said, files

    def _take(self, files: Sequence[HookedFile]) -> None:
        room = SHOWN_DIFF - sum(map(len, self.diffs))
        for file in files:
            shown = bool(file.diff) and len(file.diff) <= room
            read = self.environment.ledger.has_read(file.located)
            if not self.environment.ledger.note_hook(file.located, file.before, file.after, shown=shown):
                self.unknown.append(file.located.shown)
            elif shown and read:
                self.diffs.append(file.diff)
                room -= len(file.diff)


def call_hooks(run: TurnRun, call_id: str) -> CallHooks:
    """What hooks do around a call; its journal keeps what they and the call do to files (E-2)."""
    house, workspace = run.house, run.environment.workspace
    journal = journal_of(run.record, call_id, workspace, redaction=house.redaction, held=house.held)
    environment = replace(run.environment, journal=journal)
    return CallHooks(house.hooks, environment, house.redaction, run.record.step, call_id)


def _about(call: Call) -> dict[str, Any]:
    return {"tool_name": call.tool, "tool_input": dict(call.arguments), "tool_use_id": call.id}
