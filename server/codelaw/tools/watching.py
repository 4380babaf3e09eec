"""What has become of the files of a workspace while a command ran, beyond those that it names (E-2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileImage, Located, MadeChange, Survey
from codelaw.ports.workspace import Workspace
from codelaw.tools.paths import in_git_folder

MAX_VISITS = 20_000
"""Files and folders of a workspace up to which it is looked at."""
MAX_SECONDS = 0.5
AGAIN_SECONDS = 600.0
"""After which it is tried again with a workspace that was too much."""
MAX_MADE = 500
"""Files that one command made or moved up to which they are kept."""
MAX_LOST = 500
"""Likewise those of which nothing was kept, each by its name."""
MAX_NAMED = 1_000_000
"""Bytes of a file that a command names, or has made."""
MAX_READ = 10_000_000
"""Bytes of a file that the chat has read, or that a command has moved."""
MAX_TOTAL = 20_000_000
"""Bytes of all files together, kept in memory while the command runs (S-6)."""
CLOCK = 0.02
"""Seconds by which a file's time may be behind the clock."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A file of which nothing was kept before a command changed it."""

    place: Located
    gone: bool = False
    moved_from: str | None = None
    """As shown; then its content is there, and too large to be kept."""

    def reported(self) -> str:
        """Its name and what became of it, for people."""
        if self.moved_from is not None:
            return f"{self.place.shown} (moved from {self.moved_from})"
        return f"{self.place.shown} (removed)" if self.gone else self.place.shown


@dataclass(slots=True)
class Effects:
    """What a command did."""

    made: list[MadeChange] = field(default_factory=list[MadeChange])
    """What can be undone."""
    lost: list[Lost] = field(default_factory=list[Lost])
    more: int = 0
    """Files like those of `lost`, beyond them."""
    made_folders: list[Located] = field(default_factory=list[Located])
    """Parents first."""
    gone_folders: list[Located] = field(default_factory=list[Located])


@dataclass(frozen=True, slots=True)
class WorkspaceBefore:
    """The workspace before a command."""

    survey: Survey
    began: float
    """Seconds since the epoch."""
    saves: dict[Path, int]
    """How often the editor had saved each open document."""


@dataclass(slots=True)
class TreeWatch:
    """Looks at the workspace of one chat before and after its commands; a second look costs a system call a file."""

    _last: Survey | None = None
    _next: float = 0.0
    """When it is looked at again, by the monotonic clock."""
    _reported: bool = False

    async def before(self, workspace: Workspace) -> WorkspaceBefore | Notice | None:
        """The workspace as it is, at most `MAX_VISITS` files; a notice, once, where it is too much, and then None."""
        if time.monotonic() < self._next:
            return None
        found = await self._look(workspace, self._last)
        if found.stopped:
            self._next = time.monotonic() + AGAIN_SECONDS
            reported, self._reported = self._reported, True
            return None if reported else Notice("info", "undo_unwatched", _unwatched(found.stopped))
        buffers = workspace.buffers
        saves = {one.path: buffers.saves(one.path) for one in buffers.all() if one.path is not None}
        return WorkspaceBefore(found, time.time(), saves)

    async def since(self, before: WorkspaceBefore, workspace: Workspace, known: Collection[str]) -> Effects | Notice:
        """What has changed besides the files `known`, by their names as shown; a notice where that cannot be told."""
        now = await self._look(workspace, before.survey)
        if now.stopped:
            return Notice("warning", "undo_unwatched", _unwatched(now.stopped))
        return await _effects(before, now, workspace, known)

    async def _look(self, workspace: Workspace, since: Survey | None) -> Survey:
        found = await workspace.survey(since, max_visits=MAX_VISITS, seconds=MAX_SECONDS, exact=True)
        self._last = None if found.stopped else found
        return found


def _unwatched(stopped: str) -> str:
    return (
        f"The workspace is too large to be looked at around commands ({stopped}): of what they change, the undo knows"
        " only the files that the chat has read or the command names, and says nothing of others."
    )


async def _effects(before: WorkspaceBefore, now: Survey, workspace: Workspace, known: Collection[str]) -> Effects:
    found = Effects()
    new = {name: source for name, source in now.made.items() if name not in known or source not in {*known, None}}
    kept = await placed(workspace, [*new, *(source for source in new.values() if source is not None)])
    made = [place for name in new if (place := kept.get(name)) and not _saved(place, before, workspace)]
    for place, image in await _images(workspace, made[:MAX_MADE], new):
        source = new[place.shown]
        if image is None or isinstance(image, ToolFailure):
            found.lost.append(Lost(place, moved_from=source))
            continue
        if place.shown not in known:
            found.made.append(MadeChange(place, None, image))
        if source is not None and source in kept and source not in known:
            found.made.append(MadeChange(kept[source], image, None))
    done = {change.place.shown for change in found.made}
    # A time that is older is that of a file which could only not be seen before.
    changed = [name for name, at in now.changed.items() if at >= before.began - CLOCK]
    rest = [name for name in [*now.gone, *changed, *(place.shown for place in made[MAX_MADE:])] if name not in known]
    places = await placed(workspace, (name for name in rest if name not in done))
    gone = await workspace.stamps([*places.values()])
    for place, stamp in zip(places.values(), gone, strict=True):
        hidden = place.shown in now.gone and stamp is not None
        if not hidden and not _saved(place, before, workspace):
            found.lost.append(Lost(place, gone=stamp is None))
    found.more, found.lost = max(0, len(found.lost) - MAX_LOST), found.lost[:MAX_LOST]
    if now.made or now.gone:
        found.made_folders = [*(await placed(workspace, now.made_folders)).values()]
        found.gone_folders = [*(await placed(workspace, now.gone_folders)).values()]
    return found


async def _images(
    workspace: Workspace, places: Sequence[Located], sources: Mapping[str, str | None]
) -> list[tuple[Located, FileImage | ToolFailure | None]]:
    """The files as they are; a failure for one that is too large."""
    found: list[tuple[Located, FileImage | ToolFailure | None]] = []
    for most, moved in ((MAX_READ, True), (MAX_NAMED, False)):
        wanted = [place for place in places if (sources[place.shown] is not None) is moved]
        room = MAX_TOTAL - sum(len(image.content) for _, image in found if isinstance(image, FileImage))
        found += zip(wanted, await workspace.images(wanted, most=most, total=room), strict=True)
    return found


def _saved(place: Located, before: WorkspaceBefore, workspace: Workspace) -> bool:
    """Whether a person has saved it meanwhile: then it is not the command's to undo."""
    saves = workspace.buffers.saves(place.path)
    if place.path in before.saves:
        return saves != before.saves[place.path]
    return saves > 0 and workspace.buffers.at(place.path) is not None


async def placed(workspace: Workspace, names: Iterable[str]) -> dict[str, Located]:
    """Where files lie, by their names as shown; those that no tool may change are left out."""

    def found_now() -> dict[str, Located]:
        found: dict[str, Located] = {}
        for name in names:
            try:
                place = workspace.locate(name)
            except ToolFailure:
                continue
            if place.shown == name and not in_git_folder(place):
                found[name] = place
        return found

    return await asyncio.to_thread(found_now)
