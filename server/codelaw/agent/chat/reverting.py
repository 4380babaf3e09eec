"""Undoing what a turn did to files, one after the other, and letting the model forget it (E-2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from codelaw.agent.chat.file_undo import FileUndo, placed
from codelaw.agent.effects.undoing import CannotUndo, opened
from codelaw.agent.recording.history import to_the_end
from codelaw.domain.edits import (
    FOLDER,
    KeptChange,
    RevertConflict,
    RevertReport,
    by_turns,
)
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.events import CompactionEvent, NoticeEvent

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat

NAMED = 10
"""Files named in the notice."""


async def revert(
    chat: AgentChat, turn_id: str, *, files: bool, messages: bool, only: frozenset[str] | None = None
) -> RevertReport:
    """Undo a turn, or what it did to the files whose uris are `only`.

    What was undone is known file by file, so that a second revert goes on where one was broken off.

    Raises:
        Refusal: `turn_not_found`; `chat_busy`: a turn, a compaction or a revert is running; `nothing_to_undo`.
    """
    store, redaction = chat.house.store, chat.house.redaction
    await store.changes(chat.chat.id, turn_id)
    async with alone(chat):
        everything = await store.changes(chat.chat.id, turn_id)
        kept = by_turns(everything)
        changes = [opened(change, redaction) for change in kept]
        wanted = [change for change in changes if files and (only is None or change.uri in only)]
        rest = any(change.state != "undone" for change in changes if only is not None and change.uri not in only)
        report = await _revert(chat, turn_id, wanted, messages=messages, rest=rest)
        if files and only is None:
            await undo_folders(chat, everything)
        return report


async def undo_folders(chat: AgentChat, changes: Sequence[KeptChange]) -> None:
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
        await chat.house.store.mark_undone(chat.chat.id, done)


@asynccontextmanager
async def alone(chat: AgentChat) -> AsyncGenerator[None]:
    """Keep turns, compactions and other reverts of all servers away from a chat.

    Raises:
        Refusal: `chat_busy`.
    """
    store = chat.house.store
    chat.claim()
    try:
        await _refuse_compaction(chat)
        try:
            await to_the_end(asyncio.ensure_future(store.begin_revert(chat.chat.id)))
            yield
        finally:
            await to_the_end(asyncio.ensure_future(store.end_revert(chat.chat.id)))
    finally:
        chat.release()


async def _refuse_compaction(chat: AgentChat) -> None:
    newest = await chat.house.store.last_compaction(chat.chat.id)
    elsewhere = False
    if newest is not None and isinstance(newest.event, CompactionEvent):
        by = newest.event.owner if newest.event.phase in {"started", "summarising"} else ""
        elsewhere = by not in {"", chat.house.store.owner} and await chat.house.store.is_alive(by)
    if elsewhere or chat.compacting.in_flight:
        raise Refusal("chat_busy", "A compaction is running in this chat.", "Wait for it, or cancel it.")


async def _revert(
    chat: AgentChat, turn_id: str, changes: Sequence[KeptChange], *, messages: bool, rest: bool
) -> RevertReport:
    left: dict[str, list[KeptChange]] = {}
    for change in changes:
        if change.state != "undone":
            left.setdefault(change.uri, []).append(change)
    forget = messages and turn_id not in chat.past.transcript.withdrawn
    if not left and not forget:
        raise Refusal(
            "nothing_to_undo", "There is nothing to undo in this turn.", "It changed no file, or all is undone."
        )
    if forget:
        await chat.past.withdraw(turn_id)
    done: list[KeptChange] = []
    """The first change of each file."""
    conflicts: list[RevertConflict] = []
    try:
        # The newest first, as if each were taken back in its turn.
        for group in sorted(left.values(), key=lambda one: -one[-1].number):
            try:
                if await FileUndo(chat.house.workspace, chat.house.store, chat.chat.id, group).undo():
                    done.append(group[0])
            except CannotUndo as why:
                conflicts.append(RevertConflict(group[0].path, group[0].uri, f"{group[0].path} {why}."))
            except ToolFailure as failure:
                conflicts.append(RevertConflict(group[0].path, group[0].uri, failure.message))
            if (task := asyncio.current_task()) is not None and task.cancelling():
                raise asyncio.CancelledError
    finally:
        # Also of a revert that breaks off, so that everybody knows how far it came.
        for notice in _notices(done, conflicts, forgotten=forget, rest=rest):
            chat.outbox.post(turn_id, notice)
    await chat.outbox.drain()
    return RevertReport(tuple(change.uri for change in done), tuple(conflicts))


def _notices(
    done: Sequence[KeptChange], conflicts: Sequence[RevertConflict], *, forgotten: bool, rest: bool
) -> Iterator[NoticeEvent]:
    """What is told of a revert.

    `reverted` when files are as they were, `files_reverted` when others that nobody asked for are not;
    `revert_conflict` when none is, `turn_withdrawn` out of the context.
    """
    told: list[str] = []
    if done:
        told.append(f"Undone in {names([change.path for change in done])}.")
    if conflicts:
        told.append("Left alone: " + " ".join(conflict.reason for conflict in conflicts[:NAMED]))
    if told:
        code = ("files_reverted" if rest else "reverted") if done else "revert_conflict"
        yield NoticeEvent("warning" if conflicts else "info", code, " ".join(told))
    if forgotten:
        yield NoticeEvent("info", "turn_withdrawn", "The model no longer sees this turn.")


def names(paths: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more
