"""Whether a hook's allow is the user's word: not where a workspace has a part in what says it (X-7, S-8)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from codelaw.permissions.command_files import files_of_line
from codelaw.ports.leading import leads_over


def not_counted(command: str, cwd: Path, folders: Sequence[Path], path: str) -> str:
    """Why the allow of a hook does not count, in a sentence; empty where it does. Touches the disk.

    It does not where its program, or what it loads or names, lies in one of `folders`, also by a link or by an entry of
    `path` (PATH), or where that cannot be said: whoever changes a file there would answer for the user.
    """
    files = files_of_line(command, str(cwd))
    entries = [os.path.join(cwd, entry) for entry in path.split(os.pathsep)]  # noqa: PTH118 - as the shell does
    found = (_first(entries, name) for name in files.programs)
    named = (one for one in files.named if os.path.lexists(one))
    for one in (*files.loaded, *found, *named):
        if one and _inside(one, folders):
            return f"{one} lies in the workspace, where its answer can be changed."
    return f"It cannot be said which files it depends on: {files.unknown}." if files.unknown else ""


def _first(entries: Iterable[str], name: str) -> str:
    """What is found for a program's name."""
    places = (f"{entry}/{name}" for entry in entries)
    return next((one for one in places if os.access(one, os.X_OK) and os.path.isfile(one)), "")  # noqa: PTH113


def _inside(path: str, folders: Sequence[Path]) -> bool:
    """Whether a path, or what a link on its way leads to, is one of the folders or lies in one."""
    # Some programs read `..` before they follow links.
    return any(leads_over(spelt, folders) for spelt in (path, os.path.normpath(path)))
