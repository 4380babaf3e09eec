"""What of a git repository a command must not change, because git outside the sandbox obeys it (S-4, S-8).

Hooks and settings run programs: the next `git status` of the editor would run them with the user's rights. The rest of
a repository stays writable, so that a commit works. Nothing that a command can write decides what becomes writable: a
folder counts as a workspace's own git folder only when it says so itself.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from codelaw.adapters.processes.rules.areas import Area, folders_in, is_file, is_folder, is_link, mode_of, within
from codelaw.adapters.processes.rules.git_settings import read_settings
from codelaw.adapters.texts import small_text

MAX_SETTINGS = 1 << 20
"""Bytes of a repository's settings that are looked through."""
MAX_MODULES = 200
"""Submodules, and worktrees, that are guarded one by one; with more of them the folder that holds them is fixed."""
MAX_NESTED = 20_000
"""Folders at the top of a workspace in which repositories of their own are looked for."""
POINTER = re.compile(r"gitdir:\s*(.+?)\s*")
_RUNS = frozenset(
    (
        *("clean", "smudge", "process", "textconv", "command", "driver", "external", "editor", "pager", "sshcommand"),
        *("askpass", "program", "helper", "cmd", "uploadpack", "receivepack"),
    )
)
"""Settings whose value is a command; an alias is one with an exclamation mark."""
_OBEYED = ("config", "hooks", "config.worktree", "commondir", "objects", "objects/info", "modules", "worktrees", "info")


def is_free(name: Path) -> bool:
    """Whether there is nothing, or an empty folder such as a server that was killed may have left."""
    mode = mode_of(name)
    if mode is None:
        return True
    try:
        return stat.S_ISDIR(mode) and not any(True for _ in name.iterdir())
    except OSError:
        return False


def own_git_folders(folders: Sequence[Path]) -> list[Path]:
    """The git folders of the repositories that `folders` are, or lie in: what a commit writes. Touches the disk."""
    return list(dict.fromkeys(git for _, *both in stores(folders) for git in both))


def stores(folders: Sequence[Path]) -> list[tuple[Path, Path, Path]]:
    """The repositories that `folders` are, or lie in, the git folder with the index of each, and where its refs lie."""
    found = ((holder, _git_folder(holder)) for holder in _holders(folders))
    return [(holder, git, _common(git)) for holder, git in found if git is not None]


def guard(folders: Sequence[Path], area: Area) -> None:
    """Keep what git obeys in the repositories that `folders` are, lie in, or hold. Touches the disk."""
    seen: set[Path] = set()
    for holder in _holders(folders):
        _guard(holder, area, seen)
    for folder in folders:
        if is_free(folder / ".git"):
            area.keep(folder / ".git", ask=True)
        if mode_of(folder / "refs") is not None and _is_git(folder):
            # A folder that holds what a git folder holds is obeyed as one, once its `.git` is none.
            _guard_folder(folder, None, area, seen)
        for nested in _nested(folder):
            if nested not in folders:
                _guard(nested, area, seen)


def kept(folders: Sequence[Path], path: Path) -> bool:
    """Whether `path` is, or lies in, what is kept from commands in the repositories of `folders`. Touches the disk."""
    path, *folders = (Path(os.path.realpath(one)) for one in (path, *folders))
    area = Area(tuple(dict.fromkeys([*folders, *own_git_folders(folders)])))
    guard(folders, area)
    return within(path, [*area.fixed, *area.links, *(one.path for one in area.watched)])


def settings_text(folder: Path) -> str | None:
    """The settings of the repository that `folder` is, or lies in; None where there is none. Touches the disk."""
    return next((small_text(common / "config", MAX_SETTINGS) for _, _, common in stores([folder])), None)


def _holders(folders: Sequence[Path]) -> list[Path]:
    """For each folder the nearest one with a `.git`, unless that is somebody's home or all there is."""
    found: list[Path] = []
    for folder in folders:
        for place in (folder, *folder.parents):
            if mode_of(place / ".git") is not None and not (place == folder and is_free(place / ".git")):
                if place != Path("/") and (place == folder or _is_project(place, folder)):
                    found.append(place)
                break
    return list(dict.fromkeys(found))


def _is_project(place: Path, folder: Path) -> bool:
    """Whether a folder with a `.git` around a workspace is no home, and that of the user or of the workspace's owner.

    Git obeys no other either.
    """
    if place == Path(os.path.realpath(Path.home())):
        return False
    try:
        return (place / ".git").lstat().st_uid in (os.geteuid(), folder.lstat().st_uid)
    except OSError:
        return False


def _nested(folder: Path) -> Iterator[Path]:
    """Repositories in a workspace folder, looked for as deep as editors do, and where submodules lie."""
    yield from (Path(one) for one in folders_in(folder, MAX_NESTED) or () if mode_of(f"{one}/.git") is not None)
    modules = read_settings(small_text(folder / ".gitmodules", MAX_SETTINGS) or "")
    named = [one.value for one in modules if one.key == "path"]
    for name in named[:MAX_MODULES]:
        place = Path(os.path.normpath(folder / name.strip('"')))
        if folder in place.parents and place.parent != folder and mode_of(f"{place}/.git") is not None:
            yield place


