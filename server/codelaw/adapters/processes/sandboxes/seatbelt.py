"""A sandbox profile in the language of macOS's `sandbox-exec` (S-4). Experimental: no blanket rule counts in it.

Of several rules that match the last one counts, and a rule about a folder holds for all that lies in it: so the rules
stand as the places do, what lies deeper after what it lies in, and what must not come into being last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from codelaw.adapters.processes.rules.profile import Profile
from codelaw.adapters.processes.sandboxes.means import Confined, SandboxMeans
from codelaw.adapters.processes.sandboxes.scratch import Scratch

PROGRAM = "/usr/bin/sandbox-exec"
_OTHERS = "/private/var/folders"
"""The temporary folders of all programs, their sockets included."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/dtracehelper")
_SERVICES = ("com.apple.system.opendirectoryd.libinfo", "com.apple.system.logger")
"""Who knows the names of users and writes logs; keychains and the clipboard are others."""
_RESOLVER = "/private/var/run/mDNSResponder"
_NETWORK = (
    "(allow system-socket)",
    "(allow network-outbound (remote ip))",
    "(allow network-bind network-inbound (local ip))",
    f'(allow network-outbound (literal "{_RESOLVER}"))',
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def supported() -> bool:
    """Whether this machine has the program; touches the disk."""
    return os.access(PROGRAM, os.X_OK)


def confine(
    _means: SandboxMeans, profile: Profile, scratch: Scratch, argv: Sequence[str], environment: Mapping[str, str]
) -> Confined:
    """A command that is ready to be started; touches the disk.

    Raises:
        OSError: the private folders cannot be made, or a path cannot be spelt.
    """
    private = [scratch.in_stead_of(path) for path in profile.inside("private")]
    return Confined([PROGRAM, "-p", text(profile, private), *argv], scratch.environment(environment, profile))


def text(profile: Profile, private: Collection[Path]) -> str:
    """The rules; `private` are the folders used in stead of the private places.

    Raises:
        OSError: a path cannot be spelt.
    """
    out = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork)",
        "(allow process-exec)",
        "(allow signal (target same-sandbox))",
        "(allow process-info* (target same-sandbox))",
        "(allow sysctl-read)",
        "(allow ipc-posix-sem)",
        f"(allow mach-lookup {' '.join(f'(global-name {quoted(name)})' for name in _SERVICES)})",
        "(allow file-read*)",
        f"(deny file-read* file-write* (subpath {quoted(_OTHERS)}))",
        f"(allow file-read* file-write-data file-ioctl {_literals(_DEVICES)})",
    ]
    said = {
        "write": ("allow file-read* file-write*",),
        "read": ("allow file-read*", "deny file-write*"),
        "hidden": ("deny file-read* file-write*",),
        "private": ("deny file-read* file-write*",),
    }
    for place in profile.places:
        out += [f"({rule} (subpath {quoted(str(place.path))}))" for rule in said[place.access]]
    out += [f"(allow file-read* file-write* (subpath {quoted(str(folder))}))" for folder in private]
    seen = [*profile.inside("write", "read"), *private]
    # To get to a place one has to see that the folders above it are there, and no more.
    out.append(
        f"(allow file-read-metadata {_literals(map(str, sorted({up for path in seen for up in path.parents})))})"
    )
    out += [f"(deny file-write* (subpath {quoted(str(one.path))}))" for one in profile.watched]
    moving = sorted(_moving(profile))
    if moving:
        out.append(f"(deny file-write-unlink {_literals(map(str, moving))})")
    return "\n".join([*out, *(_NETWORK if profile.network is True else ())]) + "\n"


def quoted(name: str) -> str:
    """A string of the language.

    Raises:
        OSError: it holds a character that the language has no way to spell.
    """
    if _CONTROL.search(name):
        raise OSError(f"the sandbox cannot name a path with a control character: {name!r}")
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _literals(names: Iterable[str]) -> str:
    return " ".join(f"(literal {quoted(name)})" for name in names)


def _moving(profile: Profile) -> set[Path]:
    """Folders which are writable, and which what is shut lies in: moved away, they would take it along."""
    writable = profile.inside("write")
    shut = [*profile.inside("read", "hidden"), *(one.path for one in profile.watched)]
    return {up for path in shut for up in path.parents if any(one == up or one in up.parents for one in writable)}
