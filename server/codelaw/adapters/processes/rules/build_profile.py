"""Looks at the disk and draws what a sandboxed command may touch (S-4, S-8).

Three layers, each above the one before: what is seen and what can be written, what is kept as it is, what is hidden.
Whatever cannot be looked at is read-only or hidden; nothing here fails because of what lies on the disk.
"""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from codelaw.adapters.processes.path_fds import path_of
from codelaw.adapters.processes.rules.areas import Area, below_any, folders_in, is_folder, is_link, within
from codelaw.adapters.processes.rules.homes import GIT_SETTINGS, kept_places, secret_places
from codelaw.adapters.processes.rules.listings import Listings, among
from codelaw.adapters.processes.rules.profile import TEMPORARY, Access, Profile, ProfilePlace
from codelaw.adapters.processes.rules.repositories import guard, own_git_folders
from codelaw.adapters.processes.rules.withheld import NOTHING, ChangedError, UndrawableError, Walk, WithheldPaths
from codelaw.domain.safety.hosts import Network
from codelaw.domain.safety.sensitive_files import ENDINGS, FILES, FOLDERS, START_UP, folded, row_of

RUNTIME = ("/run", "/var/run")
"""Where sockets of other programs lie: docker, D-Bus, keyrings. A read-only mount does not stop a connect."""
RESOLVING = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/connman")
"""What a name server's address hides behind, needed where the network is allowed."""
SYSTEM_PROGRAMS = ("/run/current-system", "/run/opengl-driver", "/run/wrappers")
OWN_FOLDER = ".codelaw"
SKILLS = "skills"
"""In a folder of an agent's, ours too."""
_MOST_NESTED = 20_000
"""Folders at the top of a workspace in which files that others obey are looked for."""
_MOST_ENTRIES = 1_000
"""Entries of a workspace folder whose top has to stay as it is."""
_WATCHED = (*FOLDERS, *FILES)
_OBEYED = frozenset(name.partition("/")[0] for name in _WATCHED)
_SYSTEM = frozenset(map(Path, ("/", "/bin", "/etc", "/home", "/lib", "/nix", "/opt", "/usr", "/var", "/dev", "/proc")))


def build_profile(
    folders: Sequence[Path],
    own: Sequence[Path],
    environment: Mapping[str, str],
    *,
    cwd: Path,
    network: Network,
    withheld: WithheldPaths = NOTHING,
    walk: Walk | None = None,
    listings: Listings | None = None,
    opened: Collection[Path] = (),
    programs: Collection[Path] = (),
    closely: Collection[str] = (),
    sockets: Collection[Path] = (),
    writes: bool = True,
) -> Profile:
    """Look at the disk and draw what a command in `folders` may touch.

    `own` are codelaw's own folders; `withheld` is what rules and settings keep back; `opened` are paths that the user
    has allowed this run to change: each opens what it lies in of that which is kept because other programs obey it
    (S-8). `programs` are those that we run ourselves, which stay as they are also where they lie in the workspace.
    `closely` are the names at the top that the connected editor obeys. `sockets` are those of other programs. Without
    `writes` the workspace can only be read.

    Raises:
        UndrawableError: the workspace lies in what is hidden, or a rule cannot be followed.
    """
    listings = listings or Listings()
    folders = [Path(os.path.realpath(folder)) for folder in folders]
    homes = _homes(environment)
    git = own_git_folders(folders)
    area = Area(tuple(dict.fromkeys([*folders, *git])) if writes else ())
    if writes:
        _keep(area, folders, homes, listings, closely)
    found = (walk or Walk()).find(withheld, folders)
    home = environment.get("HOME", "")
    fast = {*withheld.named(withheld.read_only, folders, home), *found.fixed}
    for path in sorted(fast):
        area.keep(path, pin=path in found.moving or path not in found.fixed)
    for path in programs:
        if within(path, folders):
            area.keep(path)
            fast.add(path)
    # What a rule or a setting keeps as it is, no approval opens.
    named = frozenset(map(str, fast))
    asked = frozenset(path for path in area.asked if not below_any(path, named))
    links = asked & frozenset(area.obeyed_links)
    allowed = frozenset(path for path in asked if any(within(one, [path]) for one in opened))
    through = [Path(os.path.realpath(link)) for link in links & allowed]
    allowed |= frozenset(path for path in asked if any(within(one, [path]) for one in through))
    anchored = {link.parent for link in links - allowed} | {
        one for one in folders if writes and (is_link(one / ".git") or is_link(one / OWN_FOLDER))
    }
    hidden = [*withheld.named(withheld.hidden, folders, home), *found.hidden]
    secrets = [*(place for home in homes for place in secret_places(home, listings)), *own]
    # Where a workspace holds a home: what is hidden by its name stays under its name.
    for path in (*secrets, *(path for path in hidden if path in found.moving or path not in found.hidden)):
        area.pinned += _above(path, area)
    for path in own:
        if not os.path.lexists(path):
            area.keep(path)

    access: Access = "write" if writes else "read"
    seen = _seen(
        folders, git, homes, environment, listings=listings, workspace=access, network=network, anchored=anchored
    )
    unseen = [*sockets, *hidden]
    for place in secrets:
        skills, beside = _around_skills(seen, place)
        seen |= dict.fromkeys(skills, "read")
        unseen += beside
    shut = {real for path in unseen if (real := existing(path)) is not None}
    for folder in folders:
        if (around := next((one for one in shut if within(folder, [one])), None)) is not None:
            raise UndrawableError(f"commands may not see {around}, and the folder {folder} lies there")

    fixed = {path for path in area.fixed if path not in allowed and _stays(path)}
    fixed.update(folder for folder in folders if folder in found.fixed or folder in anchored)
    names = set(map(str, shut))
    watched = {one.path: one for one in area.watched if one.path not in allowed and not below_any(one.path, names)}
    return Profile(
        places=_places(seen, shut, area, fixed),
        cwd=cwd,
        network=network,
        watched=tuple(watched.values()),
        asked=asked,
        opened=allowed | {one for one in opened if one.name.lower().endswith(tuple(ENDINGS))},
        links=links,
    )


