"""Where a path lies, and that it lies inside (T-2)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, Folder, Located

UNTITLED = "untitled:"


def locate(path: str, folders: Sequence[Folder], buffers: Callable[[], Sequence[Buffer]]) -> Located:
    """The place of a path as the model wrote it.

    Raises:
        ToolFailure: ACCESS_DENIED outside the folders; INVALID_PARAM for a path no file can have, an unknown folder
            name, or when no folder is open.
    """
    _check_name(path)
    if not folders:
        raise ToolFailure("INVALID_PARAM", "No folder is open, so there are no files to work on.")
    if path.startswith(UNTITLED):
        if any(buffer.uri == path for buffer in buffers()):
            return Located(Path(path), path, path, folders[0])
        raise ToolFailure("NOT_FOUND", f"No document {path} is open.")
    try:
        real = Path(os.path.realpath(_absolute(path, folders)))
    except OSError as error:  # a link that was there is gone, or is none any more
        raise ToolFailure("ACCESS_DENIED", f"{path} has moved while it was looked for.") from error
    return place_of(real, folders, path)


def place_of(real: Path, folders: Sequence[Folder], path: str | None = None) -> Located:
    """The place of an absolute path whose symlinks are resolved.

    Raises:
        ToolFailure: ACCESS_DENIED when it is in no folder.
    """
    holding = [folder for folder in folders if real == folder.root or folder.root in real.parents]
    if not holding:
        raise ToolFailure("ACCESS_DENIED", f"{path or real} leads outside the workspace.")
    folder = max(holding, key=lambda one: len(one.root.parts))
    relative = real.relative_to(folder.root).as_posix()
    shown = relative
    if len(folders) > 1:
        shown = folder.name if relative == "." else f"{folder.name}/{relative}"
    return Located(real, shown, real.as_uri(), folder)


def _absolute(path: str, folders: Sequence[Folder]) -> Path:
    pure = PurePath(path.strip() or ".")
    if pure.is_absolute():
        return Path(pure)
    if len(folders) == 1:
        return folders[0].root / pure
    named = [folder for folder in folders if pure.parts and folder.name == pure.parts[0]]
    if named:
        return named[0].root.joinpath(*pure.parts[1:])
    if ".." in pure.parts[:1]:
        raise ToolFailure("ACCESS_DENIED", f"{path} leads outside the workspace.")
    names = ", ".join(folder.name for folder in folders)
    raise ToolFailure("INVALID_PARAM", f"path = {path!r} must begin with a folder's name: {names}.")


def _check_name(path: str) -> None:
    if "\0" in path:
        raise ToolFailure("INVALID_PARAM", "path contains a NUL character.")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise ToolFailure("INVALID_PARAM", "path contains characters that no file name can have.") from None
    if len(encoded) > 4000 or any(len(part) > 255 for part in encoded.split(b"/")):
        raise ToolFailure("INVALID_PARAM", "path is too long: at most 4000 bytes, 255 for one name.")
