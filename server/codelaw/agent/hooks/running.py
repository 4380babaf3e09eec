"""The hooks of a chat: run in the sandbox of its commands, around calls and at the answer (X-7, E-2)."""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import json
import logging
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from codelaw.agent.hooks.allowing import not_counted
from codelaw.context.escaping import one_name
from codelaw.context.observations.layout import foreign
from codelaw.domain.errors import ToolFailure
from codelaw.domain.events import HookMoment, HookRun, HookStatus, NoticeEvent
from codelaw.domain.messages import Fragment
from codelaw.domain.results import FileChange, ToolResult
from codelaw.domain.safety.key_files import KEEPS_SECRETS
from codelaw.domain.safety.redaction import Redaction
from codelaw.domain.safety.unseen import title
from codelaw.hooks.answers import NOTHING, HookAnswer, Merged, answer, merged
from codelaw.hooks.matching import Hook, concerned
from codelaw.permissions.command_files import files_of_line
from codelaw.templates.render import render
from codelaw.tools.changing.diffs import difference
from codelaw.tools.changing.snapshots import kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from codelaw.agent.recording.outbox import Outbox
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.domain.chats import Mode
    from codelaw.domain.files import FileImage, Located, MadeChange
    from codelaw.domain.messages import Call
    from codelaw.domain.permissions import Decision
    from codelaw.ports.workspace import ObeyedFiles, Processes
    from codelaw.tools.base import ToolEnvironment