def existing(path: Path | str) -> Path | None:
    """The path with symlinks resolved; None where there is nothing that we can come to."""
    if sys.platform == "linux":
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            descriptor = -1
        if descriptor >= 0:
            met_no_link = path_of(descriptor) == os.fspath(path)
            os.close(descriptor)
            if met_no_link:
                return Path(path)
    # Says no, too, where we may not look: then no command may.
    real = Path(os.path.realpath(path)) if os.path.lexists(path) else None
    return real if real is not None and os.path.lexists(real) else None


def _stays(path: Path) -> bool:
    """Whether a path is there, and is what it was when it was found.

    Raises:
        ChangedError: a command that still runs has put a link in its place.
    """
    real = existing(path)
    if real is not None and real != path:
        raise ChangedError(path)
    return real is not None


def _above(path: Path, area: Area) -> list[Path]:
    """The folders between a writable one and what is kept in it."""
    root = area.root_of(path)
    return [] if root is None else [parent for parent in path.parents if root in parent.parents]


def _seen(
    folders: Sequence[Path],
    git: Sequence[Path],
    homes: Sequence[Path],
    environment: Mapping[str, str],
    *,
    listings: Listings,
    workspace: Access,
    network: Network,
    anchored: Collection[Path],
) -> dict[Path, Access]:
    """The lowest layer: the system without its sockets, the homes without what they hold, tools, the workspace.

    Of one path the last word counts; `workspace` is the access to its folders. In an `anchored` folder a link must stay
    what it is, so its entries are writable one by one.
    """
    layers: list[tuple[Iterable[Path | str], Access]] = [
        (RUNTIME, "hidden"),
        (TEMPORARY, "private"),
        (SYSTEM_PROGRAMS, "read"),
        (RESOLVING if network is True else (), "read"),
        # For others the permissions of the files see to it.
        (("/root", "/home") if os.geteuid() == 0 else (), "hidden"),
    ]
    for home in homes:
        if home not in _SYSTEM:  # services have such homes; there is nothing to hide in them, and all to lose
            layers.append(([home], "private" if home == homes[0] else "hidden"))
        layers.append((kept_places(home, environment, listings), "read"))
    for folder in dict.fromkeys([*folders, *anchored]):
        layers.append(([folder], "read" if folder in anchored else workspace))
        layers.append((_entries(folder) if folder in anchored else (), "write"))
    layers.append((git, workspace))
    seen: dict[Path, Access] = {}
    for paths, access in layers:
        reals = {existing(path) for path in paths} - {None, Path("/")}
        seen |= {real: access for real in reals if real is not None}
    return seen


