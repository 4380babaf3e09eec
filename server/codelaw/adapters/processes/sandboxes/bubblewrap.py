"""A sandbox profile as mounts in namespaces of its own, by `bwrap` (S-4)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from codelaw.adapters.processes.rules.profile import TEMPORARY, Profile
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from codelaw.adapters.programs import find_program

KEPT_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER")
"""Of root, which without them could not write a workspace that belongs to somebody else."""
_KERNEL = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "tty")
"""Below `/proc`: there root sets what the kernel does for everybody, such as the program that is fed with cores."""
_KERNEL_SECRETS = ("kcore", "keys", "key-users", "kmsg", "kallsyms", "timer_list")


def find_bwrap(environment: Mapping[str, str], folders: Sequence[Path]) -> str | None:
    """The program on PATH; one inside a workspace is not trusted to lock anybody in (S-8)."""
    return find_program("bwrap", environment, folders)


def command(
    program: str,
    profile: Profile,
    scratch: Scratch,
    argv: Sequence[str],
    *,
    users: bool,
    sealed: bool = False,
    filtered: int | None = None,
) -> list[str]:
    """What to start instead of `argv`; touches the disk.

    `users`: in a user namespace too, as all but root must; `sealed`: below which there can be no other. `filtered` is
    the descriptor of a filter of system calls.
    """
    out = [program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if users:
        out.append("--unshare-user")
    if sealed:
        out.append("--disable-userns")
    if filtered is not None:
        out += ["--seccomp", str(filtered)]
    if profile.network is not True:
        out.append("--unshare-net")
    out += ["--cap-drop", "ALL"]
    if not users and os.geteuid() == 0:
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


def environment_inside(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command: temporary files go where it can write."""
    kept = {name: value for name, value in environment.items() if name not in ("TMP", "TEMP", "XDG_RUNTIME_DIR")}
    return {**kept, "TMPDIR": TEMPORARY[0]}
