"""What the next commit would hold, for who is to write its message (E-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.app.core import Core
from codelaw.app.referring.commits import pending
from codelaw.app.ruling import unreadable, visible
from codelaw.domain.errors import Refusal, ToolFailure

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.domain.edits import PendingCommit


class CommitRequests(Core):
    """The repositories of the workspace."""

    async def pending_commit(self, place: Path | None) -> PendingCommit:
        """What the next commit of the repository at `place` would hold; None: that of the first folder.

        Raises:
            Refusal: `not_trusted`, `folder_not_found`, `nothing_to_commit`, `settings_unreadable`.
        """
        if self._restricted:
            message = "The editor does not trust this folder, so that git is not run."
            raise Refusal("not_trusted", message, "Trust the folder in the editor first.")
        settings = await self._settings_now()
        denied = unreadable(settings, self._workspace.folders)
        try:
            return await pending(place, visible(self._workspace, settings), denied, self._environment)
        except ToolFailure as failure:
            raise Refusal("nothing_to_commit", failure.message, "Try it again.") from failure