def _around_skills(seen: Mapping[Path, Access], place: Path) -> tuple[list[Path], list[Path]]:
    """Of a place that is hidden the user's skills in it, whose scripts are commands, and what is hidden beside them.

    They are seen only where all around the place is hidden anyway, so that nothing else that comes to lie there is.
    """
    skills = place / SKILLS
    around = next((seen[parent] for parent in place.parents if parent in seen), "read")
    worked_in = any(access == "write" and within(path, [place]) for path, access in seen.items())
    apart = around in ("private", "hidden") and not worked_in
    names = _names(place) if apart and existing(skills) == skills and is_folder(skills) else []
    if not 0 < len(names) <= _MOST_ENTRIES:
        return [], [place]
    return [skills], [place / name for name in names if name != SKILLS]


def _keep(
    area: Area, folders: Sequence[Path], homes: Sequence[Path], listings: Listings, closely: Collection[str]
) -> None:
    """The middle layer: what other programs obey, and our own folder (S-8)."""
    guard(folders, area)
    for folder in folders:
        area.keep(folder / OWN_FOLDER)
        if is_link(settings := folder / OWN_FOLDER / "config.toml"):
            area.keep(settings)  # what it leads to says what is denied
        listed = {name: folded(name) for name in _names(folder)}
        there = {name for name, plain in listed.items() if (row := row_of(plain)) and row.held == "kept"}
        taken = {*listed.values()}
        # A folder that cannot be listed is asked for each name.
        free = [name for name in _WATCHED if name.partition("/")[0] not in taken] if listed else []
        for name in sorted((there | {*_WATCHED}) - {*free}):
            area.keep_obeyed(folder / name, soon=name in closely)
        area.watch(folder, free, closely)
        nested = folders_in(folder, _MOST_NESTED)
        if nested is None and os.access(folder, os.R_OK):
            raise UndrawableError(f"{folder} holds more than {_MOST_NESTED} folders, too many to look into each")
        for inner in nested or ():
            found = among(listings, inner, _OBEYED)
            for name in _WATCHED if found else ():
                if name.partition("/")[0] in found and os.path.lexists(f"{inner}/{name}"):
                    area.keep_obeyed(Path(inner, name), pin=False)
    for home in homes:
        for name in (*START_UP, *GIT_SETTINGS) if within(home, folders) else ():
            area.keep_obeyed(home / name)


def _places(
    seen: Mapping[Path, Access], hidden: Collection[Path], area: Area, fixed: Collection[Path]
) -> tuple[ProfilePlace, ...]:
    """One access for each path: what is hidden wins, then what is fixed, then the deeper one."""
    places: dict[Path, Access] = dict(seen)
    for pin in dict.fromkeys(area.pinned):
        real = existing(pin)
        if real is not None and within(real, area.roots) and is_folder(pin):
            places.setdefault(real, "write")
    frozen = {str(path) for path in fixed if path not in area.roots}
    for path in [path for path, access in places.items() if access == "write" and path not in area.roots]:
        if below_any(path, frozen):
            del places[path]
    places |= dict.fromkeys(fixed, "read")
    names = set(map(str, hidden))
    around: dict[Path, Access] = {path: access for path, access in places.items() if not below_any(path, names)}
    around |= dict.fromkeys(hidden, "hidden")
    by_name: dict[str, Access] = {str(path): access for path, access in around.items()}
    return tuple(
        ProfilePlace(path, access) for path, access in sorted(around.items(), key=_depth) if _matters(path, by_name)
    )


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def _entries(folder: Path) -> list[Path]:
    names = _names(folder)
    if len(names) > _MOST_ENTRIES:
        return []
    return [folder / name for name in names if not is_link(folder / name)]


def _homes(environment: Mapping[str, str]) -> list[Path]:
    """The home folders of the user, by the environment and by the system, the first one being in force."""
    named = [environment.get("HOME", ""), _home_of(os.getuid())]
    homes = [Path(os.path.realpath(name)) for name in named if Path(name).is_absolute()]
    return list(dict.fromkeys(home for home in homes if os.path.isdir(home)))  # noqa: PTH112 - never raises


@cache
def _home_of(user: int) -> str:
    """By the system; nothing for a user without an entry, as in containers."""
    try:
        return pwd.getpwuid(user).pw_dir
    except KeyError:
        return ""


def _matters(path: Path, drawn: Mapping[str, Access]) -> bool:
    """Whether a place is more than what holds around it already."""
    here = drawn[str(path)]
    at = str(path).rpartition("/")[0]
    while at and at not in drawn:
        at = at.rpartition("/")[0]
    around = drawn.get(at or "/", "read")
    return not (here == around == "read" or (here == "hidden" and around in ("hidden", "private")))


def _depth(item: tuple[Path, Access]) -> tuple[int, str]:
    return len(item[0].parts), str(item[0])
