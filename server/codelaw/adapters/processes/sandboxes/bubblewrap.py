"""A sandbox profile as mounts in namespaces of its own, by `bwrap` (S-4)."""

from __future__ import annotations

import os
import resource
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from codelaw.adapters.processes.path_fds import path_of
from codelaw.adapters.processes.rules.areas import below_any
from codelaw.adapters.processes.rules.profile import TEMPORARY, Profile, ProfilePlace
from codelaw.adapters.processes.rules.withheld import ChangedError
from codelaw.adapters.processes.sandboxes import landlock, seccomp
from codelaw.adapters.processes.sandboxes.means import Confined, SandboxMeans, environment_inside
from codelaw.adapters.processes.sandboxes.scratch import Scratch

KEPT_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER")
"""Of root, which without them could not write a workspace that belongs to somebody else."""
_SPARE_DESCRIPTORS = 512
"""That the rest of the server may need."""
_KERNEL = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "tty")
"""Below `/proc`: there root sets what the kernel does for everybody, such as the program that is fed with cores."""
_KERNEL_SECRETS = ("kcore", "keys", "key-users", "kmsg", "kallsyms", "timer_list")


def confine(
    means: SandboxMeans, profile: Profile, scratch: Scratch, argv: Sequence[str], environment: Mapping[str, str]
) -> Confined:
    """A command that is ready to be started. Touches the disk.

    Raises:
        OSError: what it needs cannot be made, or is not what was drawn.
    """
    with _by_descriptors(profile) if means.binding else nullcontext((profile, list[int]())) as (drawn, descriptors):
        if means.filtered:
            # Where the network is shared, so are sockets without a file, unless landlock cuts them off.
            unix = means.scoped or profile.network is not True
            descriptors.append(seccomp.descriptor(seccomp.program(unix=unix)))
        line = _command(means, drawn, scratch, argv, filtered=descriptors[-1] if means.filtered else None)
        # Some of them would load code into `bwrap` itself, and in arguments other users would see them.
        variables = {**environment_inside(environment), "TMPDIR": TEMPORARY[0]}
        descriptors.append(seccomp.descriptor(_orders(variables)))
        line[1:1] = ["--args", str(descriptors[-1])]
    before = landlock.scope if means.scoped else None
    return Confined(
        line, {}, descriptors=tuple(descriptors), before=before, close=lambda: [*map(os.close, descriptors)]
    )


def _orders(variables: Mapping[str, str]) -> bytes:
    words = ["--clearenv", *(word for name, value in variables.items() for word in ("--setenv", name, value))]
    return b"".join(os.fsencode(word) + b"\0" for word in words)


def _command(
    means: SandboxMeans, profile: Profile, scratch: Scratch, argv: Sequence[str], *, filtered: int | None
) -> list[str]:
    """What to start instead of `argv`; `filtered` is the descriptor of a filter of system calls."""
    out = [
        means.program,
        "--die-with-parent",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]
    out += ["--unshare-user"] * means.users + ["--disable-userns"] * means.sealed
    out += ["--seccomp", str(filtered)] if filtered is not None else []
    out += ["--unshare-net"] * (profile.network is not True) + ["--cap-drop", "ALL"]
    if not means.users and os.geteuid() == 0:
        out += [part for name in KEPT_CAPABILITIES for part in ("--cap-add", name)]
    out += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    # Each mount costs a command its time, and whoever is not root outside is refused most of it in any case.
    for name in _KERNEL if os.geteuid() == 0 else _KERNEL[:1]:
        out += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    empty = str(scratch.empty_file())
    for name in _KERNEL_SECRETS:
        if os.access(f"/proc/{name}", os.R_OK):
            out += ["--ro-bind", empty, f"/proc/{name}"]
    hidden_folders: list[str] = []
    for place in profile.places:
        path = str(place.path)
        if place.access == "write":
            out += _bind("--bind", path, place.descriptor)
        elif place.access == "read":
            out += _bind("--ro-bind", path, place.descriptor)
        elif place.access == "private":
            out += ["--bind", str(scratch.in_stead_of(place.path)), path]
        elif os.path.isdir(place.path):  # noqa: PTH112 - never raises
            out += ["--tmpfs", path]
            hidden_folders.append(path)
        else:
            out += ["--ro-bind", empty, path]
    for path in hidden_folders:
        # Not before everything that lies in them has its place.
        out += ["--remount-ro", path]
    # A new session is what the process is started in already; a second one would keep signals to the group away.
    return [*out, "--chdir", str(profile.cwd), "--", *argv]


def _bind(option: str, path: str, descriptor: int | None) -> list[str]:
    return [option, path, path] if descriptor is None else [f"{option}-fd", str(descriptor), path]


@contextmanager
def _by_descriptors(profile: Profile) -> Generator[tuple[Profile, list[int]]]:
    """The profile with descriptors of whatever lies in a folder that commands write, and all of these descriptors.

    They are closed when it fails inside; else whoever got them closes them.

    Raises:
        ChangedError: a name is no longer what it was when it was drawn.
        OSError: there are too many.
    """
    writable = frozenset(map(str, profile.inside("write")))
    made: list[int] = []
    _make_room(len(profile.places))
    try:
        places: list[ProfilePlace] = []
        for place in profile.places:
            bound = place.access in ("write", "read") and below_any(place.path.parent, writable)
            if bound:
                made.append(_opened(place.path))
            places.append(replace(place, descriptor=made[-1]) if bound else place)
        yield replace(profile, places=tuple(places)), made
    except BaseException:
        for descriptor in made:
            os.close(descriptor)
        raise


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise ChangedError(path) from error
    if path_of(descriptor) != str(path):
        os.close(descriptor)
        raise ChangedError(path)
    return descriptor


def _make_room(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _SPARE_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        most = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
