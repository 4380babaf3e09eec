"""What a command has made that other programs obey, where its name could not be held (S-8).

Of a bare repository at the top of a workspace, whose settings git would obey, no name can be held without getting in
the way of projects and of git itself, so it is looked for when the command has ended. The folder is a descriptor from
before the command: no link leads elsewhere.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from codelaw.adapters.processes.rules.profile import Profile

_PARTS = ("HEAD", "objects", "refs")


class Tops:
    """The tops of some folders that are not bare repositories; to be settled once, in the end."""

    def __init__(self, folders: Sequence[Path]) -> None:
        """Touches the disk."""
        self._open: dict[Path, int] = {}
        for folder in folders:
            with contextlib.suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                if _is_bare(descriptor):
                    os.close(descriptor)
                else:
                    self._open[folder] = descriptor

    def close(self) -> None:
        """Let go of them."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open = {}

    def settle(self) -> list[str]:
        """Set aside the `HEAD` of those that are one now; says so in sentences."""
        told: list[str] = []
        for folder, descriptor in self._open.items():
            try:
                if _is_bare(descriptor):
                    name = f"HEAD.set-aside-{os.urandom(4).hex()}"
                    os.rename("HEAD", name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
                    told.append(
                        f"codelaw: HEAD, objects and refs made {folder} a repository whose settings git would obey:"
                        f" HEAD is {name} now."
                    )
            except OSError as error:
                told.append(f"codelaw: {folder} has become a bare repository: remove its HEAD ({error.strerror}).")
        self.close()
        return told


def told_of(profile: Profile) -> list[str]:
    """Sentences about the names that a command has taken. Touches the disk."""
    return [
        f"codelaw: the command made {path}, which other programs obey: tell the user."
        for path in profile.watched
        if os.path.lexists(path)
    ]


def _is_bare(folder: int) -> bool:
    for name in _PARTS:
        try:
            os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return False
    return True
