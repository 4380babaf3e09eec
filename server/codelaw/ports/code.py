"""The index of the workspace's code and documentation (X-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codelaw.domain.places import FileOutline, FoundPlaces, IndexState, PlaceKind
from codelaw.ports.workspace import Workspace


class CodeIndex(Protocol):
    """Knows what `workspace` shows, no more: what a rule withholds from it is neither found nor counted (S-1)."""

    async def search(
        self, workspace: Workspace, query: str, *, below: Sequence[str] = (), kind: PlaceKind = "any", limit: int = 10
    ) -> FoundPlaces:
        """The places that answer best. The files as they are now are looked at first, open documents as they stand.

        An index that takes long to build answers from what it has, and its state says so. `below` are files or folders
        as shown.
        """
        ...

    async def outline(self, workspace: Workspace, below: Sequence[str], limit: int) -> tuple[list[FileOutline], int]:
        """The symbols of at most `limit` files below these paths, and how many such files there are.

        Those come first that others use most. A single file is read even where the index leaves it out.

        Raises:
            ToolFailure: the single file cannot be read.
        """
        ...

    def state(self) -> IndexState: ...

    async def rebuild(self, workspace: Workspace) -> None:
        """Throw away what is kept, and begin anew in the background."""
        ...
