"""Requests about what turns did to files."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.agent.chat.reverting import revert
from codelaw.agent.effects.sealing import opened
from codelaw.app.core import Core
from codelaw.domain.edits import BINARY, DAMAGED, RevertReport
from codelaw.domain.errors import Refusal


class RevertRequests(Core):
    """Turns: undone, and looked at as they found the files."""

    async def revert(self, chat_id: str, turn_id: str, *, files: bool = True, messages: bool = False) -> RevertReport:
        """Undo what a turn did to files, and with `messages` let the model forget it (E-2).

        Cancelling stops after the file at hand; a second revert goes on from there.

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`, `chat_busy`; `nothing_to_undo`.
        """
        return await revert(await self._chats.get(chat_id), turn_id, files=files, messages=messages)

    async def before(self, chat_id: str, turn_id: str, path: str) -> str | None:
        """The text of a file, `path` as shown, before the turn changed it; None: there was no file (E-4).

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`; `nothing_to_undo` when the turn did not change it, or it is
                no text.
        """
        changes = await (await self._chats.store()).changes(chat_id, turn_id)
        first = next((change for change in changes if change.path == path), None)
        first = None if first is None else opened(first, self._redaction)
        if first is None:
            raise Refusal("nothing_to_undo", f"This turn did not change {path}.", "See the turn's list of changes.")
        if first.encoding in {BINARY, DAMAGED}:
            what = "a binary file" if first.encoding == BINARY else "damaged in the store"
            raise Refusal("nothing_to_undo", f"What {path} was before this turn cannot be shown: it is {what}.", "")
        if first.before is None:
            return None
        return self._redaction.text(first.before).encode("utf-8", "replace").decode()

    async def changed_files(self, chat_id: str, turn_id: str) -> Sequence[str]:
        """The files that a turn changed, as shown, in the order of their first change (E-4).

        Raises:
            Refusal: `chat_not_found`, `turn_not_found`.
        """
        changes = await (await self._chats.store()).changes(chat_id, turn_id)
        return list(dict.fromkeys(change.path for change in changes))
