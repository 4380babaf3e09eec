"""What the model must be told before its next step: steers, and files the user changed (R-9, F-5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from codelaw.agent.inputs.attachments import pictures_in
from codelaw.agent.inputs.gathering import NOTHING_CALLED, Called, added
from codelaw.context.escaping import one_name
from codelaw.context.mentions import reminder
from codelaw.domain.events import ChatEvent, SteerEvent, still_waiting
from codelaw.templates.render import render

if TYPE_CHECKING:
    from codelaw.agent.inputs.gathering import UserMessage
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.agent.turn.approval import Gate
    from codelaw.domain.media.images import Image
    from codelaw.domain.messages import Fragment
    from codelaw.domain.requests import EditorState, Enclosed
    from codelaw.ports.workspace import Workspace
    from codelaw.tools.freshness import Ledger

CHANGED_NAMED = 5
"""Most changed files a reminder names (F-5)."""


@dataclass(slots=True, eq=False)
class QueuedSteer:
    """A message that was sent while a turn ran, and waits."""

    text: str
    """As typed."""
    editor: EditorState | None = None
    """What the user looked at."""
    called: Called = NOTHING_CALLED
    """What it mentions besides files, looked up when it came (M-7, M-8)."""
    attachments: tuple[Enclosed, ...] = ()
    """What was sent along (M-6)."""
    hooked: tuple[Fragment, ...] = ()
    """What hooks have added to it (X-7)."""
    id: str = field(default_factory=lambda: uuid4().hex[:12])
    taken: bool = False
    """It is being told, or becomes a turn, and cannot be withdrawn any more."""
    content: str = ""
    """As the model is told it, once it has been tried."""

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures among what was sent along."""
        return tuple(one.image for one in pictures_in(self.attachments))


@dataclass(slots=True)
class PendingMessages:
    """What has come in and the model was not told yet."""

    workspace: Workspace
    gate: Gate
    """Says what the model may not be shown of what a steer speaks of (M-7)."""
    _steers: list[QueuedSteer] = field(default_factory=list[QueuedSteer])
    _reminders: list[str] = field(default_factory=list[str])

    @property
    def waiting(self) -> tuple[QueuedSteer, ...]:
        """The steers that the model has not been told, in the order they came."""
        return tuple(self._steers)

    def steer(self, steer: QueuedSteer) -> None:
        """Queue the user's words for the next step."""
        self._steers.append(steer)

    @property
    def empty(self) -> bool:
        """Nothing waits to be told."""
        return not self._steers and not self._reminders

    def withdraw(self, steer_id: str) -> QueuedSteer | None:
        """Take back a steer that still waits."""
        found = next((steer for steer in self._steers if steer.id == steer_id and not steer.taken), None)
        if found is not None:
            self._steers.remove(found)
        return found

    def take(self) -> tuple[QueuedSteer, ...]:
        """All steers; none is waiting afterwards."""
        taken, self._steers = tuple(self._steers), []
        return taken

    def drop(self, steers: Iterable[QueuedSteer]) -> None:
        """These do not wait any more."""
        gone = set(map(id, steers))
        self._steers = [steer for steer in self._steers if id(steer) not in gone]

    def changed(self, paths: list[str], by: str = "The user") -> None:
        """Queue a reminder that files the model has read were changed."""
        if paths:
            named, more = [one_name(path) for path in paths[:CHANGED_NAMED]], max(0, len(paths) - CHANGED_NAMED)
            self._reminders.append(render("changed", by=by, paths=named, more=more))

    async def comment(self, text: str) -> None:
        """Queue a reminder of what the user's words at an approval mention; they stand in the call's result (M-7)."""
        if block := reminder((await self._worded(text)).mentions):
            self._reminders.append(block)

    async def deliver(self, opened: TurnRecord, ledger: Ledger) -> None:
        """Put everything into the turn, files of the ledger that the user changed too (R-9, F-5).

        What the turn has not taken is kept for the next time.
        """
        found = await ledger.external_changes(self.workspace)
        hooked = [path for path in found if ledger.by_hook(path)]
        self.changed([path for path in found if path not in hooked])
        self.changed(hooked, by="A hook")
        while self._steers:
            await self._deliver_steer(self._steers[0], opened)
        while self._reminders:
            before = len(opened.record)
            try:
                await opened.note("reminder", self._reminders[0])
            finally:
                if len(opened.record) > before:
                    del self._reminders[0]

    def heard(self, opened: TurnRecord) -> None:
        """Let go of the steer that stands in the record although the store said that it failed."""
        recorded = {message.content for message in opened.record if message.metadata.note == "steer"}
        for steer in self.waiting:
            if steer.content in recorded:
                self._delivered(steer, opened)

    async def _deliver_steer(self, steer: QueuedSteer, opened: TurnRecord) -> None:
        steer.taken = True
        before = len(opened.record)
        worded = None
        try:
            worded = (await self._worded(steer.text, steer.editor, steer.attachments)).calling(steer.called)
            steer.content = render("steer", text=worded.content)
            await opened.note("steer", steer.content, (*steer.hooked, *worded.fragments), worded.pictures)
        finally:
            steer.taken = False
            if len(opened.record) > before:
                self._delivered(steer, opened, worded)

    async def _worded(
        self, text: str, editor: EditorState | None = None, attachments: Sequence[Enclosed] = ()
    ) -> UserMessage:
        """The user's words, made ready for the model."""
        return await added(text, editor, self.workspace, self.gate.denied("Read", "reads"), attachments)

    def _delivered(self, steer: QueuedSteer, opened: TurnRecord, worded: UserMessage | None = None) -> None:
        self.drop([steer])
        for notice in steer.called.notices if worded is None else worded.notices:
            opened.notice(notice)
        event = SteerEvent(steer.text, opened.step or None, steer.id, "told", images=steer.images)
        if worded is not None:
            event = replace(event, mentions=worded.mentions, mentions_left_out=worded.left_out)
        opened.emit(event)


def left_waiting(events: Iterable[ChatEvent]) -> list[tuple[str, SteerEvent]]:
    """The steers that nobody will tell the model any more, each with its turn (R-9)."""
    waiting = still_waiting((event.turn_id, event.event) for event in events)
    return [(turn_id, replace(steer, state="returned")) for turn_id, steer in waiting]