def _guard(holder: Path, area: Area, seen: set[Path]) -> None:
    """Keep what the repository of `holder` obeys."""
    name = holder / ".git"
    git = _git_folder(holder)
    if git is not None and is_link(name):
        area.links.append(name)
    elif not is_folder(name) or (git is None and not is_free(name)):
        # Whom it points at must not change; or it could become one that is obeyed.
        area.keep(name, ask=not is_folder(name))
    if git is None:
        return
    common = _common(git)
    if common != git:
        _guard_worktree(git, area)
    _guard_folder(common, holder, area, seen)


def _guard_folder(git: Path, holder: Path | None, area: Area, seen: set[Path]) -> None:
    """Keep hooks, settings and whatever leads to others of them."""
    if git in seen or not within(git, area.roots):
        return
    seen.add(git)
    for name in ("config", "hooks"):
        area.keep(git / name, ask=True)  # with what it leads to
    _guard_named(small_text(git / "config", MAX_SETTINGS) or "", git, holder, area)
    if any(is_link(git / name) for name in _OBEYED):
        area.fixed.append(git)  # a link in it could be replaced, and no mount can lie on one
        return
    area.pinned.append(git)
    area.keep(git / "config.worktree", ask=True)
    for name in ("commondir", "objects/info/alternates"):
        area.keep(git / name)
    _guard_modules(git / "modules", area, seen)
    for worktree in _folders_in(git / "worktrees", area):
        _guard_worktree(worktree, area)


def _guard_named(settings: str, git: Path, holder: Path | None, area: Area) -> None:
    """Keep what the settings name: the folder of the hooks, further settings, and a monitor."""
    for one in read_settings(settings):
        name = os.path.expanduser(one.value.strip('"'))  # noqa: PTH111 - never raises
        # Relative to the folder that git works in, or, for an included file, to the file that names it.
        place = Path(os.path.normpath((git if one.key == "path" or holder is None else holder) / name))
        if one.key in ("path", "hookspath") or (one.key == "fsmonitor" and "/" in name):
            if name and place not in (git / "config", git / "hooks"):
                area.keep(place, ask=True)
        elif holder is not None and (one.key in _RUNS or name.startswith("!")):
            for program in _programs(name, holder):
                area.keep(program, ask=True)


def _programs(line: str, holder: Path) -> Iterator[Path]:
    """Files of the workspace in a command line that the settings have for filters, drivers, aliases and the like."""
    for word in re.split(r"[\s\"';&|]+", line.removeprefix("!")):
        place = Path(os.path.normpath(holder / word))
        if "/" in word and holder in place.parents and mode_of(place) is not None:
            yield place


def _guard_modules(modules: Path, area: Area, seen: set[Path]) -> None:
    """The repositories of submodules, which may have submodules themselves."""
    waiting, count = [modules], 0
    while waiting:
        folder = waiting.pop()
        for git in _folders_in(folder, area, enough=count > MAX_MODULES):
            count += 1
            mode = mode_of(git / "HEAD")
            if mode is None:
                waiting.append(git)  # a submodule's name may have slashes
            elif mode == 0:
                area.fixed.append(git)
            else:
                _guard_folder(git, None, area, seen)


def _folders_in(folder: Path, area: Area, *, enough: bool = False) -> list[Path]:
    """The folders in one that stays where it is; one that cannot be listed, or holds too many, stays as it is."""
    if not is_folder(folder):
        return []
    inner = None if enough else folders_in(folder, MAX_MODULES)
    (area.fixed if inner is None else area.pinned).append(folder)
    return [*map(Path, inner or ())]


def _guard_worktree(git: Path, area: Area) -> None:
    """What leads from a worktree elsewhere back to the repository must lead there for ever."""
    area.pinned.append(git)
    for name in ("commondir", "gitdir"):
        area.keep(git / name)
    area.keep(git / "config.worktree", ask=True)


def _git_folder(holder: Path) -> Path | None:
    """The git folder of `holder`, when it is one that speaks of `holder`.

    A file `.git` may point anywhere, and whoever wrote it must not choose what becomes writable: what it points at has
    to point back, as the folders of worktrees and submodules do.
    """
    name = holder / ".git"
    mode = mode_of(name) or 0
    if stat.S_ISLNK(mode):
        git = Path(os.path.realpath(name))
        return git if holder in git.parents and _is_git(git) else None
    if stat.S_ISDIR(mode):
        return name if _is_git(name) else None
    match = POINTER.fullmatch((small_text(name, 4096) or "").rstrip("\n"))
    git = Path(os.path.realpath(holder / match[1])) if match else holder
    if match is None or not is_file(git / "HEAD"):
        return None
    back = (small_text(git / "gitdir", 4096) or "").strip()
    settings = read_settings(small_text(git / "config", MAX_SETTINGS) or "")
    worktree = next((one.value for one in settings if one.key == "worktree"), "")
    points_back = back and Path(os.path.realpath(git / back)) == name
    claims = worktree and Path(os.path.realpath(git / worktree.strip('"'))) == holder
    return git if points_back or claims else None


def _is_git(folder: Path) -> bool:
    return mode_of(folder / "HEAD") is not None and os.path.isdir(folder / "objects")  # noqa: PTH112 - never raises


def _common(git: Path) -> Path:
    """The repository that a worktree's git folder belongs to."""
    pointer = (small_text(git / "commondir", 4096) or "").strip()
    if not pointer:
        return git
    common = Path(os.path.realpath(git / pointer))
    # Git puts the folders of worktrees below the repository they belong to.
    return common if common / "worktrees" == git.parent and _is_git(common) else git