NAME = 80
"""Characters of a command that a hook is called by."""
_At = tuple[int | None, str | None]
"""The step of a turn and the call that a moment belongs to."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Hooks:
    """The hooks of one chat, as they were when its turn began."""

    declared: tuple[Hook, ...]
    processes: Processes
    folder: Path
    """In which they run: the first of the workspace."""
    chat_id: str
    mode: Mode
    outbox: Outbox
    redaction: Redaction = field(default_factory=Redaction)
    recorder: Recorder | None = None
    obeyed: ObeyedFiles | None = None
    """Knows what commands have made of their files."""
    folders: tuple[Path, ...] = ()
    """All of the workspace."""
    path: str = ""
    """PATH, as hooks have it."""
    told: set[str] = field(default_factory=set[str])
    """The chat's, of what the user is told once."""
    _complained: set[tuple[HookMoment, str]] = field(default_factory=set[tuple[HookMoment, str]])
    """Hooks whose failure the user has been told of; the next turn tells it again."""
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Of two moments whose changes are kept, one waits: a change would be kept twice."""

    async def run(
        self,
        event: HookMoment,
        subject: str,
        about: Mapping[str, Any],
        *,
        step: int | None = None,
        call_id: str | None = None,
        environment: ToolEnvironment | None = None,
    ) -> Merged:
        """Run all hooks of a moment side by side; `about` are the fields beside those that every hook is given.

        The journal of `environment` keeps what they do to files; None where no turn is open that could be undone (E-2).

        A hook that fails is told and stops nothing. Cancelled, it ends them all.

        Raises:
            Refusal: what they did to files cannot be stored.
        """
        hooks = concerned(self.declared, event, subject)
        if not hooks:
            return NOTHING
        given, at = self._given(event, about), (step, call_id)
        if environment is None:
            return await self._all(hooks, given, at)
        async with self._changing:
            try:
                async with kept("\n".join(hook.command for hook in hooks), environment) as made:
                    said = await self._all(hooks, given, at)
            except ToolFailure as failure:
                # None has run, because what it changes could not be undone.
                return merged(event, [(hook, HookAnswer(problem=failure.message.rstrip("."))) for hook in hooks])
        return replace(said, changed=tuple(made))

    async def _all(self, hooks: Sequence[Hook], given: str, at: _At) -> Merged:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(self._one(hook, given, at)) for hook in hooks]
        return merged(hooks[0].event, [(hook, task.result()) for hook, task in zip(hooks, running, strict=True)])

    def _given(self, event: HookMoment, about: Mapping[str, Any]) -> str:
        """What a hook reads on standard input: one JSON object, without keys that are known (S-5)."""
        known = {
            "hook_event_name": event,
            "session_id": self.chat_id,
            "turn_id": self.outbox.turn,
            "cwd": str(self.folder),
            "permission_mode": self.mode,
        }
        return json.dumps(self.redaction.value({**known, **about}), ensure_ascii=False, default=str)

    async def _one(self, hook: Hook, given: str, at: _At) -> HookAnswer:
        name, run = title(hook.command, NAME), uuid4().hex[:12]
        clock = asyncio.get_running_loop()
        began = clock.time()

        def report(status: HookStatus, message: str = "") -> None:
            seconds = round(clock.time() - began, 3)
            self.outbox.report(
                HookRun(
                    id=run,
                    name=name,
                    event=hook.event,
                    status=status,
                    seconds=seconds,
                    message=message or None,
                    step=at[0],
                    call_id=at[1],
                )
            )

        report("running")
        try:
            await self._refuse_unseen(hook)
            ended = await self.processes.run(hook.command, cwd=self.folder, timeout=hook.seconds, given=given)
            said = await self._believed(hook, answer(hook.event, ended))
        except ToolFailure as failure:
            said = HookAnswer(problem=failure.message)
        except asyncio.CancelledError:
            report("cancelled")
            raise
        said = self.redaction.value(said)
        report(said.status, said.reported)
        self._record(hook, name, said)
        return said

    async def _refuse_unseen(self, hook: Hook) -> None:
        """Nothing, where the user has seen what commands made of the files that a hook runs or loads (S-8).

        Raises:
            ToolFailure: ACCESS_DENIED: of one they have not.
        """
        for path in files_of_line(hook.command, str(self.folder)).loaded:
            if self.obeyed is not None and not await self.obeyed.counts(path):
                raise ToolFailure("ACCESS_DENIED", f"a command has changed {path}, and you have not seen that yet")

    async def _believed(self, hook: Hook, said: HookAnswer) -> HookAnswer:
        """What it says; an allow that a workspace has a part in is as if it had not been said, and told once."""
        if said.verdict != "allow":
            return said
        why = await asyncio.to_thread(not_counted, hook.command, self.folder, self.folders, self.path)
        if not why:
            return said
        message = f"The hook `{title(hook.command, NAME)}` allowed a call, which does not count: {why}"
        if message not in self.told:
            self.told.add(message)
            self.outbox.report(NoticeEvent("warning", "hook_ignored", message))
        return replace(said, verdict=None, message=said.message or why, reason="")

    def _record(self, hook: Hook, name: str, said: HookAnswer) -> None:
        _log.info("hook %s (%s): %s", name, hook.event, said.status)
        if self.recorder is not None:
            detail = "\n".join(filter(None, (hook.command, said.reported)))
            decided = "deny" if said.status == "blocked" else "ran"
            self.recorder.note(
                "hook",
                decided,
                "hook",
                chat_id=self.chat_id,
                title=f"{hook.event}: {name}",
                rule=said.status,
                detail=detail,
                folder=str(self.folder),
            )
        if said.problem and (hook.event, hook.command) not in self._complained:
            self._complained.add((hook.event, hook.command))
            message = f"The hook `{name}` ({hook.event}) failed: {said.problem}."
            self.outbox.report(NoticeEvent("warning", "hook_failed", message))


def fragments(event: HookMoment, said: Merged) -> tuple[Fragment, ...]:
    """What hooks add to a message, marked as theirs and unable to forge anything else (R-5)."""
    return tuple(
        Fragment("hook", render("hook", event=event, label=_label(hook), text=foreign(text)))
        for hook, text in said.contexts
    )


def _label(hook: Hook) -> str:
    return one_name(title(hook.command, NAME)).replace('"', "'")


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

    async def before(self, call: Call) -> Merged:
        """What hooks say of a call that is about to be made."""
        said, files = await self._run("PreToolUse", call.tool, _about(call))
        self._take(files)
        return said

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


def _about(call: Call) -> dict[str, Any]:
    return {"tool_name": call.tool, "tool_input": dict(call.arguments), "tool_use_id": call.id}
