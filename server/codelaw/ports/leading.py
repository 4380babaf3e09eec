"""Where paths lead: a look at the disk that every floor needs alike (S-8)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

MOST_LINKS = 40
"""Links that one path may lead over, as the kernel has it."""


def leads_over(path: str, folders: Sequence[Path]) -> bool:
    """Whether a path, or what any link on its way leads to, lies in one of `folders`; touches the disk."""
    # As they are written, and as they really are.
    roots = {form for folder in folders for form in (os.path.abspath(folder), os.path.realpath(folder))}  # noqa: PTH100
    left = MOST_LINKS
    waiting = [part for part in reversed(path.split("/")) if part not in ("", ".")]
    at = ""
    while waiting:
        part = waiting.pop()
        if part == "..":
            at = at.rpartition("/")[0]
            continue
        below = f"{at}/{part}"
        if any(below == root or below.startswith(root.rstrip("/") + "/") for root in roots):
            return True
        try:
            target = os.readlink(below)  # noqa: PTH115
        except (OSError, ValueError):
            at = below  # no link, or nothing at all
            continue
        left -= 1
        if left < 0:
            return True
        at = "" if target.startswith("/") else at
        waiting += [part for part in reversed(target.split("/")) if part not in ("", ".")]
    return False


def looked_up(name: str, path: str, cwd: str) -> Iterator[str]:
    """The files on `path` (PATH) that a program's name may mean when it is started in `cwd`; the last one is run."""
    for entry in path.split(os.pathsep):
        place = os.path.join(cwd, entry, name)  # noqa: PTH118 - links are looked at as they are written
        if os.path.isfile(place):  # noqa: PTH113 - never raises
            yield place
            if os.access(place, os.X_OK):
                return
