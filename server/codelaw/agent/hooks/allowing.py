"""Whether a hook's allow is the user's word: not where a workspace has a part in what says it (X-7, S-8)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from codelaw.permissions.command_files import files_of_line
from codelaw.ports.leading import leads_over, looked_up


def not_counted(command: str, cwd: Path, folders: Sequence[Path], path: str) -> str:
    """Why the allow of a hook does not count, in a sentence; empty where it does. Touches the disk.

    It does not where its program, or what it loads or names, lies in one of `folders`, also by a link or by an entry of
    `path` (PATH), or where that cannot be said: whoever changes a file there would answer for the user.
    """
    files = files_of_line(command, str(cwd))
    found = (place for name in files.programs for place in looked_up(name, path, str(cwd)))
    for one in (*files.loaded, *found, *filter(os.path.lexists, files.named)):
        if leads_over(one, folders):
            return f"{one} lies in the workspace, where its answer can be changed."
    return f"It cannot be said which files it depends on: {files.unknown}." if files.unknown else ""
