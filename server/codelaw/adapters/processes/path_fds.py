"""Files by descriptors, so that no name is followed twice: a command that runs may put a link anywhere (S-4)."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def folder_at(path: Path) -> Generator[int]:
    """An open folder.

    Raises:
        OSError: it is gone, or a link by now.
    """
    descriptor = os.open(path, OPEN_FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def folder_below(top: int, parts: Iterable[str]) -> Generator[int]:
    """A folder by its path in another, over no link.

    Raises:
        OSError: it is gone, or a link is on the way.
    """
    at = os.dup(top)
    try:
        for part in parts:
            if part in ("", ".", ".."):
                raise OSError(f"no folder: {part!r}")
            below = os.open(part, OPEN_FOLDER, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def folder_of_name(path: Path) -> int | None:
    """A descriptor of a folder under this very name; None where there is none."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, OPEN_FOLDER)
        if os.path.realpath(path) == str(path):
            return descriptor
        os.close(descriptor)
    return None


def mode_at(folder: int, name: str) -> int | None:
    """The mode of an entry of an open folder, of a link its own; None where there is none."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return None


@contextmanager
def unheld(file: Path) -> Generator[int]:
    """A file that a server holds as long as it lives, held by us now.

    Raises:
        OSError: its server lives, or it is another user's or gone.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor
    finally:
        os.close(descriptor)


def path_of(descriptor: int) -> str:
    """Where the kernel says that it is, with no link on the way; empty when it does not say."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - hundreds of them
    except OSError:
        return ""
