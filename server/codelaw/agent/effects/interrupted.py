"""What a command had changed when its server died is found out by the next one, so that it can be undone (E-2)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from codelaw.agent.effects.journal import StoredJournal
from codelaw.domain.edits import DAMAGED, KeptChange
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.events import NoticeEvent, Numbers
from codelaw.domain.files import FileImage
from codelaw.ports.cancelling import to_the_end
from codelaw.tools.watching import CLOCK, MAX_READ, MAX_SECONDS, MAX_VISITS, placed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from codelaw.domain.files import Located, Survey
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.journal import HeldImages, LeftCommand, LeftFile
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import Workspace

SLACK = 5.0
"""Seconds after the last mark of life in which a change is still taken for the command's."""
NAMED = 10
"""Files that a notice names."""
_BOM = "\ufeff"

_log = logging.getLogger(__name__)


async def settle_interrupted(held: HeldImages, store: ChatStore, workspace: Workspace, redaction: Redaction) -> None:
    """Keep what commands of dead servers have changed as changes of their turns, and tell of it in their chats.

    A file that was changed later, or saved by a person meanwhile, is somebody else's by now: it is kept as `unknown`,
    and a revert leaves it alone. What cannot be stored now stays for the next time, and keeps nobody from the chats.
    """
    surveys: list[Survey] = []

    async def settle(command: LeftCommand) -> bool:
        try:
            known = await store.changes(command.chat_id, command.turn_id)
            taking = _Taking(store, workspace, redaction, command)
            await taking.take({(change.call_id, change.uri, change.before) for change in known})
            if command.began and not surveys:
                surveys.append(await workspace.survey(None, max_visits=MAX_VISITS, seconds=MAX_SECONDS, exact=True))
            if command.began:
                await taking.take_others(surveys[0], {change.path for change in known})
            if notice := taking.notice():
                await store.append_events(command.chat_id, command.turn_id, [(time.time(), notice)], Numbers())
        except Refusal as refusal:
            if refusal.code in {"chat_not_found", "turn_not_found"}:
                return True  # they are deleted, and what was kept for them goes too
            _log.warning("what a command had changed cannot be kept now: %s", refusal.message)
            return False
        except Exception:  # noqa: BLE001 - a bug, or a file like no other, must not keep all chats closed (R-10)
            _log.exception("what a command had changed cannot be kept")
            return False
        return True

    await to_the_end(held.settle(settle))


@dataclass(slots=True)
class _Taking:
    store: ChatStore
    workspace: Workspace
    redaction: Redaction
    command: LeftCommand
    changed: list[str] = field(default_factory=list[str])
    unsure: list[str] = field(default_factory=list[str])
    lost: list[str] = field(default_factory=list[str])
    gone: dict[int, str | None] = field(default_factory=dict[int, "str | None"])
    """By their stamps, the digests of the files that are not where they were."""
    unseen: str = ""

    async def take(self, known: set[tuple[str, str, str | None]]) -> None:
        """Keep every file that is different; `known` was kept already, by the command's own server or another one."""
        for left in self.command.files:
            shown = left.file.place.shown
            change = await self._change(left)
            if change is None:
                continue
            if change.after is None and left.file.stamp is not None:
                self.gone[left.file.stamp] = left.file.digest
            kept = (change.call_id, change.uri, change.before) in known
            (self.unsure if change.state == "unknown" and not kept else self.changed).append(shown)
            if not kept:
                await self.store.plan_change(self.command.chat_id, change)

    async def take_others(self, survey: Survey, known: Collection[str]) -> None:
        """Keep where files were moved, and name what else was changed while the command ran: nothing was kept of it."""
        self.unseen = survey.stopped
        held = {left.file.place.shown for left in self.command.files} | {*known}
        moved = {name: self.gone[stamp] for stamp, name in survey.stamps.items() if stamp in self.gone}
        latest = self.command.alive + SLACK
        others = {name for name, at in survey.changed.items() if self.command.began - CLOCK <= at <= latest}
        for place in (await placed(self.workspace, sorted({*moved, *others} - held))).values():
            image = await self._image(place) if place.shown in moved else None
            if image is not None and await asyncio.to_thread(_digest, image) == moved[place.shown]:
                change = await asyncio.to_thread(self._journal.made, place, None, image)
                self.changed.append(place.shown)
            else:
                change = self._journal.noted(place, "lost", was=True, there=True)
                self.lost.append(place.shown)
            await self.store.plan_change(self.command.chat_id, change)

    async def _image(self, place: Located) -> FileImage | None:
        try:
            return await self.workspace.image(place, most=MAX_READ)
        except ToolFailure:
            return None

    @property
    def _journal(self) -> StoredJournal:
        return StoredJournal(
            store=self.store,
            workspace=self.workspace,
            chat_id=self.command.chat_id,
            turn_id=self.command.turn_id,
            call_id=self.command.call_id,
            redaction=self.redaction,
        )

    def notice(self) -> NoticeEvent | None:
        if not self.changed and not self.unsure and not self.lost:
            return None
        said = ["A command was running when codelaw stopped."]
        if self.changed:
            said.append(f"What it had changed can be undone with its turn: {some_names(self.changed)}.")
        if self.unsure:
            said.append(f"These were changed later, and an undo leaves them alone: {some_names(self.unsure)}.")
        if self.lost:
            said.append(f"Nothing was kept of these, so their change cannot be undone: {some_names(self.lost)}.")
        if self.unseen:
            said.append(f"What else it changed is not known: the workspace is too large ({self.unseen}).")
        return NoticeEvent("warning", "command_interrupted", " ".join(said))

    async def _change(self, left: LeftFile) -> KeptChange | None:
        place, digest = left.file.place, left.file.digest
        try:
            now = await self.workspace.image(place)
        except ToolFailure:
            now = None
            unreadable = True
        else:
            unreadable = False
            if (None if now is None else await asyncio.to_thread(_digest, now)) == digest:
                return None
        late = left.changed is not None and left.changed > self.command.alive + SLACK
        state: Literal["done", "unknown"] = "unknown" if late or unreadable or left.saved else "done"
        before, lost = await asyncio.to_thread(self._before, left)
        change = await asyncio.to_thread(self._journal.made, place, before, now, state)
        return replace(change, **lost)

    def _before(self, left: LeftFile) -> tuple[FileImage | None, dict[str, Any]]:
        """The file as it was, and what stands in its stead where that cannot be told."""
        if left.file.digest is None:
            return None, {}
        text = None if left.text is None else self.redaction.opened(left.text)
        if text is not None:
            return FileImage(text.encode("utf-8", "surrogateescape"), left.file.mode or 0o600), {}
        if left.text is None:
            return None, {"encoding": DAMAGED}
        # Its key is not known just now: it stays sealed until it is.
        return None, {
            "before": left.text.removeprefix(_BOM),
            "encoding": "utf-8",
            "bom": left.text.startswith(_BOM),
            "mode": left.file.mode,
        }


def _digest(image: FileImage) -> str:
    return hashlib.sha256(image.content).hexdigest()


def some_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
