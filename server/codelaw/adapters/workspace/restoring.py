"""Files of the disk byte for byte: looked at, brought back, removed (E-2)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

from codelaw.adapters.descent import folder_of
from codelaw.adapters.texts import Raw, read_raw
from codelaw.adapters.workspace.replacing import Naming, put, unrecorded
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, FileImage, Located
from codelaw.tools.changing.matching import same_lines
from codelaw.tools.paths import refuse_protected


def image_of(located: Located, most: int | None) -> FileImage | None:
    """The file as it is, see `Workspace.image`."""
    if not located.path.is_absolute():
        return None
    try:
        facts = located.path.lstat()
        size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
    except OSError:
        size = 0  # what reading says of it is clearer
    if most is not None and size > most:
        raise ToolFailure("INVALID_PARAM", f"{located.shown} has {size} bytes, more than {most}.")
    raw = _raw(located)
    return None if raw is None else FileImage(raw.content, raw.mode)


def images_of(located: Sequence[Located], most: int, total: int) -> list[FileImage | ToolFailure | None]:
    """Many files, see `Workspace.images`."""
    found: list[FileImage | ToolFailure | None] = []
    for place in located:
        try:
            image = image_of(place, min(most, total))
        except ToolFailure as failure:
            found.append(failure)
            continue
        total -= 0 if image is None else len(image.content)
        found.append(image)
    return found


def put_back(
    located: Located,
    content: bytes,
    over: bytes | None,
    mode: int | None,
    buffer: Buffer | None,
    *,
    naming: Naming = unrecorded,
) -> None:
    """Give the file these bytes, see `Workspace.put_back`."""
    _check(located)
    if buffer is not None and over is not None and not _shows(buffer, content):
        raise ToolFailure("CONFLICT", f"{located.shown} is open in the editor with another text.")
    raw = _still(located, over)
    if raw is not None and not os.access(located.path, os.W_OK):
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} is read-only.")
    put(located, content, raw, still=lambda: _still(located, over), mode=mode, naming=naming)


def remove(located: Located, over: bytes, shown: str | None, buffer: Buffer | None) -> None:
    """Remove the file, see `Workspace.remove`."""
    _check(located)
    if buffer is not None and (shown is None or not same_lines(buffer.text, shown)):
        raise ToolFailure("CONFLICT", f"{located.shown} is open in the editor with another text.")
    _still(located, over)
    try:
        with folder_of(located) as (folder, name):
            os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        raise ToolFailure("CONFLICT", f"{located.shown} is gone: somebody removed it.") from None
    except OSError as error:
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} cannot be removed: {error.strerror}.") from error


def put_folder(located: Located, *, there: bool) -> bool:
    """Make the folder, or remove it where it is empty, see `Workspace.put_folder`."""
    _check(located)
    try:
        with folder_of(located, make=there) as (folder, name):
            (os.mkdir if there else os.rmdir)(name, dir_fd=folder)
    except (FileNotFoundError, FileExistsError):
        return True
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            return False
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} cannot be changed: {error.strerror}.") from error
    return True


def _check(located: Located) -> None:
    if not located.path.is_absolute():
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} is not a file.")
    refuse_protected(located)


def _raw(located: Located) -> Raw | None:
    try:
        return read_raw(located)
    except ToolFailure as missing:
        if missing.code != "NOT_FOUND":
            raise
        return None


def _still(located: Located, over: bytes | None) -> Raw | None:
    raw = _raw(located)
    if (raw is None) != (over is None) or (raw is not None and raw.content != over):
        raise ToolFailure("CONFLICT", f"{located.shown} has changed meanwhile.")
    return raw


def _shows(buffer: Buffer, content: bytes) -> bool:
    """Whether the editor shows just these bytes."""
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return False
    return same_lines(buffer.text, text)
