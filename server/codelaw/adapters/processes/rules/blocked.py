"""Which of the paths that other programs obey kept a command from succeeding (S-8)."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from codelaw.adapters.processes.rules.areas import within
from codelaw.adapters.processes.rules.profile import Profile
from codelaw.domain.safety.obeyed import about

MOST_LINES = 2_000
"""Of what a command has said; errors come last."""
_KEPT = re.compile(
    r"read-only file system|device or resource busy|permission denied|operation not permitted|EROFS|EBUSY|EACCES|EPERM",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(r"read-only file system|EROFS", re.IGNORECASE)
_PATH = re.compile(r"[^\s'\"`‘’“”:;,()<>=|&]+")


def blocked(command: str, output: str, profile: Profile, taken: Collection[Path] = ()) -> tuple[Path, ...]:
    """The paths of `profile.asked` that stood in the way of a command, by what it says and what it is about, sorted.

    Empty where nothing speaks of one. `output` is what it has said on both streams, and `taken` are the paths that were
    taken away from it while it ran.
    """
    shut = profile.asked - profile.opened
    if not shut:
        return ()
    found = {one for one in shut if any(within(path, [one]) or within(one, [path]) for path in taken)}
    lines = output.splitlines()[-MOST_LINES:]
    for line in lines:
        if _KEPT.search(line):
            for path in _paths(line, profile.cwd):
                found |= {one for one in shut if within(path, [one])}
        if _READ_ONLY.search(line):
            # Beside a link that is kept no name can be made or taken.
            beside = {path.parent for path in _paths(line, profile.cwd)} or {profile.cwd}
            found |= {one for one in profile.links & shut if one.parent in beside}
    if not found and any(_KEPT.search(line) for line in lines):
        found = {one for one in shut for name in about(command) if within(profile.cwd / name, [one])}
    return tuple(sorted(found))


def _paths(line: str, cwd: Path) -> Iterator[Path]:
    for word in _PATH.findall(line):
        if "/" in word or word.startswith("."):
            yield Path(os.path.normpath(cwd / word.rstrip(".")))
