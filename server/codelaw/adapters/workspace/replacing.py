"""Replacing a file in one step; files looked at byte for byte, brought back, removed (T-5, E-2, F-3)."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from codelaw.adapters.descent import folder_of
from codelaw.adapters.texts import Raw, decoded, encoded, read_raw
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, FileImage, FileText, Located
from codelaw.tools.changing.matching import same_lines
from codelaw.tools.paths import refuse_protected

Naming = Callable[[Path], AbstractContextManager[str]]
"""Gives the name for a file that is about to be written in a folder, and knows it for as long as it may be there."""


@contextmanager
def unrecorded(folder: Path) -> Generator[str]:  # noqa: ARG001 - the signature is `Naming`'s
    """A name that nobody else knows."""
    yield f".codelaw-{os.urandom(6).hex()}"


def replace_file(located: Located, text: str, over: FileText | None, naming: Naming = unrecorded) -> FileText:
    """Write `text`, made from `over`, which must still be what is there; see `Workspace.write`.

    Raises:
        ToolFailure: CONFLICT, ACCESS_DENIED, and what encoding raises.
    """
    if not located.path.is_absolute():
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} is not a file yet: ask the user to save it.")
    refuse_protected(located)
    raw = _unchanged(located, over)
    if raw is not None and not os.access(located.path, os.W_OK):
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} is read-only.")
    content = encoded(text, over, raw, located)
    put(located, content, raw, still=lambda: _unchanged(located, over), naming=naming)
    return decoded(read_raw(located), located)


def put(
    located: Located,
    content: bytes,
    raw: Raw | None,
    *,
    still: Callable[[], object],
    mode: int | None = None,
    naming: Naming = unrecorded,
) -> None:
    """Put `content` in the place of `raw`, the file as it is (None: there is none), in one step.

    `still` raises at the last moment when it is not so any more. `mode` are the permission bits, without it those of
    `raw`, or what the user's new files get.

    Raises:
        ToolFailure: ACCESS_DENIED, EXECUTION_ERROR; CONFLICT when somebody has made the file meanwhile; what `still`
            raises.
    """
    try:
        with naming(located.path.parent) as other:
            _put(located, content, raw, still, mode, other=other)
    except OSError as error:
        code = "ACCESS_DENIED" if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS} else "EXECUTION_ERROR"
        raise ToolFailure(code, f"{located.shown} cannot be written: {error.strerror}.") from error


def _unchanged(located: Located, over: FileText | None) -> Raw | None:
    """What is there now, when it is still `over`."""
    raw = _raw(located)
    if over is None:
        if raw is not None:
            raise ToolFailure("CONFLICT", f"{located.shown} exists by now: read it first.")
        return None
    if raw is None:
        raise ToolFailure("CONFLICT", f"{located.shown} is gone: somebody removed it.")
    if decoded(raw, located).digest != over.digest:
        raise ToolFailure("CONFLICT", f"{located.shown} has changed meanwhile: read it again, then change it.")
    return raw


def _put(
    located: Located, content: bytes, raw: Raw | None, still: Callable[[], object], mode: int | None, *, other: str
) -> None:
    with folder_of(located, make=raw is None) as (folder, name):
        # What the user's umask gives a new file, is asked of the system by making one.
        descriptor = os.open(other, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                usual = os.fstat(descriptor).st_mode & 0o7777
                os.fchmod(descriptor, 0o600)
                file.write(content)
                if raw is not None:
                    with contextlib.suppress(PermissionError):
                        os.fchown(descriptor, raw.uid, raw.gid)
                if mode is None:
                    mode = usual if raw is None else raw.mode
                os.fchmod(descriptor, mode)
                file.flush()
                os.fsync(descriptor)
            still()
            if raw is None:
                _link(other, name, folder, located)
            else:
                os.replace(other, name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(other, dir_fd=folder)


def _link(other: str, name: str, folder: int, located: Located) -> None:
    """Give a new file its name, unless somebody else has taken it."""
    try:
        os.link(other, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        raise ToolFailure("CONFLICT", f"{located.shown} exists by now: read it first.") from None
    except OSError:
        # File systems without hard links: the check a moment ago must do.
        os.replace(other, name, src_dir_fd=folder, dst_dir_fd=folder)


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
