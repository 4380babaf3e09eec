"""The way from a workspace folder down to a file, step by step, so that no symlink swapped in leads it out (T-2, S-4).

A path that was resolved a moment ago may lead elsewhere by now. Opened from descriptor to descriptor, never following a
link, it either leads to what was judged or nowhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Located

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def folder_of(located: Located, *, make: bool = False) -> Generator[tuple[int, str]]:
    """A descriptor of the folder a file lies in, and the file's name there; with `make` missing folders are made.

    Raises:
        ToolFailure: ACCESS_DENIED when the way is not what it was; IS_DIRECTORY for a workspace folder itself.
        FileNotFoundError, NotADirectoryError: a folder is missing.
        OSError: one cannot be opened or made.
    """
    try:
        *folders, name = located.path.relative_to(located.folder.root).parts or ("",)
    except ValueError:
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} leads outside the workspace.") from None
    if not name:
        raise ToolFailure("IS_DIRECTORY", f"{located.shown} is a folder: use LS.")
    descriptor = os.open(located.folder.root, _FOLDER)
    try:
        for folder in folders:
            below = _step(descriptor, folder, located, make=make)
            os.close(descriptor)
            descriptor = below
        yield descriptor, name
    finally:
        os.close(descriptor)


def _step(descriptor: int, folder: str, located: Located, *, make: bool) -> int:
    try:
        return os.open(folder, _FOLDER, dir_fd=descriptor)
    except FileNotFoundError:
        if not make:
            raise
        with contextlib.suppress(FileExistsError):  # made by somebody else, or a link, which the next line tells
            os.mkdir(folder, dir_fd=descriptor)
        return _step(descriptor, folder, located, make=False)
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(descriptor, folder)
        if link:
            raise ToolFailure("ACCESS_DENIED", f"{located.shown} has moved: a link stands in its way now.") from None
        raise


def _is_link(descriptor: int, folder: str) -> bool:
    try:
        os.readlink(folder, dir_fd=descriptor)
    except OSError:
        return False
    return True
