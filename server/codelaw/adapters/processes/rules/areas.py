"""What is kept from commands within what they may write: found by walking names, never by following links (S-4).

Whatever cannot be looked at counts as kept: nothing here raises because of what lies on the disk. And on which of it a
command failed, by its words (S-8).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path

from codelaw.adapters.processes.rules.profile import Profile, WatchedName
from codelaw.domain.safety.sensitive_files import about

MOST_LINES = 2_000
"""Of what a command has said; errors come last."""
_KEPT = re.compile(
    r"read-only file system|device or resource busy|permission denied|operation not permitted|EROFS|EBUSY|EACCES|EPERM",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(r"read-only file system|EROFS", re.IGNORECASE)
_PATH = re.compile(r"[^\s'\"`‘’“”:;,()<>=|&]+")


def blocked(command: str, output: str, profile: Profile, taken: Collection[Path] = ()) -> tuple[Path, ...]:
    """The paths of `profile.asked` that stood in the way of a command, by what it says and what it is about, sorted.

    Empty where nothing speaks of one. `output` is what it has said on both streams, and `taken` are the paths that were
    taken away from it while it ran.
    """
    shut = profile.asked - profile.opened
    if not shut:
        return ()
    found = {one for one in shut if any(within(path, [one]) or within(one, [path]) for path in taken)}
    lines = output.splitlines()[-MOST_LINES:]
    for line in lines:
        if _KEPT.search(line):
            for path in _paths(line, profile.cwd):
                found |= {one for one in shut if within(path, [one])}
        if _READ_ONLY.search(line):
            # Beside a link that is kept no name can be made or taken.
            beside = {path.parent for path in _paths(line, profile.cwd)} or {profile.cwd}
            found |= {one for one in profile.links & shut if one.parent in beside}
    if not found and any(_KEPT.search(line) for line in lines):
        found = {one for one in shut for name in about(command) if within(profile.cwd / name, [one])}
    return tuple(sorted(found))


def _paths(line: str, cwd: Path) -> Iterator[Path]:
    for word in _PATH.findall(line):
        if "/" in word or word.startswith("."):
            yield Path(os.path.normpath(cwd / word.rstrip(".")))


_MOST_LINKS = 8


@dataclass(slots=True)
class Area:
    """The folders that commands may write, and what of them is kept."""

    roots: tuple[Path, ...]
    """Absolute, with symlinks resolved."""
    fixed: list[Path] = field(default_factory=list[Path])
    """What is there and can be read, not changed."""
    pinned: list[Path] = field(default_factory=list[Path])
    """Folders that stay where they are, as mount points do: what is kept below them would be gone with them."""
    links: list[Path] = field(default_factory=list[Path])
    """Links on the way to what is kept; no mount can lie on one, so each is to stay what it is by other means."""
    obeyed_links: list[Path] = field(default_factory=list[Path])
    """Names that are obeyed and links themselves."""
    watched: list[WatchedName] = field(default_factory=list[WatchedName])
    """Names that do not exist, and would be obeyed."""
    asked: set[Path] = field(default_factory=set[Path])
    """What an approval may open for one run (S-8)."""
    _pins: set[str] = field(default_factory=set[str])
    _spelt: list[tuple[str, Path]] = field(init=False)
    """The roots as prefixes, the innermost first."""

    def __post_init__(self) -> None:
        """Spell the roots once, as each name is held against all of them."""
        spelt = ((f"{str(root).rstrip('/')}/", root) for root in self.roots)
        self._spelt = sorted(spelt, key=lambda one: -len(one[0]))

    def root_of(self, path: Path) -> Path | None:
        """The innermost writable folder that `path` lies in."""
        name = str(path)
        return next((root for spelt, root in self._spelt if name.startswith(spelt) and name != spelt), None)

    def keep(self, path: Path, *, soon: bool = True, ask: bool = False, pin: bool = True) -> None:
        """Keep `path` as it is: read-only where it exists, else it is watched, and `soon` says how closely.

        A link on the way is noted and what it leads to is kept, too. Without `pin` folders above may be moved.
        """
        waiting: Path | None = path
        for _ in range(_MOST_LINKS):
            root = self.root_of(waiting) if waiting is not None else None
            if waiting is None or root is None:
                return  # not writable in the first place
            waiting = self._descend(root, waiting, soon=soon, ask=ask, pin=pin)

    def keep_obeyed(self, path: Path, *, soon: bool = True, pin: bool = True) -> None:
        """Keep a name that other programs obey, which an approval may open for one run (S-8).

        Where a link lies there it stays what it is.
        """
        self.keep(path, soon=soon, ask=True, pin=pin)
        if self.root_of(path) is not None and is_link(path):
            self.obeyed_links.append(path)
            self.asked.add(path)

    def watch(self, folder: Path, names: Iterable[str], closely: Collection[str]) -> None:
        """Watch names that are not there and would be obeyed, as `keep_obeyed` does one by one."""
        root = self.root_of(folder / "name")
        if root is not None and os.access(folder, os.W_OK):
            found = _watched(str(folder), str(root), tuple(names), frozenset(closely))
            self.watched += found
            self.asked.update(one.path for one in found)

    def _descend(self, root: Path, path: Path, *, soon: bool, ask: bool, pin: bool) -> Path | None:
        """Walk from `root` to `path`; where a link stands in the way, give what it leads to."""
        name = str(root).rstrip("/")
        parts = str(path)[len(name) + 1 :].split("/")
        for number, part in enumerate(parts, 1):
            name = f"{name}/{part}"
            mode = mode_of(name)
            if mode is not None and stat.S_ISDIR(mode) and number < len(parts):
                if pin and name not in self._pins:
                    self._pins.add(name)
                    self.pinned.append(Path(name))
                continue
            at = path if number == len(parts) else Path(name)
            if mode is None:
                # Where we cannot make a thing, no command can.
                if os.access(name.rpartition("/")[0] or "/", os.W_OK):
                    self.watched.append(WatchedName(path, root, soon, name))
                    if ask:
                        self.asked.add(path)
                return None
            if mode == 0:
                self.fixed.append(at.parent if at.parent != root else at)
                return None
            if stat.S_ISLNK(mode):
                self.links.append(at)
                return Path(os.path.realpath(at)).joinpath(*parts[number:])
            if number < len(parts) and pin:
                self.pinned.append(at)
        if ask:
            self.asked.add(path)
        self.fixed.append(path)
        return None


@lru_cache(maxsize=64)
def _watched(folder: str, root: str, names: Sequence[str], closely: Collection[str]) -> list[WatchedName]:
    """The same paths for each command, as each of them is spelt and hashed many times."""
    first = ((name, f"{folder}/{name.partition('/')[0]}") for name in names)
    return [WatchedName(Path(folder, name), Path(root), name in closely, sign) for name, sign in first]


def mode_of(path: Path | str) -> int | None:
    """The mode of what lies at `path`, of a link its own; None when there is nothing, 0 when it cannot be said."""
    try:
        return os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return 0


def is_folder(path: Path) -> bool:
    """Whether a folder lies there, no link to one."""
    return stat.S_ISDIR(mode_of(path) or 0)


def is_link(path: Path) -> bool:
    """Whether a link lies there, which no mount can keep from being replaced."""
    return stat.S_ISLNK(mode_of(path) or 0)


def is_file(path: Path) -> bool:
    """Whether a regular file lies there, no link to one."""
    return stat.S_ISREG(mode_of(path) or 0)


def folders_in(folder: Path, most: int) -> list[str] | None:
    """The folders in `folder`, links left out, sorted; None when it cannot be listed, or holds more than `most`."""
    try:
        with os.scandir(folder) as entries:
            found = [*islice((entry.path for entry in entries if entry.is_dir(follow_symlinks=False)), most + 1)]
    except OSError:
        return None
    return sorted(found) if len(found) <= most else None


def within(path: Path, folders: Iterable[Path] | Sequence[Path]) -> bool:
    """Whether `path` is one of `folders`, or lies in one."""
    name = f"{path}/"
    return any(name.startswith(f"{str(folder).rstrip('/')}/") for folder in folders)


def below_any(path: Path, folders: Collection[str]) -> bool:
    """The same for absolute paths as they are spelled, of which there may be many: give a set."""
    at = str(path)
    while folders and at and at not in folders:
        at = at.rpartition("/")[0]
    return bool(folders and at) or "/" in folders
