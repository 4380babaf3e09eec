"""What the next commit would hold, for who is to write its message (E-3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.app.referring.commits import pending
from codelaw.app.ruling import unreadable, visible
from codelaw.domain.errors import Refusal, ToolFailure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codelaw.app.in_force import SettingsInForce
    from codelaw.domain.edits import PendingCommit
    from codelaw.ports.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Commits:
    """The repositories of the workspace."""

    settings: SettingsInForce
    workspace: Workspace
    environment: Mapping[str, str]

    async def pending(self, place: Path | None) -> PendingCommit:
        """What the next commit of the repository at `place` would hold; None: that of the first folder.

        Raises:
            Refusal: `not_trusted`, `folder_not_found`, `nothing_to_commit`, `settings_unreadable`.
        """
        if self.settings.restricted:
            message = "The editor does not trust this folder, so that git is not run."
            raise Refusal("not_trusted", message, "Trust the folder in the editor first.")
        settings = await self.settings.now()
        denied = unreadable(settings, self.workspace.folders)
        try:
            return await pending(place, visible(self.workspace, settings), denied, self.environment)
        except ToolFailure as failure:
            raise Refusal("nothing_to_commit", failure.message, "Try it again.") from failure
