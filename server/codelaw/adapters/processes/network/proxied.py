"""A command that reaches hosts by a proxy: how it is started, what it must see for that, and its variables (S-4)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from codelaw.adapters.processes.network import listening_child as program
from codelaw.adapters.processes.rules.profile import Place, Profile
from codelaw.domain.safety.hosts import read_rules

PORT = 30_128
"""On the loopback device of the command's own namespace; below those that the system gives out."""
_ADDRESS = f"http://127.0.0.1:{PORT}"
_OTHERS = re.compile(
    r"(https?|all|no|ftp)_proxy|(npm_config|yarn|cargo|pip|uv)_(https?_)?_?(no_?)?proxy|cargo_http_proxy", re.IGNORECASE
)
"""What would name another proxy, or hosts that go by none."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def command(channel: int, argv: Sequence[str]) -> list[str]:
    """What to start inside the sandbox instead of `argv`."""
    return [_python(), "-I", "-S", "-B", os.path.realpath(program.__file__), str(channel), str(PORT), *argv]


def seen(profile: Profile) -> Profile:
    """A profile in which what `command` starts can be read, wherever it lies. Touches the disk."""
    access = {place.path: place.access for place in profile.places}

    def hides(path: Path) -> bool:
        around = next((access[place] for place in (path, *path.parents) if place in access), "read")
        return around in ("hidden", "private")

    places = [*profile.places, *(Place(path, "read") for path in _needed() if hides(path))]
    return replace(profile, places=tuple(sorted(places, key=lambda place: (len(place.path.parts), str(place.path)))))


@cache
def _needed() -> tuple[Path, ...]:
    library = Path(os.path.realpath(os.__file__)).parent
    shared = sorted(Path(sys.base_prefix, "lib").glob("libpython*.so*"))
    found = [Path(_python()), library, *shared, Path(program.__file__)]
    return tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in found))


def environment(environment: Mapping[str, str], hosts: Sequence[str]) -> dict[str, str]:
    """The variables by which programs find the proxy, in the spellings that they know.

    What runs inside the sandbox is reached without it, unless the user has listed this machine by the same name.
    """
    kept = {name: value for name, value in environment.items() if not _OTHERS.fullmatch(name)}
    listed = {str(rule.host) for rule in read_rules(hosts)}
    without = ",".join(name for name in _LOOPBACK if name not in listed)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        kept |= {name: _ADDRESS, name.upper(): _ADDRESS}
    kept |= {"no_proxy": without, "NO_PROXY": without}
    java = (f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={PORT}" for scheme in ("http", "https"))
    return {
        **kept,
        "NODE_USE_ENV_PROXY": "1",
        "YARN_HTTP_PROXY": _ADDRESS,
        "YARN_HTTPS_PROXY": _ADDRESS,
        "JAVA_TOOL_OPTIONS": " ".join(java),
    }


@cache
def _python() -> str:
    """The interpreter itself: that of a virtual environment would look for one that may not be seen."""
    base = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    return os.path.realpath(base if base.exists() else sys.executable)
