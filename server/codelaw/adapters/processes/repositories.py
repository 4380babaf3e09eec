"""What of a git repository a command must not change, because git outside the sandbox obeys it (S-4).

Hooks and settings run programs: the next `git status` of the editor would run them with the user's rights. The rest of
a repository stays writable, so that a commit works. A repository that a command makes deeper inside a folder is a file
of the workspace like a Makefile, and is not guarded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.adapters.workspace.texts import small_text

SAME_FOLDER = ".\n"
"""A `commondir` that names the git folder itself, and so says what holds without it; we put it there for a while."""
MAX_SETTINGS = 1 << 20
"""Bytes of a repository's settings that are looked through."""
MAX_MODULES = 200
"""Submodules that are guarded one by one."""
_POINTER = re.compile(r"gitdir:\s*(.+?)\s*")
_NAMED = re.compile(
    r"^\s*(hookspath|path|fsmonitor|attributesfile|excludesfile)\s*=\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE
)
_WORKTREE_SETTINGS = re.compile(r"^\s*worktreeconfig\b", re.IGNORECASE | re.MULTILINE)
_OWN_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(slots=True)
class Guarded:
    """The guarded places of the repositories of some folders."""

    writable: list[Path] = field(default_factory=list[Path])
    """Git folders: places of their own, so that nobody can move one away and put another there."""
    fixed: list[Path] = field(default_factory=list[Path])
    """What can be read and not changed."""
    absent: list[Path] = field(default_factory=list[Path])
    """What must not come into being."""
    common: list[Path] = field(default_factory=list[Path])

    @property
    def without_common(self) -> tuple[Path, ...]:
        """The git folders that have no file `commondir`."""
        return tuple(dict.fromkeys(self.common))


def is_free(name: Path) -> bool:
    """Whether there is nothing, or an empty folder such as a server that was killed may have left."""
    if not os.path.lexists(name):
        return True
    return name.is_dir() and not name.is_symlink() and not any(True for _ in name.iterdir())


def guarded(folders: Sequence[Path]) -> Guarded:
    """Look at the repositories that `folders` are, or lie in. Touches the disk."""
    found = Guarded()
    for folder in folders:
        holder = _holder(folder)
        if holder is not None:
            _guard(holder, found)
    return found


def settings_text(folder: Path) -> str | None:
    """The settings of the repository that `folder` is, or lies in; None where there is none. Touches the disk."""
    holder = _holder(folder)
    git = None if holder is None else _git_folder(holder)
    return None if git is None else small_text(_common(git) / "config", MAX_SETTINGS)


def _holder(folder: Path) -> Path | None:
    """The nearest folder with a `.git`, unless that is somebody's home or all there is."""
    for place in (folder, *folder.parents):
        if os.path.lexists(place / ".git"):
            kept_out = place == Path("/") or (place != folder and place == Path(os.path.realpath(Path.home())))
            return None if kept_out else place
    return None


def _guard(holder: Path, found: Guarded) -> None:
    name = holder / ".git"
    if name.is_symlink() or name.is_file():
        found.fixed.append(name)
    git = _git_folder(holder)
    if git is None:
        if not is_free(name):
            found.fixed.append(name)  # it could become one that is obeyed
        return
    common = _common(git)
    if common != git:
        found.writable.append(git)
        found.fixed += [git / "commondir", git / "gitdir", git / "config.worktree"]
    _guard_folder(common, holder, found)
    _guard_modules(common / "modules", found)


def _guard_folder(git: Path, holder: Path | None, found: Guarded) -> None:
    settings = small_text(git / "config", MAX_SETTINGS) or ""
    found.writable.append(git)
    found.fixed += [git / "hooks", git / "config", git / "config.worktree"]
    found.absent.append(git / "hooks")
    common = git / "commondir"
    if os.path.lexists(common) and small_text(common, 16) != SAME_FOLDER:
        found.fixed.append(common)
    elif os.access(git, os.W_OK):
        found.common.append(git)
    if _WORKTREE_SETTINGS.search(settings):
        found.absent.append(git / "config.worktree")
    for key, value in _NAMED.findall(settings):
        # Relative to the folder that git works in, or, for an included file, to the file that names it.
        places = [base / value.strip('"') for base in (git, holder) if base is not None]
        found.fixed += [place for place in places if place.is_file() or (place.is_dir() and key.lower() == "hookspath")]


def _guard_modules(modules: Path, found: Guarded) -> None:
    """The repositories of submodules, which may have submodules themselves."""
    if not modules.is_dir() or modules.is_symlink():
        return
    waiting, seen = [modules], 0
    while waiting and seen < MAX_MODULES:
        folder = waiting.pop()
        found.writable.append(folder)
        for entry in sorted(os.scandir(folder), key=lambda one: one.name):
            if not entry.is_dir(follow_symlinks=False):
                continue
            git = Path(entry.path)
            if not (git / "HEAD").is_file():
                waiting.append(git)  # a submodule's name may have slashes
                continue
            seen += 1
            _guard_folder(git, None, found)
            if (git / "modules").is_dir() and not (git / "modules").is_symlink():
                waiting.append(git / "modules")


def _git_folder(holder: Path) -> Path | None:
    """The git folder of `holder`, when it is one that speaks of `holder`.

    A file `.git` may point anywhere, and whoever wrote it must not choose what becomes writable: what it points at has
    to point back, as the folders of worktrees and submodules do.
    """
    name = holder / ".git"
    if name.is_symlink():
        git = Path(os.path.realpath(name))
        return git if holder in git.parents and _is_git(git) else None
    if name.is_dir():
        return name if _is_git(name) else None
    match = _POINTER.fullmatch((small_text(name, 4096) or "").rstrip("\n"))
    if match is None:
        return None
    git = Path(os.path.realpath(holder / match[1]))
    if not (git / "HEAD").is_file():
        return None
    back = (small_text(git / "gitdir", 4096) or "").strip()
    if back and Path(os.path.realpath(git / back)) == name:
        return git
    worktree = _OWN_WORKTREE.search(small_text(git / "config", MAX_SETTINGS) or "")
    if worktree and Path(os.path.realpath(git / worktree[1].strip('"'))) == holder:
        return git
    return None


def _is_git(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _common(git: Path) -> Path:
    """The repository that a worktree's git folder belongs to."""
    pointer = (small_text(git / "commondir", 4096) or "").strip()
    if not pointer:
        return git
    common = Path(os.path.realpath(git / pointer))
    # Git puts the folders of worktrees below the repository they belong to.
    return common if common / "worktrees" == git.parent and _is_git(common) else git
