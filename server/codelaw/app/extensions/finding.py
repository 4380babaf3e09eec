"""Files below a folder: of the workspace, as its rules let it be seen, or of the user, who may link what there is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.texts import small_text
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.extensions import Sheet
from codelaw.settings.places import user_file
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.files import Located
    from codelaw.ports.workspace import Workspace

ENDING = ".md"
REPORTED = 5
"""Problems that one notice tells."""
DEEPEST = 3
"""Folders below a place."""


def own_folders(environment: Mapping[str, str], kind: str, *others: str) -> tuple[Path, ...]:
    """The user's own folders of a kind of extension: ours, and those of `others` below the home."""
    home = Path(environment.get("HOME", ""))
    theirs = [home / other / kind for other in others] if home.is_absolute() else []
    return (user_file(environment).parent / kind, *theirs)


def problem_notice(code: str, problems: Sequence[str], where: str = "") -> Notice | None:
    """What the user is told of extensions; None where nothing is wrong."""
    more = [f"And {len(problems) - REPORTED} more{where}."] if len(problems) > REPORTED else []
    return Notice("warning", code, " ".join([*problems[:REPORTED], *more])) if problems else None


async def markdown_files(
    workspace: Workspace, places: Iterable[tuple[str, str]], own: Iterable[Path], *, most: int, restricted: bool
) -> list[tuple[str, str, Sheet]]:
    """The files of one kind, each with its path below its folder and its ending; their sheets have no names yet.

    Those of the workspace come first, open documents that are not files yet among them, in the order of `places`, which
    have each an ending; in `restricted` mode there are none of them (S-7).
    """
    found: list[tuple[str, str, Sheet]] = []
    for folder in () if restricted else workspace.folders:
        prefix = f"{folder.name}/" if len(workspace.folders) > 1 else ""
        tops = await present(workspace, [f"{prefix}{place}" for place, _ in places])
        for place, ending in places:
            if (top := tops.get(f"{prefix}{place}")) is not None:
                files = await files_below(workspace, top, most=most) | opened_below(workspace, top)
                fitting = sorted((path, uri) for path, uri in files.items() if path.endswith(ending))[:most]
                shown = f"{prefix}{place}"
                found += [(path, ending, Sheet("", f"{shown}/{path}", uri, own=False)) for path, uri in fitting]
    for root in own:
        for path in await asyncio.to_thread(own_files_below, root, most=most, ending=ENDING):
            sheet = Sheet("", str(path), path.as_uri(), own=True)
            found.append((path.relative_to(root).as_posix(), ENDING, sheet))
    return found


async def text_of(workspace: Workspace, sheet: Sheet, most: int) -> str:
    """The text of such a file, of at most so many bytes where it is the user's own.

    Raises:
        ToolFailure: it cannot be read.
    """
    if not sheet.own:
        return await counting_text(workspace, sheet.shown)
    text = await asyncio.to_thread(small_text, Path(sheet.shown), most)
    if text is None:
        raise ToolFailure("NOT_FOUND", f"It is not a file, or larger than {most} bytes.")
    return text


async def counting_text(workspace: Workspace, path: str) -> str:
    """What counts of a file of the workspace (S-8).

    Raises:
        ToolFailure: it cannot be read; NOT_FOUND where a command has made it and the user has not seen it.
    """
    text = await workspace.obeyed.read(path)
    if text is None:
        raise ToolFailure("NOT_FOUND", f"A command has made {path}, and the user has not seen it yet.")
    return text.text


async def present(workspace: Workspace, places: Iterable[str]) -> dict[str, Located]:
    """Those of `places` that are folders, or will be once an open document is saved; most are missing."""
    opened = [buffer.path for buffer in workspace.buffers.all() if buffer.path is not None]

    def found() -> dict[str, Located]:
        tops: dict[str, Located] = {}
        for place in places:
            try:
                top = workspace.locate(place)
            except ToolFailure:
                continue  # it leads out of the workspace, or a rule denies it
            if top.path.is_dir() or any(top.path in path.parents for path in opened):
                tops[place] = top
        return tops

    return await asyncio.to_thread(found)


def opened_below(workspace: Workspace, top: Located) -> dict[str, str]:
    """Open documents below a folder, as paths there, with their addresses: some are not files yet."""
    return {
        buffer.path.relative_to(top.path).as_posix(): buffer.uri
        for buffer in workspace.buffers.all()
        if buffer.path is not None and top.path in buffer.path.parents
    }


async def files_below(workspace: Workspace, top: Located, *, most: int, within: Path | None = None) -> dict[str, str]:
    """At most `most` files below a folder, as paths there, with their addresses.

    Left out is what a rule denies, what lies outside the workspace, and what lies outside `within`, behind a link.
    """
    found: dict[str, str] = {}
    waiting = [(top, "", 0)]
    while waiting and len(found) < most:
        folder, prefix, depth = waiting.pop(0)
        try:
            entries = await workspace.entries(folder, hidden=False, ignored=True)
        except ToolFailure:
            continue
        for entry in sorted(entries, key=lambda entry: entry.name):
            try:
                place = await located(workspace, f"{folder.shown}/{entry.name}")
                kind = await workspace.exists(place)
            except ToolFailure:
                continue  # it leads out of the workspace, or a rule denies it
            if within is not None and within not in place.path.parents:
                continue
            if kind == "folder" and depth < DEEPEST and entry.kind == "folder":
                waiting.append((place, f"{prefix}{entry.name}/", depth + 1))
            elif kind == "file":
                found[f"{prefix}{entry.name}"] = place.uri
    return found


def own_files_below(root: Path, *, most: int, ending: str = "", inside: bool = False) -> list[Path]:
    """The files of a folder of the user's; with `inside` no link that leads out of it."""
    found: list[Path] = []
    within = Path(os.path.realpath(root)) if inside else None
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(folders) if len(here.relative_to(root).parts) < DEEPEST else []
        files = (here / name for name in sorted(names) if name.endswith(ending))
        found += [file for file in files if within is None or within in Path(os.path.realpath(file)).parents]
        if len(found) >= most:
            break
    return found[:most]
