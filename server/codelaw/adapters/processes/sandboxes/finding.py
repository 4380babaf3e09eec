"""Which sandbox this machine has, found out by trying (S-4)."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from codelaw.adapters.processes.rules.profile import Profile, ProfilePlace
from codelaw.adapters.processes.sandboxes import bubblewrap, landlock, seatbelt, seccomp, trial
from codelaw.adapters.processes.sandboxes.means import Confined, Kind, SandboxMeans
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from codelaw.adapters.programs import find_program

TRIAL_SECONDS = 60.0
"""Far beyond what a trial takes on a busy machine: one that is broken off counts as a sandbox that does not hold."""

_found: dict[tuple[str, int, int, int], SandboxMeans] = {}
"""What bubblewrap can do here, by the file of the program: sessions of one server need not all try it out."""


def find_means(
    scratch: Scratch, folders: Sequence[Path], environment: Mapping[str, str], kinds: Sequence[Kind]
) -> SandboxMeans:
    """Try out what there is, the best first; touches the disk."""
    if sys.platform == "darwin":
        return _find_seatbelt(scratch) if "seatbelt" in kinds else SandboxMeans(None, "none is wanted")
    if sys.platform != "linux":
        return SandboxMeans(None, f"there is none for {sys.platform}")
    reasons: list[str] = []
    for kind in (kind for kind in kinds if kind != "seatbelt"):
        found = _find_bubblewrap(scratch, folders, environment) if kind == "bubblewrap" else _find_landlock(scratch)
        if isinstance(found, SandboxMeans):
            return found
        reasons.append(found)
    return SandboxMeans(None, ", ".join(reasons) or "none is wanted")


def _find_bubblewrap(scratch: Scratch, folders: Sequence[Path], environment: Mapping[str, str]) -> SandboxMeans | str:
    """What it can do here, or why it cannot be used."""
    program = find_program("bwrap", environment, folders)  # one inside a workspace is not trusted (S-8)
    if program is None:
        inside = find_program("bwrap", environment, [])
        return f"{inside} lies in the workspace" if inside else "bubblewrap (bwrap) is not installed"
    status = Path(program).stat()
    file = (program, status.st_dev, status.st_ino, status.st_mtime_ns)
    if file in _found:
        return _found[file]
    problem = "" if seccomp.supported() else f"there is none for {platform.machine()}"
    unfiltered = ""
    # Root can do without a user namespace, where files of other users keep their owners.
    namespaces = [(True, True), (True, False)]
    if os.geteuid() == 0:
        namespaces.insert(0, (False, False))
    for filtered in (True, False) if seccomp.supported() else (False,):
        for users, sealed in namespaces:
            means = SandboxMeans("bubblewrap", "", program, users, sealed=sealed, filtered=filtered, lacking=unfiltered)
            problem = _try(scratch, means)
            if problem is None:
                scoped = replace(means, scoped=True)
                if filtered and landlock.abi() >= landlock.LEAST_ABI and _try(scratch, scoped) is None:
                    means = scoped
                version = _said(program, "--version").removeprefix("bubblewrap ") or "of an unknown version"
                _found[file] = replace(means, detail=version, binding="--ro-bind-fd" in _said(program, "--help"))
                return _found[file]
        unfiltered = f"Its filter of system calls does not work here ({problem})."
    return f"bubblewrap does not work here ({problem})"


def _find_landlock(scratch: Scratch) -> SandboxMeans | str:
    abi = landlock.abi()
    if abi < landlock.LEAST_ABI:
        least = landlock.LEAST_ABI
        return f"its landlock is too old (ABI {abi} of {least})" if abi else "the kernel has no landlock"
    means = SandboxMeans("landlock", f"ABI {abi}", filtered=True)
    problem = _try(scratch, means)
    return means if problem is None else f"landlock does not work here ({problem})"


def _find_seatbelt(scratch: Scratch) -> SandboxMeans:
    if not seatbelt.supported():
        return SandboxMeans(None, f"there is no {seatbelt.PROGRAM}")
    means = SandboxMeans("seatbelt", "experimental")
    problem = _try(scratch, means)
    return means if problem is None else SandboxMeans(None, f"sandbox-exec does not work here ({problem})")


def _try(scratch: Scratch, means: SandboxMeans) -> str | None:
    """What does not hold when a program is locked into a folder made for it; None when everything does."""
    try:
        # In the session's own folder: a server that is killed meanwhile leaves nothing that the next does not find.
        room = Path(tempfile.mkdtemp(prefix="trial-", dir=os.path.realpath(scratch.root())))
        try:
            with socket.socket(socket.AF_UNIX) as listening:
                name = f"codelaw-trial-{os.urandom(8).hex()}" if means.scoped else ""
                if name:
                    listening.bind(f"\0{name}")
                    listening.listen()
                return _tried_in(room, name, scratch, means)
        finally:
            shutil.rmtree(room, ignore_errors=True)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)


def _tried_in(room: Path, listening: str, scratch: Scratch, means: SandboxMeans) -> str | None:
    for one in ("in", "out", "secret"):
        (room / one).mkdir()
        (room / one / "file").write_text(one, "utf-8")
    places = (ProfilePlace(room, "read"), ProfilePlace(room / "in", "write"), ProfilePlace(room / "secret", "hidden"))
    namespace = str(Path("/proc/self/ns/pid").readlink()) if means.kind == "bubblewrap" else ""
    program = [sys.executable, "-I", "-S", "-B", trial.__file__, str(room), namespace]
    program += ["filtered" if means.filtered else "", listening]
    confined = confine(means, Profile(places, room, network=means.scoped), scratch, program, {})
    try:
        ended = _run(confined)
    finally:
        confined.close()
    *wrong, end = ended.stdout.decode("utf-8", "replace").splitlines() or [""]
    if ended.returncode == 0 and end == trial.END:
        return ", ".join(wrong) or None
    said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1][:200] if said else f"exit code {ended.returncode}"


def confine(
    means: SandboxMeans, profile: Profile, scratch: Scratch, argv: Sequence[str], environment: Mapping[str, str]
) -> Confined:
    """A command in the sandbox that `means` are; to be closed when it has ended. Touches the disk.

    Raises:
        OSError: what it needs cannot be made, or is not what was drawn.
    """
    by_kind = {"landlock": landlock.confine, "seatbelt": seatbelt.confine}
    return by_kind.get(means.kind or "", bubblewrap.confine)(means, profile, scratch, argv, environment)


def _run(confined: Confined) -> subprocess.CompletedProcess[bytes]:
    """In a thread of its own, since what is to be called before the start would hold for this one, too.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it takes too long.
    """

    def run() -> subprocess.CompletedProcess[bytes]:
        if confined.before is not None:
            confined.before()
        return subprocess.run(
            confined.argv,
            capture_output=True,
            timeout=TRIAL_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env=confined.environment,
            pass_fds=confined.descriptors,
        )

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def _said(program: str, option: str) -> str:
    line = [program, option]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False, env={}, cwd="/")
    return ended.stdout.strip()
