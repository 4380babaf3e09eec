"""Repositories that a command has made inside a workspace folder, where git outside would obey them (S-8).

`git status` goes into every folder that the index calls a submodule, and editors look for repositories in the folders
at the top, which may be one without `.git`, too: settings there can name programs. No mount can keep a name free in
every folder, so what is new is looked at when the command has ended. A repository as `git clone` makes it stays; of one
that runs something `.git`, or `HEAD`, goes. Everything is reached from a descriptor of before it, over no link.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.path_fds import OPEN_FOLDER, folder_below, mode_at
from codelaw.adapters.processes.rules.git_settings import harmless
from codelaw.adapters.processes.rules.repositories import POINTER, stores
from codelaw.adapters.texts import small_text

MOST_FOLDERS = 20_000
"""At the top of a folder, in which repositories are looked for."""
MOST_NAMED = 20_000
"""Submodules, with those inside of others."""
LARGEST_INDEX = 256 << 20
LARGEST_SETTINGS = 1 << 16
_OBEYED = ("config", "hooks")
_GITLINK = b"\0\0\xe0\0"
"""The mode of a submodule in an index."""

_Stamp = tuple[tuple[int, int, int] | None, ...]
_Place = tuple[str, str, str]
"""A workspace folder, a path in it, and the name there that makes it a repository: `.git`, or `HEAD` of a bare one."""


class NewRepositories:
    """The repositories in some folders, as they are before a command; to be closed in the end."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Touches the disk."""
        self._open: dict[Path, int] = {}
        for folder in folders:
            with contextlib.suppress(OSError):
                self._open[folder] = os.open(folder, OPEN_FOLDER)
        self._before = dict(self._look())

    def written(self) -> dict[str, Any]:
        """What `read` makes it from, for JSON."""
        return {"folders": [*map(str, self._open)], "before": [*self._before.items()]}

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> NewRepositories:
        """From what `written` gave, before the command; touches the disk."""
        made = cls([*map(Path, said.get("folders", ()))])
        before = said.get("before", ())
        made._before = {tuple(place): tuple(one and tuple(one) for one in stamp) for place, stamp in before}
        return made

    def close(self) -> None:
        """Let go of the folders."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open = {}

    def settle(self, aside: Callable[[int, str, Path], None]) -> list[str]:
        """Give repositories that are new or changed, and would run something, to `aside`; says what went wrong."""
        said: list[str] = []
        for (folder, name, entry), stamp in self._look():
            path = Path(folder, name, entry)
            if self._before.get((folder, name, entry)) == stamp:
                continue
            try:
                with folder_below(self._open[Path(folder)], name.split("/")) as descriptor:
                    if _runs(path, os.stat(entry, dir_fd=descriptor, follow_symlinks=False).st_mode):
                        aside(descriptor, entry, path)
            except OSError as error:
                said.append(f"codelaw: remove {path}: git obeys it ({error.strerror}).")
        return said

    def _look(self) -> Iterator[tuple[_Place, _Stamp]]:
        """The repositories that git or an editor would find, and what tells of a change."""
        for folder, top in self._open.items():
            tops = _tops(top)
            for name in [one for one in tops if os.access(f"{one}/HEAD", os.F_OK, dir_fd=top, follow_symlinks=False)]:
                with contextlib.suppress(OSError), folder_below(top, [name]) as descriptor:
                    if is_bare(descriptor):
                        yield (str(folder), name, "HEAD"), tuple(_stamp(descriptor, one) for one in _OBEYED)
            names = dict.fromkeys([*tops, *_named(folder)])
            waiting = [name for name in names if _has_git(top, name)]
            while waiting:
                name = waiting.pop()
                git = folder / name / ".git"
                inner = _of_index(git) if len(names) < MOST_NAMED and os.path.isdir(git) else []  # noqa: PTH112 - never raises
                new = [path for one in inner if (path := f"{name}/{one}") not in names]
                names |= dict.fromkeys(new)
                waiting += [path for path in new if _has_git(top, path)]
                with contextlib.suppress(OSError), folder_below(top, name.split("/")) as descriptor:
                    first = _stamp(descriptor, ".git")
                    if first is not None:
                        # A file leads elsewhere; the path there is taken as it is, whatever the folder that is open.
                        at = _target_then(str(git), *first) if stat.S_ISREG(first[1]) else ".git"
                        stamp = (first, *(_stamp(descriptor, f"{at}/{one}") for one in _OBEYED))
                        yield (str(folder), name, ".git"), stamp


def is_bare(folder: int) -> bool:
    """Whether an open folder holds what makes it a repository, or what leads to it."""
    there = {name for name in ("HEAD", "commondir", "objects", "refs") if mode_at(folder, name) is not None}
    return there >= {"HEAD", "commondir"} or there >= {"HEAD", "objects", "refs"}


def _target(git: Path) -> Path | None:
    """Where a file `.git` leads; None where git refuses it."""
    match = POINTER.fullmatch((small_text(git, 4096) or "").rstrip("\n"))
    return Path(os.path.realpath(git.parent / match[1])) if match is not None else None


@lru_cache(maxsize=256)
def _target_then(git: str, *_facts: int) -> str:
    """Where a file `.git` leads that has these facts; the file itself where git refuses it."""
    return str(_target(Path(git)) or git)


def _has_git(top: int, name: str) -> bool:
    """Whether it may be a repository: most folders are none, and need not be opened part by part.

    One that we cannot look into git does not obey either.
    """
    return os.access(f"{name}/.git", os.F_OK, dir_fd=top, follow_symlinks=False)


def _tops(top: int) -> list[str]:
    with os.scandir(top) as entries:
        found = [entry.name for entry in entries if entry.name != ".git" and entry.is_dir(follow_symlinks=False)]
    return found[:MOST_FOLDERS]


def _named(folder: Path) -> list[str]:
    """Paths of submodules in a folder, by the index of the repository that it is, or lies in."""
    found: list[str] = []
    for holder, git, _ in stores([folder]):
        inside = folder.relative_to(holder).as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        found += [path[len(prefix) :] for path in _of_index(git) if path.startswith(prefix)]
    return found


def _of_index(git: Path) -> list[str]:
    """Submodules by the index of a git folder, and by those that it may share."""
    found: list[str] = []
    with contextlib.suppress(OSError):
        with os.scandir(git) as entries:
            names = [entry.name for entry in entries if entry.name == "index" or entry.name.startswith("sharedindex.")]
        for name in names[:MOST_FOLDERS]:
            facts = (git / name).stat()
            if stat.S_ISREG(facts.st_mode) and facts.st_size <= LARGEST_INDEX:
                found += _read(str(git / name), facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    return found[:MOST_NAMED]


@lru_cache(maxsize=16)
def _read(path: str, *_facts: int) -> tuple[str, ...]:
    """The submodules in an index that has these facts."""
    data = Path(path).read_bytes()
    if data[:4] != b"DIRC" or _GITLINK not in data:
        return ()
    for digest in (20, 32):
        with contextlib.suppress(ValueError, IndexError):
            return tuple(submodules(data, digest))
    return ()


def submodules(data: bytes, digest: int) -> Iterator[str]:
    """The paths of submodules in the bytes of an index whose digests have `digest` bytes.

    Raises:
        ValueError: it is not such an index.
    """
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    if version not in (2, 3, 4):
        raise ValueError(f"version {version}")
    at, before = 12, b""
    for _ in range(count):
        begun = at
        mode, flags = int.from_bytes(data[at + 24 : at + 28]), int.from_bytes(data[at + 40 + digest : at + 42 + digest])
        at += 42 + digest + (2 if flags & 0x4000 else 0)
        kept = b""
        if version == 4:
            cut, at = _number(data, at)
            kept = before[: len(before) - cut]
        end = data.index(b"\0", at)
        before = kept + data[at:end]
        if flags & 0xFFF != min(len(before), 0xFFF):
            raise ValueError("another kind of digest")
        at = end + 1 if version == 4 else begun + ((end - begun) // 8 + 1) * 8
        if mode == 0o160000:
            yield os.fsdecode(before)


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Git's number of variable length, and what follows it."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 0x7F)
    return value, at + 1


def _stamp(folder: int, name: str) -> tuple[int, int, int] | None:
    try:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    # A git folder changes with every commit: of it counts which one it is.
    changes = not (name == ".git" and stat.S_ISDIR(facts.st_mode))
    return facts.st_ino, stat.S_IFMT(facts.st_mode), facts.st_ctime_ns if changes else 0


def _runs(git: Path, mode: int) -> bool:
    """Whether a `.git` of this mode leads to settings or hooks that run programs, or cannot be read with certainty."""
    if git.name == "HEAD":
        git = git.parent
    elif stat.S_ISREG(mode):
        target = _target(git)
        if target is None:
            return False
        git = target
    elif not stat.S_ISDIR(mode):
        return True
    if any(os.path.lexists(git / name) for name in ("commondir", "config.worktree")):
        return True
    text = small_text(git / "config", LARGEST_SETTINGS) if os.path.lexists(git / "config") else ""
    linked = any(os.path.islink(git / name) for name in ("config", "hooks"))  # noqa: PTH114 - never raises
    if linked or text is None or not harmless(text):
        return True
    try:
        with os.scandir(git / "hooks") as entries:
            return any(not entry.name.endswith(".sample") for entry in entries)
    except FileNotFoundError:
        return False
    except OSError:
        return True
