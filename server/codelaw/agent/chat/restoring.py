"""The files as they were before a turn began: looked at, restored, and that undone again (E-2).

A restore takes back what that turn and all turns behind it did. It is kept as changes of its own, so that it can be
undone, and the turns' changes stand again then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.chat.file_undo import FileUndo
from codelaw.agent.chat.reverting import alone, names, undo_folders
from codelaw.agent.effects.journal import StoredJournal
from codelaw.agent.effects.undoing import CannotUndo, opened
from codelaw.domain.edits import RESTORED, CheckpointFile, CheckpointReport, KeptChange, RevertConflict, by_turns
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.events import NoticeEvent

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat


async def checkpoint(chat: AgentChat, turn_id: str) -> CheckpointReport:
    """What a restore would do; touches nothing.

    Raises:
        Refusal: `turn_not_found`.
    """
    kept = await chat.house.store.changes_since(chat.chat.id, turn_id)
    found = [await file.look() for file in _files(chat, by_turns(kept))]
    undoable = any(change.turn_id == turn_id for change in _restores(kept))
    return CheckpointReport(tuple(one for one in found if one is not None), undoable=undoable)


async def restore(chat: AgentChat, turn_id: str, overwrite: Collection[str]) -> CheckpointReport:
    """Put the files back; what others did since stays, or the file is left alone, unless its URI is in `overwrite`.

    Cancelled, it stops after the file at hand; a second one goes on from there.

    Raises:
        Refusal: `turn_not_found`, `chat_busy`; `nothing_to_undo`: the files are as they were.
    """
    store = chat.house.store
    async with alone(chat):
        done = _Done()
        kept = await store.changes_since(chat.chat.id, turn_id)
        for file in _files(chat, by_turns(kept)):
            found = await file.look()
            if found is None:
                continue
            done.files.append(found)
            file.journal = _journal(chat, turn_id, file.changes)
            if found.lost is None or found.uri in overwrite:
                await done.take(file, found, by_force=found.lost is not None)
            else:
                done.conflicts.append(RevertConflict(found.path, found.uri, found.lost))
        if not done.files:
            raise Refusal("nothing_to_undo", "The files are as they were before this turn.", "")
        await undo_folders(chat, kept)
        return await done.told(chat, turn_id, "restored", "As they were before this message")


async def undo_restore(chat: AgentChat, turn_id: str) -> CheckpointReport:
    """Take the restore of a turn's files back, over what was done since.

    Raises:
        Refusal: `turn_not_found`, `chat_busy`; `nothing_to_undo`: there is none, or the files are as before it.
    """
    store = chat.house.store
    async with alone(chat):
        rows = _restores(await store.changes(chat.chat.id, turn_id))
        if not rows:
            raise Refusal("nothing_to_undo", "The files of this turn were not restored.", "")
        done = _Done()
        for row in reversed(rows):
            file = _undo(chat, [row])
            file.again = tuple(int(number) for number in row.call_id.removeprefix(RESTORED).split(",") if number)
            found = await file.look()
            if found is None:
                await file.mark()  # somebody else put it back, or a server that died before it could say so
                continue
            done.files.append(found)
            if found.lost is None:
                await done.take(file, found, by_force=False)
            else:
                done.conflicts.append(RevertConflict(found.path, found.uri, found.lost))
        if not done.files:
            raise Refusal("nothing_to_undo", "The files are as they were before the restore.", "")
        return await done.told(chat, turn_id, "restore_undone", "As they were before the restore")


@dataclass(slots=True)
class _Done:
    files: list[CheckpointFile] = field(default_factory=list[CheckpointFile])
    paths: list[str] = field(default_factory=list[str])
    uris: list[str] = field(default_factory=list[str])
    conflicts: list[RevertConflict] = field(default_factory=list[RevertConflict])

    async def take(self, file: FileUndo, found: CheckpointFile, *, by_force: bool) -> None:
        """Do it to one file."""
        try:
            await (file.put_back() if by_force else file.undo())
        except CannotUndo as why:
            self.conflicts.append(RevertConflict(found.path, found.uri, f"{found.path} {why}."))
        except ToolFailure as failure:
            self.conflicts.append(RevertConflict(found.path, found.uri, failure.message))
        else:
            self.paths.append(found.path)
            self.uris.append(found.uri)
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError

    async def told(self, chat: AgentChat, turn_id: str, code: str, what: str) -> CheckpointReport:
        """The report, which the clients are told too."""
        said = [f"{what}: {names(self.paths)}."] if self.paths else []
        if self.conflicts:
            said.append("Left alone: " + " ".join(conflict.reason for conflict in self.conflicts[:10]))
        chat.outbox.post(turn_id, NoticeEvent("warning" if self.conflicts else "info", code, " ".join(said)))
        await chat.outbox.drain()
        undoable = code == "restored" and bool(self.paths)
        return CheckpointReport(tuple(self.files), tuple(self.uris), tuple(self.conflicts), undoable)


def _files(chat: AgentChat, kept: Sequence[KeptChange]) -> list[FileUndo]:
    """The files that are not undone, those that were changed last first, as if each change were taken back in turn."""
    left: dict[str, list[KeptChange]] = {}
    for change in kept:
        if change.state != "undone":
            left.setdefault(change.uri, []).append(change)
    return [_undo(chat, changes) for changes in sorted(left.values(), key=lambda one: -one[-1].number)]


def _undo(chat: AgentChat, changes: Sequence[KeptChange]) -> FileUndo:
    house = chat.house
    return FileUndo(house.workspace, house.store, chat.chat.id, [opened(one, house.redaction) for one in changes])


def _restores(kept: Sequence[KeptChange]) -> list[KeptChange]:
    return [one for one in kept if one.call_id.startswith(RESTORED) and one.state in {"planned", "done"}]


def _journal(chat: AgentChat, turn_id: str, changes: Sequence[KeptChange]) -> StoredJournal:
    house = chat.house
    taken_back = ",".join(str(change.number) for change in changes)
    return StoredJournal(
        store=house.store,
        workspace=house.workspace,
        chat_id=chat.chat.id,
        turn_id=turn_id,
        call_id=f"{RESTORED}{taken_back}",
        redaction=house.redaction,
    )
