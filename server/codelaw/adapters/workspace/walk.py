"""What lies in a folder, and going through the files below it within bounds (T-2, T-3, S-6)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, Entry, Folder, Located, Stamp


@dataclass(slots=True)
class WalkBudget:
    """How far a walk may go; `stopped` says why it ended early."""

    visits: int
    seconds: float
    stopped: str = ""
    _deadline: float = field(init=False)
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.seconds
        self._left = self.visits

    def spend(self) -> bool:
        """Count one visit; False when there is nothing left."""
        self._left -= 1
        if self._left < 0:
            self.stopped = f"stopped after {self.visits} entries"
        elif self._left % 64 == 0:
            self.late()
        return not self.stopped

    def late(self) -> bool:
        """Whether the time is over."""
        if time.monotonic() > self._deadline:
            self.stopped = f"stopped after {self.seconds:g} s"
        return bool(self.stopped)


def mtime_of(entry: os.DirEntry[str]) -> float:
    """When a file was changed; 0 where its folder can be listed and not be looked into."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def files_below(start: str, ignores: IgnoreTree, budget: WalkBudget) -> Iterator[os.DirEntry[str]]:
    """The regular files below a folder, ignored and hidden ones and symlinks left out."""
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            # A folder that cannot be listed has nothing to show; `rg` goes on as well.
            continue
        level = ignores.level(folder)
        for entry in entries:
            if not budget.spend():
                return
            if entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if level.skips(entry.path, entry.name, folder=is_folder, hidden=False, ignored=False):
                continue
            if is_folder:
                waiting.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry


def entries_in(located: Located, buffers: Sequence[Buffer], *, hidden: bool, ignored: bool) -> list[Entry]:
    """The names in a folder, unsaved new files of the editor included, see `Workspace.entries`."""
    level = IgnoreTree(located.folder.root).level(str(located.path))
    entries: dict[str, Entry] = {}
    try:
        with os.scandir(located.path) as found:
            for entry in found:
                with suppress(FileNotFoundError):  # gone since the folder was read
                    kind = "link" if entry.is_symlink() else "folder" if entry.is_dir() else "file"
                    if not level.skips(entry.path, entry.name, folder=kind == "folder", hidden=hidden, ignored=ignored):
                        facts = entry.stat(follow_symlinks=False)
                        entries[entry.name] = Entry(entry.name, kind, facts.st_size, facts.st_mtime)
    except FileNotFoundError:
        raise ToolFailure("NOT_FOUND", f"There is no folder {located.shown}.") from None
    except NotADirectoryError:
        raise ToolFailure("INVALID_PARAM", f"{located.shown} is a file: use Read.") from None
    except OSError as error:
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} cannot be listed: {error.strerror}.") from error
    for buffer in buffers:
        # New files that the editor has not saved yet.
        path = buffer.path
        if path is None or path.parent != located.path or path.name in entries or kind_of(path):
            continue
        if not level.skips(str(path), path.name, folder=False, hidden=hidden, ignored=ignored):
            entries[path.name] = Entry(path.name, "file", len(buffer.text.encode("utf-8", "replace")), 0)
    return list(entries.values())


def kind_of(path: Path) -> str | None:
    """What lies there, see `Workspace.exists`."""
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        return "folder"
    return "file" if os.path.exists(path) else None  # noqa: PTH110 - never raises


def stamp_of(located: Located, buffer: Buffer | None) -> Stamp | None:
    """By what a change of the file is noticed."""
    version = buffer.version if buffer is not None else None
    try:
        facts = located.path.stat() if located.path.is_absolute() else None
    except OSError:
        facts = None
    if buffer is not None:
        size = len(buffer.text.encode("utf-8", "surrogatepass"))
        return Stamp(facts.st_mtime if facts else 0, size, version)
    return Stamp(facts.st_mtime, facts.st_size) if facts else None


UNTITLED = "untitled:"


def locate(path: str, folders: Sequence[Folder], buffers: Callable[[], Sequence[Buffer]]) -> Located:
    """The place of a path as the model wrote it.

    Raises:
        ToolFailure: ACCESS_DENIED outside the folders; INVALID_PARAM for a path no file can have, an unknown folder
            name, or when no folder is open.
    """
    _check_name(path)
    if not folders:
        raise ToolFailure("INVALID_PARAM", "No folder is open, so there are no files to work on.")
    if path.startswith(UNTITLED):
        if any(buffer.uri == path for buffer in buffers()):
            return Located(Path(path), path, path, folders[0])
        raise ToolFailure("NOT_FOUND", f"No document {path} is open.")
    try:
        real = Path(os.path.realpath(absolute(path, folders)))
    except OSError as error:  # a link that was there is gone, or is none any more
        raise ToolFailure("ACCESS_DENIED", f"{path} has moved while it was looked for.") from error
    return place_of(real, folders, path)


def place_of(real: Path, folders: Sequence[Folder], path: str | None = None) -> Located:
    """The place of an absolute path whose symlinks are resolved.

    Raises:
        ToolFailure: ACCESS_DENIED when it is in no folder.
    """
    holding = [folder for folder in folders if real == folder.root or folder.root in real.parents]
    if not holding:
        raise ToolFailure("ACCESS_DENIED", f"{path or real} leads outside the workspace.")
    folder = max(holding, key=lambda one: len(one.root.parts))
    relative = real.relative_to(folder.root).as_posix()
    shown = relative
    if len(folders) > 1:
        shown = folder.name if relative == "." else f"{folder.name}/{relative}"
    return Located(real, shown, real.as_uri(), folder)


def absolute(path: str, folders: Sequence[Folder]) -> Path:
    """A path as the model wrote it, from its folder on; its links are not resolved.

    Raises:
        ToolFailure: ACCESS_DENIED, INVALID_PARAM.
    """
    pure = PurePath(path.strip() or ".")
    if pure.is_absolute():
        return Path(pure)
    if len(folders) == 1:
        return folders[0].root / pure
    named = [folder for folder in folders if pure.parts and folder.name == pure.parts[0]]
    if named:
        return named[0].root.joinpath(*pure.parts[1:])
    if ".." in pure.parts[:1]:
        raise ToolFailure("ACCESS_DENIED", f"{path} leads outside the workspace.")
    names = ", ".join(folder.name for folder in folders)
    raise ToolFailure("INVALID_PARAM", f"path = {path!r} must begin with a folder's name: {names}.")


def _check_name(path: str) -> None:
    if "\0" in path:
        raise ToolFailure("INVALID_PARAM", "path contains a NUL character.")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise ToolFailure("INVALID_PARAM", "path contains characters that no file name can have.") from None
    if len(encoded) > 4000 or any(len(part) > 255 for part in encoded.split(b"/")):
        raise ToolFailure("INVALID_PARAM", "path is too long: at most 4000 bytes, 255 for one name.")
