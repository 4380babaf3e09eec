"""Requests about what turns did to files."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.agent.chat.reverting import checkpoint, restore, revert, undo_restore
from codelaw.agent.effects.undoing import moves, of_turns, opened, renamed, reviewed
from codelaw.domain.edits import (
    BINARY,
    LOST,
    UNKNOWN_TEXTS,
    CheckpointReport,
    RevertReport,
    ReviewedFile,
    TurnChange,
    by_turns,
)
from codelaw.domain.errors import Refusal

if TYPE_CHECKING:
    from codelaw.app.chats import OpenChats
    from codelaw.domain.safety.redaction import Redaction


@dataclass(frozen=True, slots=True)
class Files:
    """Files as turns found and left them: looked at, and put back."""

    opened: OpenChats
    redaction: Redaction

    async def revert(
        self,
        chat_id: str,
        turn_id: str,
        *,
        files: bool | None = None,
        messages: bool | None = None,
        uris: Collection[str] | None = None,
    ) -> RevertReport:
        """Undo what a turn did to files, or to those of them in `uris`; with `messages` let the model forget it (E-2).

        Without a word `files` are meant and `messages` are not. Cancelling stops after the file at hand; a second
        revert goes on from there.

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`, `chat_busy`; `nothing_to_undo`.
        """
        only = None if uris is None else frozenset(uris)
        agent = await self.opened.get(chat_id)
        return await revert(agent, turn_id, files=files is not False, messages=messages or False, only=only)

    async def checkpoint(self, chat_id: str, turn_id: str) -> CheckpointReport:
        """What a restore of the files as they were before that turn would do, and what of others' work it would lose.

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`.
        """
        return await checkpoint(await self.opened.get(chat_id), turn_id)

    async def restore_files(self, chat_id: str, turn_id: str, overwrite: Collection[str] = ()) -> CheckpointReport:
        """Put the files back as they were before that turn; others' work is lost in those of `overwrite` alone (E-2).

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`, `chat_busy`; `nothing_to_undo`.
        """
        return await restore(await self.opened.get(chat_id), turn_id, overwrite)

    async def undo_restore(self, chat_id: str, turn_id: str) -> CheckpointReport:
        """Take that restore back.

        Raises:
            Refusal: as `restore_files`.
        """
        return await undo_restore(await self.opened.get(chat_id), turn_id)

    async def before(self, chat_id: str, turn_id: str, path: str) -> str | None:
        """The text of a file, `path` as shown, before the turn changed it; None: there was no file (E-4).

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`; `nothing_to_undo` when the turn did not change it, or it is
                no text.
        """
        changes = by_turns(await (await self.opened.store()).changes(chat_id, turn_id))
        first = next((change for change in changes if change.path == path), None)
        first = None if first is None else opened(first, self.redaction)
        if first is None:
            raise Refusal("nothing_to_undo", f"This turn did not change {path}.", "See the turn's list of changes.")
        if first.encoding in UNKNOWN_TEXTS:
            what = {BINARY: "a binary file", LOST: "not kept"}.get(first.encoding, "damaged in the store")
            raise Refusal("nothing_to_undo", f"What {path} was before this turn cannot be shown: it is {what}.", "")
        if first.before is None:
            return None
        return self.redaction.text(first.before).encode("utf-8", "replace").decode()

    async def changed_files(self, chat_id: str, turn_id: str) -> Sequence[str]:
        """The files that a turn changed, as shown, in the order of their first change (E-4).

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`.
        """
        changes = by_turns(await (await self.opened.store()).changes(chat_id, turn_id))
        return list(dict.fromkeys(change.path for change in changes))

    async def changes(self, chat_id: str) -> Sequence[TurnChange]:
        """What the turns of a chat did to files and nobody has undone, in the order in which it was done (E-1).

        Raises:
            Refusal: `chat_not_found`.
        """
        store = await self.opened.store()
        found = await asyncio.to_thread(of_turns, by_turns(await store.changes_of_chat(chat_id)))
        wanted = moves(found)
        if not wanted:
            return found
        kept = {change.number: change for change in await store.changes(chat_id, numbers=wanted)}
        return await asyncio.to_thread(renamed, found, kept)

    async def reviewed(self, chat_id: str, uri: str, above: int | None = None) -> ReviewedFile:
        """A file before and after what this chat did to it, as far as its changes have numbers above `above` (E-1).

        Raises:
            Refusal: `chat_not_found`; `nothing_to_undo` where it did nothing.
        """
        found = by_turns(await (await self.opened.store()).changes(chat_id, of_file=(uri, above or 0)))
        if not found:
            raise Refusal(
                "nothing_to_undo", "This chat has changed nothing in that file.", "Look at its changes again."
            )
        changes = [opened(change, self.redaction) for change in found]
        return await asyncio.to_thread(reviewed, changes, self.redaction)
