"""A sandbox profile as landlock rules, for machines without `bwrap` or namespaces (S-4).

Rules only ever allow: to hide a place, everything beside it is allowed one by one. What must stay as it is within a
writable folder cannot be said at all: git's settings and hooks can be changed. So it is a partial sandbox, for which no
blanket rule counts, and beneath `bwrap` a second layer.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from codelaw.adapters.processes.rules.homes import KEPT
from codelaw.adapters.processes.rules.profile import Access, Profile
from codelaw.adapters.processes.sandboxes import landlock_child as program
from codelaw.adapters.processes.sandboxes import seccomp
from codelaw.adapters.processes.sandboxes.means import Confined, SandboxMeans
from codelaw.adapters.processes.sandboxes.scratch import Scratch

LEAST_ABI = 6
"""Before it, commands could signal the processes of the user and reach their sockets that are not files."""
DEVICES = ("null", "zero", "full", "random", "urandom")
"""No terminal: what is written to that of somebody else's is read by them, and what it is fed with is run."""
_MOST_ENTRIES = 20_000
"""Entries of the folders that lead to hidden places."""


def abi() -> int:
    """The version of landlock that the kernel offers; 0 without it, or where its rules could be got round."""
    if sys.platform != "linux" or not seccomp.supported():
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(program.CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


def scope() -> None:
    """Cut this thread, and what it starts, off from sockets without a file and from signals to the rest of us.

    A second layer: it knows nothing of files, so that `bwrap` can still mount.

    Raises:
        OSError: the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    program.restrict(libc, files=0, network=0)


def confine(
    _means: SandboxMeans, profile: Profile, scratch: Scratch, argv: Sequence[str], environment: Mapping[str, str]
) -> Confined:
    """A command that is ready to be started. Touches the disk.

    Raises:
        OSError: a folder cannot be listed.
    """
    write, read = _rules(profile, scratch)
    file = scratch.root() / f"orders-{os.urandom(8).hex()}"
    # Ports are all that rules know of the network: by name there is nothing that they could allow.
    network = profile.network is True
    orders = {
        "write": write,
        "read": read,
        "network": network,
        # Of UDP they know nothing, nor of sockets that are files, such as docker's.
        "filter": seccomp.program(unix=False, internet=network).hex(),
        "cwd": str(profile.cwd),
        "command": list(argv),
        # Not for what locks it in, into which some of them would load code.
        "environment": private_environment(environment, profile, scratch),
    }
    file.write_text(json.dumps(orders), "utf-8")
    line = [sys.executable, "-I", "-S", "-B", str(Path(program.__file__)), str(file)]
    return Confined(line, {}, close=lambda: file.unlink(missing_ok=True))


def private_environment(environment: Mapping[str, str], profile: Profile, scratch: Scratch) -> dict[str, str]:
    """The variables of a command, in whose home links lead to what of the real one may be seen."""
    inside = scratch.environment(environment, profile)
    home = Path(os.path.realpath(environment.get("HOME", "/")))
    for name in KEPT if home in profile.inside("private") else ():
        link = Path(inside["HOME"], name)
        if (home / name).exists() and not os.path.lexists(link):
            link.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):  # another command makes it at the same moment
                link.symlink_to(home / name)
    return inside


def _rules(profile: Profile, scratch: Scratch) -> tuple[list[str], list[str]]:
    """What can be written, and what else can be read."""
    drawn: dict[Path, Access] = {place.path: place.access for place in profile.places}
    drawn |= {Path("/dev"): "hidden", scratch.root(): "hidden", scratch.private(): "write"}
    # Asked once for every entry of the folders around what is hidden, of which a temporary folder has thousands.
    inside: dict[Path, list[Path]] = defaultdict(list)
    for place in drawn:
        for folder in place.parents:
            inside[folder].append(place)
    allowed: dict[str, list[str]] = {"write": [], "read": []}
    left = _MOST_ENTRIES

    def allow(path: Path, access: Access) -> None:
        nonlocal left
        access = drawn.get(path, access)
        below = inside.get(path, ())
        if access in ("write", "read") and not any(drawn[place] in ("hidden", "private") for place in below):
            allowed[access].append(str(path))
            # Nothing below can be shut, only opened: a writable folder in one that can be read.
            opened = [str(place) for place in below if drawn[place] == "write" and access == "read"]
            allowed["write"] += opened
            return
        try:
            inner = None if access in ("hidden", "private") else _unlinked(path)
        except FileNotFoundError:
            return  # it held something hidden, and went meanwhile
        except PermissionError:
            inner, access = None, "hidden"  # somebody else's: what is not hidden in it is not known, so none is seen
        if inner is None:
            around = {place: next(one for one in place.parents if one in drawn or one == path) for place in below}
            inner = [place for place in below if around[place] == path]
        else:
            left -= len(inner)
        if left < 0:
            raise OSError("the folders around what is hidden have too many entries")
        for one in inner:
            allow(one, access)

    allow(Path("/"), "read")
    allowed["write"] += [f"/dev/{name}" for name in DEVICES if Path("/dev", name).exists()]
    return allowed["write"], allowed["read"]


def _unlinked(folder: Path) -> list[Path]:
    with os.scandir(folder) as found:
        return [Path(entry.path) for entry in found if not entry.is_symlink()]
