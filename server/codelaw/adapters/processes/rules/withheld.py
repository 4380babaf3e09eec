"""What rules and settings keep back from commands, found on the disk for the sandbox to be drawn by (S-1, S-4).

Rules are globs, and mounts lie on what exists: every folder of the workspace is looked through. What was seen of a
folder holds until the folder changes, so that it costs a command little; a change of a folder shows in its `ctime`,
which nobody can set.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.adapters.processes.rules.listings import StampedCache
from codelaw.permissions.policy import Denied

MOST_FOLDERS = 300_000
MOST_FOUND = 2_000
"""Each is a mount."""
SECONDS = 5.0
"""For one look; what has been seen by then is kept, so that the next one comes further."""
_ANY = "\ue000any"
"""A name that only a pattern for every name matches."""


class UndrawableError(OSError):
    """What a command may touch cannot be drawn, so it does not run; the message says why, and what to do."""


class ChangedError(UndrawableError):
    """Something was changed while it was looked at, by a command that still runs: looking again may do."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} was changed while it was looked at: try again")


@dataclass(frozen=True, slots=True)
class WithheldPaths:
    """What is kept back."""

    unreadable: Denied | None = None
    """What rules deny to tools that read."""
    unwritable: Denied | None = None
    hidden: tuple[str, ...] = ()
    """Paths that the user has named: absolute, `~/`, or relative to a workspace folder."""
    read_only: tuple[str, ...] = ()
    names: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """By root the names of the workspace's folders, with which shown paths begin where there are several."""
    key: tuple[str, ...] = ()
    """The rules as written: what was seen under others does not count."""

    def named(self, paths: Sequence[str], folders: Sequence[Path], home: str) -> list[Path]:
        """The places that `paths` mean."""
        found: list[Path] = []
        for path in paths:
            spelled = f"{home}{path[1:]}" if path == "~" or path.startswith("~/") else path
            found += [Path(os.path.normpath(folder / spelled)) for folder in folders]
        return list(dict.fromkeys(found))


NOTHING = WithheldPaths()


@dataclass(frozen=True, slots=True)
class KeptBack:
    """Places in the workspace that rules keep back."""

    hidden: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    moving: tuple[Path, ...] = ()
    """Of both those that would not be kept back under the name of another folder: the folders above have to stay."""


@dataclass(slots=True)
class _FolderVerdict:
    folders: list[str] = field(default_factory=list[str])
    hidden: list[str] = field(default_factory=list[str])
    fixed: list[str] = field(default_factory=list[str])


class Walk:
    """Looks for what rules keep back; used from threads, one at a time."""

    def __init__(self) -> None:
        self._cache = StampedCache[_FolderVerdict]()
        self._key: tuple[object, ...] = ()

    def find(self, withheld: WithheldPaths, folders: Sequence[Path]) -> KeptBack:
        """What lies in `folders` and is kept back. Touches the disk.

        Raises:
            UndrawableError: a rule keeps everything back, or the workspace is too large to be looked through.
        """
        if withheld.unreadable is None and withheld.unwritable is None:
            return KeptBack()
        key = (withheld.key, tuple(withheld.names.items()))
        if key != self._key:
            self._key, self._cache = key, StampedCache[_FolderVerdict]()
        hidden: list[str] = []
        fixed: list[str] = []
        deadline = time.monotonic() + SECONDS
        waiting: list[tuple[str, str]] = []
        for folder in folders:
            prefix = f"{withheld.names.get(folder, folder.name)}/" if len(withheld.names) > 1 else ""
            waiting.append((str(folder), prefix))
            if withheld.unreadable is not None and withheld.unreadable.hides(prefix + _ANY):
                raise UndrawableError(
                    "a rule denies reading every file of the workspace, so no command can run in it: narrow the rule,"
                    " or deny Bash too"
                )
            if withheld.unwritable is not None and withheld.unwritable.hides(prefix + _ANY):
                fixed.append(str(folder))
        visited = 0
        while waiting:
            visited += 1
            if visited > MOST_FOLDERS or time.monotonic() > deadline:
                raise UndrawableError(
                    "the workspace has too many folders to look for what the rules of permissions.deny keep from"
                    " commands. Try again, as the search goes on from where it stopped; else open a smaller folder"
                )
            at, shown = waiting.pop()
            seen = self._look(at, shown, withheld)
            hidden += [f"{at}/{name}".rstrip("/") for name in seen.hidden]
            fixed += [f"{at}/{name}" for name in seen.fixed]
            waiting += [(f"{at}/{name}", f"{shown}{name}/") for name in seen.folders]
        if len(hidden) + len(fixed) > MOST_FOUND:
            raise UndrawableError(
                f"the rules of permissions.deny keep {len(hidden) + len(fixed)} places from commands, and at most"
                f" {MOST_FOUND} can be: name whole folders, as in Read(secrets/**)"
            )
        moving = [path for path in hidden if not _by_name(withheld.unreadable, path)]
        moving += [path for path in fixed if not _by_name(withheld.unwritable, path)]
        return KeptBack(*(tuple(map(Path, paths)) for paths in (hidden, fixed, moving)))

    def _look(self, at: str, shown: str, withheld: WithheldPaths) -> _FolderVerdict:
        """One folder: its folders that are to be looked at, and what in it is kept back."""

        def listed() -> _FolderVerdict:
            seen = _FolderVerdict()
            with os.scandir(at) as entries:
                for entry in entries:
                    _sort(entry, shown, withheld, seen)
            return seen

        try:
            return self._cache.look(at, shown, listed, follow=False)
        except FileNotFoundError:
            return _FolderVerdict()
        except OSError:
            # Who owns it could open it up: it is hidden as a whole.
            return _FolderVerdict(hidden=[""])


def _sort(entry: os.DirEntry[str], shown: str, withheld: WithheldPaths, seen: _FolderVerdict) -> None:
    if entry.is_symlink():
        return  # what it leads to is found where it lies
    folder = entry.is_dir(follow_symlinks=False)
    path = shown + entry.name
    if _denies(withheld.unreadable, path, folder=folder):
        seen.hidden.append(entry.name)
        return
    fixed = _denies(withheld.unwritable, path, folder=folder)
    if fixed:
        seen.fixed.append(entry.name)
    if folder and entry.name != ".git" and not (fixed and withheld.unreadable is None):
        seen.folders.append(entry.name)


def _denies(denied: Denied | None, path: str, *, folder: bool) -> bool:
    return denied is not None and (denied.hides(path) or (folder and denied.hides(f"{path}/{_ANY}")))


def _by_name(denied: Denied | None, path: str) -> bool:
    """Whether it is kept back wherever it lies."""
    return denied is not None and denied.hides(f"{_ANY}/{path.rpartition('/')[2]}")
