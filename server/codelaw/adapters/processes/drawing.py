"""Looks at the disk and draws what a sandboxed command may touch (S-4)."""

from __future__ import annotations

import contextlib
import os
import pwd
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from codelaw.adapters.processes.homes import SECRETS, kept_places
from codelaw.adapters.processes.profile import TEMPORARY, Access, Held, Place, Profile
from codelaw.adapters.processes.repositories import SAME_FOLDER, Guarded, guarded, is_free
from codelaw.domain.hosts import Network

RUNTIME = ("/run", "/var/run")
"""Where sockets of other programs lie: docker, D-Bus, keyrings. A read-only mount does not stop a connect."""
RESOLVING = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/connman")
"""What a name server's address hides behind, needed where the network is allowed."""
SYSTEM_PROGRAMS = ("/run/current-system", "/run/opengl-driver", "/run/wrappers")
OWN_FOLDER = ".codelaw"
_MOST_SOCKETS = 5_000
_SYSTEM = frozenset(map(Path, ("/", "/bin", "/etc", "/home", "/lib", "/nix", "/opt", "/usr", "/var", "/dev", "/proc")))


def make_profile(
    folders: Sequence[Path],
    own: Sequence[Path],
    environment: Mapping[str, str],
    *,
    cwd: Path,
    network: Network,
) -> Profile:
    """Look at the disk and draw what a command in `folders` may touch; `own` are codelaw's own folders."""
    drawn: dict[Path, Access] = {}

    def draw(paths: Iterable[Path | str], access: Access) -> None:
        for path in paths:
            real = Path(os.path.realpath(path))
            if real != Path("/") and real.exists():
                drawn[real] = access

    homes = _homes(environment)
    draw(RUNTIME, "hidden")
    draw(TEMPORARY, "private")
    draw(SYSTEM_PROGRAMS, "read")
    if network is True:
        draw(RESOLVING, "read")
    if os.geteuid() == 0:
        draw(("/root", "/home"), "hidden")  # for others the permissions of the files see to it
    for home in homes:
        if home not in _SYSTEM:  # services have such homes; there is nothing to hide in them, and all to lose
            draw([home], "private" if home == homes[0] else "hidden")
        draw(kept_places(home, environment), "read")
    draw((one for one in _sockets() if not any(folder in one.parents for folder in folders)), "hidden")
    git = guarded(folders)
    draw(folders, "write")
    draw(git.writable, "write")
    for home in homes:
        draw((home / name for name in SECRETS), "hidden")
    draw(git.fixed, "read")
    draw((folder / OWN_FOLDER for folder in folders), "read")
    draw(own, "hidden")
    return Profile(
        tuple(Place(path, access) for path, access in sorted(drawn.items(), key=_depth) if _matters(path, drawn)),
        cwd,
        network,
        _held(folders, git),
    )


def _held(folders: Sequence[Path], git: Guarded) -> tuple[Held, ...]:
    names = [folder / name for folder in folders for name in (".git", OWN_FOLDER)]
    free = [path for path in names if is_free(path)] + [path for path in git.absent if not os.path.lexists(path)]
    # Where we cannot make a thing, no command can.
    names = [path for path in dict.fromkeys(free) if os.access(path.parent, os.W_OK)]
    held = [Held(path, "folder") for path in names]
    return (*held, *(Held(git / "commondir", "file", SAME_FOLDER.encode()) for git in git.without_common))


def _sockets() -> list[Path]:
    """Where the sockets of other programs lie, as far as the kernel tells."""
    try:
        lines = Path("/proc/net/unix").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    names = (line.split(maxsplit=7)[7:] for line in lines[:_MOST_SOCKETS])
    return list(dict.fromkeys(Path(name[0]) for name in names if name and name[0].startswith("/")))


def _homes(environment: Mapping[str, str]) -> list[Path]:
    """The home folders of the user, by the environment and by the system, the first one being in force."""
    named = [environment.get("HOME", "")]
    with contextlib.suppress(KeyError):  # a user without an entry, as in containers
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    homes = [Path(os.path.realpath(name)) for name in named if Path(name).is_absolute()]
    return list(dict.fromkeys(home for home in homes if home.is_dir()))


def _matters(path: Path, drawn: Mapping[Path, Access]) -> bool:
    """Whether a place is more than what holds around it already."""
    around = next((drawn[parent] for parent in path.parents if parent in drawn), "read")
    here = drawn[path]
    return not (here == around == "read" or (here == "hidden" and around in ("hidden", "private")))


def _depth(item: tuple[Path, Access]) -> tuple[int, str]:
    return len(item[0].parts), str(item[0])
