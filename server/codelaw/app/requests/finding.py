"""Requests about the index of the workspace's code (X-5), and about what the next commit would hold (E-3)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.app.referring.history import pending
from codelaw.app.ruling import unreadable, visible
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.tools.paths import is_top, starts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from codelaw.adapters.code.index import WorkspaceIndex
    from codelaw.app.in_force import SettingsInForce
    from codelaw.domain.edits import PendingCommit
    from codelaw.ports.code import FoundPlaces, IndexState, PlaceKind
    from codelaw.ports.workspace import Workspace

FOUND = 10
"""Places where no limit is named."""


@dataclass(frozen=True, slots=True)
class Repositories:
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


@dataclass(frozen=True, slots=True)
class Code:
    """The index: searched, looked at, made anew."""

    settings: SettingsInForce
    workspace: Workspace
    index: WorkspaceIndex

    async def search(
        self, query: str, *, path: str | None = None, kind: PlaceKind | None = None, limit: int | None = None
    ) -> tuple[FoundPlaces, list[str]]:
        """The best places, and the uri of each.

        Raises:
            Refusal: `folder_not_found`: the path is none of the workspace's; `settings_unreadable`: nobody knows what
                may be read.
        """
        workspace = visible(self.workspace, await self.settings.now())
        try:
            below = () if is_top(path or ".") else tuple(place.shown for place in await starts(workspace, path or "."))
        except ToolFailure as failure:
            raise Refusal("folder_not_found", failure.message, "Name a file or folder of the workspace.") from failure
        found = await self.index.search(workspace, query, below=below, kind=kind or "any", limit=limit or FOUND)
        uris = await asyncio.to_thread(lambda: [workspace.locate(place.path).uri for place in found.places])
        return found, uris

    def state(self) -> IndexState:
        return self.index.state()

    async def rebuild(self) -> IndexState:
        """Throw the index away, and begin anew in the background; refuses as a search does."""
        await self.index.rebuild(visible(self.workspace, await self.settings.now()))
        return self.index.state()
