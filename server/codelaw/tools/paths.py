"""Paths as tools take them (T-2)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Folder, Located
from codelaw.ports.workspace import Workspace

_QUOTES = "\"'`"
_LINE = re.compile(r":\d+(?:[:-]\d+)?$")
_PROTECTED = frozenset({".git", ".codelaw"})


async def located(workspace: Workspace, path: str) -> Located:
    """Where `path` lies; looks at symlinks, so off the event loop.

    Raises:
        ToolFailure: ACCESS_DENIED, INVALID_PARAM.
    """
    return await asyncio.to_thread(workspace.locate, path)


def misspelt(path: str) -> str:
    """Why a path cannot be meant as it is spelt; empty where it can."""
    plain = path.strip()
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in _QUOTES:
        return "leave out the quotes around it (a name that has them is written with `./` in front)."
    if plain == "~" or plain.startswith("~/"):
        return "`~` is not the home here; paths are relative to the workspace folder."
    if plain.startswith("file:/"):
        return "it is a URI; give the path relative to the workspace folder."
    return ""


def hint(path: str, folders: Sequence[Folder]) -> str:
    """What may be wrong with a path that leads to nothing; empty where nothing strikes."""
    plain = path.strip()
    if _LINE.search(plain):
        return "A line number is not part of a path."
    if "\\" in plain:
        return "Paths are written with `/`."
    if plain.startswith("/"):
        return "Paths are relative to the workspace folder, without `/` in front."
    if len(folders) == 1 and plain.split("/")[0] == folders[0].name:
        return f"Paths begin inside the workspace folder {folders[0].name}: leave its name out."
    return ""


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
    """Whether a place is a repository's `.git` or codelaw's own `.codelaw`, or inside one.

    File tools never write there: git obeys the one, and the other holds the rules the agent itself works under, which
    it must not loosen where the user trusts the folder (T-2, S-3).
    """
    return protected_folder(place) is not None


def protected_folder(place: Located) -> str | None:
    """The folder that keeps file tools from writing at `place`: `.git` or `.codelaw`, in any case; else None."""
    names = (part.casefold().rstrip(". ") for part in place.path.relative_to(place.folder.root).parts)
    return next((name for name in names if name in _PROTECTED), None)


def refuse_protected(place: Located) -> None:
    """Nothing, for a place that file tools may write.

    Raises:
        ToolFailure: ACCESS_DENIED in a folder that they never write.
    """
    if (folder := protected_folder(place)) is not None:
        raise ToolFailure("ACCESS_DENIED", f"{place.shown}: `{folder}` is not written by file tools.")
