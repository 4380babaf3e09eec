"""Requests about the index of the workspace's code, as the user makes them (X-5)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.app.ruling import visible
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.tools.paths import is_top, starts

if TYPE_CHECKING:
    from codelaw.adapters.code.index import WorkspaceIndex
    from codelaw.app.in_force import SettingsInForce
    from codelaw.ports.code import FoundPlaces, IndexState, PlaceKind
    from codelaw.ports.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Code:
    """The index: searched, looked at, made anew."""

    settings: SettingsInForce
    workspace: Workspace
    index: WorkspaceIndex

    async def search(
        self, query: str, *, path: str = ".", kind: PlaceKind = "any", limit: int = 10
    ) -> tuple[FoundPlaces, list[str]]:
        """The best places, and the uri of each.

        Raises:
            Refusal: `folder_not_found`: the path is none of the workspace's; `settings_unreadable`: nobody knows what
                may be read.
        """
        workspace = visible(self.workspace, await self.settings.now())
        try:
            below = () if is_top(path) else tuple(place.shown for place in await starts(workspace, path))
        except ToolFailure as failure:
            raise Refusal("folder_not_found", failure.message, "Name a file or folder of the workspace.") from failure
        found = await self.index.search(workspace, query, below=below, kind=kind, limit=limit)
        uris = await asyncio.to_thread(lambda: [workspace.locate(place.path).uri for place in found.places])
        return found, uris

    def state(self) -> IndexState:
        return self.index.state()

    async def rebuild(self) -> IndexState:
        """Throw the index away, and begin anew in the background; refuses as a search does."""
        await self.index.rebuild(visible(self.workspace, await self.settings.now()))
        return self.index.state()
