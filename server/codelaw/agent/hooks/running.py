"""Runs the hooks of a chat: bounded, in the sandbox of its commands, each seen by the user (X-7)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from codelaw.context.escaping import one_name
from codelaw.context.observations.layout import foreign
from codelaw.domain.chats import Mode
from codelaw.domain.errors import ToolFailure
from codelaw.domain.events import HookMoment, HookRun, HookStatus, NoticeEvent
from codelaw.domain.messages import Fragment
from codelaw.domain.safety.redaction import Redaction
from codelaw.domain.safety.unseen import title
from codelaw.hooks.answers import NOTHING, HookAnswer, Merged, answer, merged
from codelaw.hooks.matching import Hook, concerned
from codelaw.templates.render import render
from codelaw.tools.changing.snapshots import kept

if TYPE_CHECKING:
    from codelaw.agent.recording.outbox import Outbox
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.ports.workspace import Processes
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
            ended = await self.processes.run(hook.command, cwd=self.folder, timeout=hook.seconds, given=given)
            said = answer(hook.event, ended)
        except ToolFailure as failure:
            said = HookAnswer(problem=failure.message)
        except asyncio.CancelledError:
            report("cancelled")
            raise
        said = self.redaction.value(said)
        report(said.status, said.reported)
        self._record(hook, name, said)
        return said

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
