"""The programs that codelaw starts for itself: found outside every workspace, with an environment of their own (S-8).

A workspace is written by whoever wrote the repository and by the agent's commands. Its `.venv/bin` or
`node_modules/.bin`, which an editor or an activated environment puts first on PATH, would hand them a program that runs
outside the sandbox.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from codelaw.ports.leading import leads_over

_KEPT = frozenset({"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT"})
"""What is passed on as it is: it names no program and no file that a program would load."""
_PATHS = ("PATH", "LD_LIBRARY_PATH")
"""Lists of folders; what is relative, or leads over a workspace, is taken out. Some Pythons need the second."""


def find_program(name: str, environment: Mapping[str, str], folders: Sequence[Path]) -> str | None:
    """The absolute path of a program on PATH that no workspace folder has a part in; touches the disk.

    Entries of PATH that are empty or relative do not count. Neither the path as written nor any link on the way may lie
    below one of `folders`.
    """
    entries = outside(environment.get("PATH", os.defpath), folders)
    paths = (os.path.join(entry, name) for entry in entries)  # noqa: PTH118 - pathlib would tidy what is to be judged
    return next((path for path in paths if usable(path, folders)), None)


def usable(path: str, folders: Sequence[Path]) -> bool:
    """Whether `path` is a program that may be started: an executable file, reached over no workspace folder."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return False
    if not stat.S_ISREG(facts.st_mode) or not os.access(path, os.X_OK):
        return False
    return not leads_over(path, folders)


def own_python(folders: Sequence[Path]) -> str:
    """The interpreter for children of ours: the one behind the environment's link where that lies in a workspace."""
    behind = os.path.realpath(sys.executable)
    if leads_over(sys.executable, folders) and usable(behind, folders):
        return behind
    # Where it does lie in a workspace it is what we run on ourselves.
    return sys.executable


def own_programs(folders: Sequence[Path]) -> list[Path]:
    """What runs outside the sandbox and no command may change (S-4): this package, the interpreter with its libraries.

    As they are named and as they really are. A prefix that holds a whole workspace folder is left out, as nothing could
    be written there; other programs are only ever started from elsewhere (`find_program`). Touches the disk.
    """
    around = {path for folder in folders for path in (folder, *folder.parents)}
    return [
        path
        for path in _own(sys.prefix, sys.base_prefix, sys.executable)
        if path not in around and os.path.lexists(path)
    ]


@cache
def _own(*names: str) -> tuple[Path, ...]:
    package = Path(__file__).parents[1]
    prompts = package.parents[1] / "prompts"  # in a checkout
    named = [package, prompts, *map(Path, names)]
    return tuple(dict.fromkeys(form for path in named for form in (path, Path(os.path.realpath(path)))))


def own_environment(environment: Mapping[str, str], folders: Sequence[Path] = ()) -> dict[str, str]:
    """What a program of ours is started with (S-5): language and safe search paths, and nothing else of `environment`.

    No key can be in it, and nothing that makes a program load code or settings: `LD_PRELOAD`, `PYTHONPATH`,
    `NODE_OPTIONS`, `GIT_*`, `RIPGREP_CONFIG_PATH`.
    """
    kept = {name: value for name, value in environment.items() if name in _KEPT}
    for name in _PATHS:
        safe = outside(environment.get(name, ""), folders)
        if safe:
            kept[name] = os.pathsep.join(safe)
    return kept


def outside(entries: str, folders: Sequence[Path]) -> list[str]:
    """The entries of a search path that are absolute and lead over none of `folders`; touches the disk."""
    kept = [entry for entry in entries.split(os.pathsep) if os.path.isabs(entry)]  # noqa: PTH117
    return [entry for entry in kept if not leads_over(entry, folders)]
