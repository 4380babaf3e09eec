"""Paths as tools take them (T-2)."""

from __future__ import annotations

import asyncio

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Folder, Located
from codelaw.ports.workspace import Workspace


async def located(workspace: Workspace, path: str) -> Located:
    """Where `path` lies; looks at symlinks, so off the event loop.

    Raises:
        ToolFailure: ACCESS_DENIED, INVALID_PARAM.
    """
    return await asyncio.to_thread(workspace.locate, path)


async def starts(workspace: Workspace, path: str) -> list[Located]:
    """Where a search of `path` begins: every folder for `.`, else the one place, which must exist.

    Raises:
        ToolFailure: NOT_FOUND, ACCESS_DENIED, INVALID_PARAM.
    """
    if is_top(path) and len(workspace.folders) > 1:
        return [whole(folder) for folder in workspace.folders]
    start = await located(workspace, path)
    if await workspace.exists(start) is None:
        raise ToolFailure("NOT_FOUND", f"There is no {start.shown}.")
    return [start]


def is_top(path: str) -> bool:
    """Whether the path names the workspace as a whole."""
    return path.strip() in {"", ".", "./"}


def whole(folder: Folder) -> Located:
    """A whole workspace folder, among several."""
    return Located(folder.root, folder.name, folder.uri, folder)


def in_git_folder(place: Located) -> bool:
    """Whether a place is a repository's `.git`, or inside one; file tools never write there (T-2)."""
    return any(part.casefold() == ".git" for part in place.path.relative_to(place.folder.root).parts)
