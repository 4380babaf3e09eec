"""Undoing what a turn did to files and letting the model forget it; the files as they were before a turn (E-2).

A restore takes back what that turn and all turns behind it did. It is kept as changes of its own, so that it can be
undone, and the turns' changes stand again then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.chat.file_undo import FileUndo, placed
from codelaw.agent.effects.interrupted import NAMED, some_names
from codelaw.agent.effects.journal import StoredJournal
from codelaw.agent.effects.undoing import CannotUndo, opened
from codelaw.domain.edits import (
    FOLDER,
    RESTORED,
    CheckpointFile,
    CheckpointReport,
    KeptChange,
    RevertConflict,
    RevertReport,
    by_turns,
)
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.events import CompactionEvent, NoticeEvent
from codelaw.ports.cancelling import to_the_end

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat


async def revert(
    chat: AgentChat, turn_id: str, *, files: bool, messages: bool, only: frozenset[str] | None = None
) -> RevertReport:
    """Undo a turn, or what it did to the files whose uris are `only`.

    What was undone is known file by file, so that a second revert goes on where one was broken off.

    Raises:
        Refusal: `turn_not_found`; `chat_busy`: a turn, a compaction or a revert is running; `nothing_to_undo`.
    """
    store = chat.house.store
    await store.changes(chat.chat.id, turn_id)
    async with _alone(chat):
        everything = await store.changes(chat.chat.id, turn_id)
        kept = by_turns(everything)
        wanted = [change for change in kept if files and (only is None or change.uri in only)]
        rest = any(change.state != "undone" for change in kept if only is not None and change.uri not in only)
        report = await _revert(chat, turn_id, _files(chat, wanted), messages=messages, rest=rest)
        if files and only is None:
            await _undo_folders(chat, everything)
        return report


async def checkpoint(chat: AgentChat, turn_id: str) -> CheckpointReport:
    """What a restore would do; touches nothing.

    Raises:
        Refusal: `turn_not_found`.
    """
    kept = await chat.house.store.changes(chat.chat.id, turn_id, since=True)
    found = [await file.look() for file in _files(chat, by_turns(kept))]
    undoable = any(change.turn_id == turn_id for change in _restores(kept))
    return CheckpointReport(tuple(one for one in found if one is not None), undoable=undoable)


async def restore(chat: AgentChat, turn_id: str, overwrite: Collection[str]) -> CheckpointReport:
    """Put the files back; what others did since stays, or the file is left alone, unless its URI is in `overwrite`.

    Cancelled, it stops after the file at hand; a second one goes on from there.

    Raises:
        Refusal: `turn_not_found`, `chat_busy`; `nothing_to_undo`: the files are as they were.
    """
    async with _alone(chat):
        done = _Done(chat, turn_id)
        kept = await chat.house.store.changes(chat.chat.id, turn_id, since=True)
        for file in _files(chat, by_turns(kept)):
            if (found := await file.look()) is not None:
                file.journal = _journal(chat, turn_id, file.changes)
                await done.take(file, found, overwrite)
        if not done.files:
            raise Refusal("nothing_to_undo", "The files are as they were before this turn.", "")
        await _undo_folders(chat, kept)
        return await done.reported("restored", "As they were before this message")


async def undo_restore(chat: AgentChat, turn_id: str) -> CheckpointReport:
    """Take the restore of a turn's files back, over what was done since.

    Raises:
        Refusal: `turn_not_found`, `chat_busy`; `nothing_to_undo`: there is none, or the files are as before it.
    """
    async with _alone(chat):
        rows = _restores(await chat.house.store.changes(chat.chat.id, turn_id))
        if not rows:
            raise Refusal("nothing_to_undo", "The files of this turn were not restored.", "")
        done = _Done(chat, turn_id)
        for row in reversed(rows):
            file = _undo(chat, [row])
            file.again = tuple(int(number) for number in row.call_id.removeprefix(RESTORED).split(",") if number)
            if (found := await file.look()) is None:
                await file.mark()  # somebody else put it back, or a server that died before it could say so
            else:
                await done.take(file, found)
        if not done.files:
            raise Refusal("nothing_to_undo", "The files are as they were before the restore.", "")
        return await done.reported("restore_undone", "As they were before the restore")


@dataclass(slots=True)
class _Done:
    """What has come of the files by now."""

    chat: AgentChat
    turn_id: str
    files: list[CheckpointFile] = field(default_factory=list[CheckpointFile])
    undone: list[KeptChange] = field(default_factory=list[KeptChange])
    """The first change of each file that was."""
    conflicts: list[RevertConflict] = field(default_factory=list[RevertConflict])

    async def undo(self, file: FileUndo, *, by_force: bool = False) -> None:
        """Do it to one file; a cancel is raised after it."""
        first = file.changes[0]
        try:
            if await (file.put_back() if by_force else file.undo()) or self.files:
                self.undone.append(first)
        except CannotUndo as why:
            self.conflicts.append(RevertConflict(first.path, first.uri, f"{first.path} {why}."))
        except ToolFailure as failure:
            self.conflicts.append(RevertConflict(first.path, first.uri, failure.message))
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise asyncio.CancelledError

    async def take(self, file: FileUndo, found: CheckpointFile, overwrite: Collection[str] = ()) -> None:
        """The same as a checkpoint wants it: not over the work of others, but of the URIs in `overwrite`."""
        self.files.append(found)
        if found.lost is None or found.uri in overwrite:
            await self.undo(file, by_force=found.lost is not None)
        else:
            self.conflicts.append(RevertConflict(found.path, found.uri, found.lost))

    def words(self, what: str) -> str:
        """What is said of the files, `what` of those that were undone."""
        paths = [change.path for change in self.undone]
        said = [f"{what} {some_names(paths)}."] if paths else []
        if self.conflicts:
            said.append("Left alone: " + " ".join(conflict.reason for conflict in self.conflicts[:NAMED]))
        return " ".join(said)

    async def reported(self, code: str, what: str) -> CheckpointReport:
        """The report, which the clients are sent too."""
        level = "warning" if self.conflicts else "info"
        self.chat.outbox.post(self.turn_id, NoticeEvent(level, code, self.words(f"{what}:")))
        await self.chat.outbox.drain()
        uris = tuple(change.uri for change in self.undone)
        undoable = code == "restored" and bool(uris)
        return CheckpointReport(tuple(self.files), uris, tuple(self.conflicts), undoable)

    def notices(self, *, forgotten: bool, rest: bool) -> Iterator[NoticeEvent]:
        """What is sent of a revert.

        `reverted` when files are as they were, `files_reverted` when others that nobody asked for are not;
        `revert_conflict` when none is, `turn_withdrawn` out of the context.
        """
        if said := self.words("Undone in"):
            code = ("files_reverted" if rest else "reverted") if self.undone else "revert_conflict"
            yield NoticeEvent("warning" if self.conflicts else "info", code, said)
        if forgotten:
            yield NoticeEvent("info", "turn_withdrawn", "The model no longer sees this turn.")


@asynccontextmanager
async def _alone(chat: AgentChat) -> AsyncGenerator[None]:
    """Keep turns, compactions and other reverts of all servers away from a chat.

    Raises:
        Refusal: `chat_busy`.
    """
    store = chat.house.store
    chat.claim()
    try:
        await _refuse_compaction(chat)
        try:
            await to_the_end(store.begin_revert(chat.chat.id))
            yield
        finally:
            await to_the_end(store.end_revert(chat.chat.id))
    finally:
        chat.release()


async def _refuse_compaction(chat: AgentChat) -> None:
    store, elsewhere = chat.house.store, False
    newest = await store.last_compaction(chat.chat.id)
    if newest is not None and isinstance(newest.event, CompactionEvent):
        by = newest.event.owner if newest.event.phase in {"started", "summarising"} else ""
        elsewhere = by not in {"", store.owner} and await store.is_alive(by)
    if elsewhere or chat.compacting.in_flight:
        raise Refusal("chat_busy", "A compaction is running in this chat.", "Wait for it, or cancel it.")


async def _revert(
    chat: AgentChat, turn_id: str, files: Sequence[FileUndo], *, messages: bool, rest: bool
) -> RevertReport:
    forget = messages and turn_id not in chat.past.transcript.withdrawn
    if not files and not forget:
        raise Refusal(
            "nothing_to_undo", "There is nothing to undo in this turn.", "It changed no file, or all is undone."
        )
    if forget:
        await chat.past.withdraw(turn_id)
    done = _Done(chat, turn_id)
    try:
        for file in files:
            await done.undo(file)
    finally:
        # Also of a revert that breaks off, so that everybody knows how far it came.
        for notice in done.notices(forgotten=forget, rest=rest):
            chat.outbox.post(turn_id, notice)
    await chat.outbox.drain()
    return RevertReport(tuple(change.uri for change in done.undone), tuple(done.conflicts))


async def _undo_folders(chat: AgentChat, changes: Sequence[KeptChange]) -> None:
    """Remove folders that commands made and that are empty by now, and make those that they removed."""
    rows = [one for one in changes if one.encoding == FOLDER and one.state != "undone"]
    done: list[int] = []
    for row in reversed(rows):
        try:
            place = await placed(chat.house.workspace, row.uri)
            if await chat.house.workspace.put_folder(place, there=row.after is None):
                done.append(row.number)
        except (CannotUndo, ToolFailure):
            continue  # it is empty, or in use: nothing of it is lost
    if done:
        await chat.house.store.mark_changes(chat.chat.id, done, "undone")


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
