"""Replacing a file in one step (T-5, F-3)."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from codelaw.adapters.workspace.texts import Raw, decoded, encoded, read_raw
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located
from codelaw.tools.paths import in_git_folder


def replace_file(located: Located, text: str, over: FileText | None) -> FileText:
    """Write `text`, made from `over`, which must still be what is there; see `Workspace.write`.

    Raises:
        ToolFailure: CONFLICT, ACCESS_DENIED, and what encoding raises.
    """
    if not located.path.is_absolute():
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} is not a file yet: ask the user to save it.")
    if in_git_folder(located):
        raise ToolFailure("ACCESS_DENIED", f"{located.shown}: `.git` is not written by file tools.")
    raw = _unchanged(located, over)
    if raw is not None and not os.access(located.path, os.W_OK):
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} is read-only.")
    content = encoded(text, over, raw, located)
    try:
        _put(located, content, over, raw)
    except OSError as error:
        code = "ACCESS_DENIED" if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS} else "EXECUTION_ERROR"
        raise ToolFailure(code, f"{located.shown} cannot be written: {error.strerror}.") from error
    return decoded(read_raw(located), located)


def _unchanged(located: Located, over: FileText | None) -> Raw | None:
    """What is there now, when it is still `over`."""
    try:
        raw = read_raw(located)
    except ToolFailure as missing:
        if missing.code != "NOT_FOUND":
            raise
        raw = None
    if over is None:
        if raw is not None:
            raise ToolFailure("CONFLICT", f"{located.shown} exists by now: read it first.")
        return None
    if raw is None:
        raise ToolFailure("CONFLICT", f"{located.shown} is gone: somebody removed it.")
    if decoded(raw, located).digest != over.digest:
        raise ToolFailure("CONFLICT", f"{located.shown} has changed meanwhile: read it again, then change it.")
    return raw


def _put(located: Located, content: bytes, over: FileText | None, raw: Raw | None) -> None:
    folder = located.path.parent
    folder.mkdir(parents=True, exist_ok=True)
    if Path(os.path.realpath(folder)) != folder:
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} has moved while it was written.")
    descriptor, name = tempfile.mkstemp(prefix=".codelaw-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if raw is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, raw.uid, raw.gid)
            os.fchmod(descriptor, _new_file_mode(folder) if raw is None else raw.mode)
            file.flush()
            os.fsync(descriptor)
        _unchanged(located, over)
        if over is None:
            _link(name, located)
        else:
            Path(name).replace(located.path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()


def _link(name: str, located: Located) -> None:
    """Give a new file its name, unless somebody else has taken it."""
    try:
        os.link(name, located.path)
    except FileExistsError:
        raise ToolFailure("CONFLICT", f"{located.shown} exists by now: read it first.") from None
    except OSError:
        # File systems without hard links: the check a moment ago must do.
        Path(name).replace(located.path)


def _new_file_mode(folder: Path) -> int:
    """What the user's umask gives a new file; asked of the system by making one, which no other thread sees."""
    probe = folder / f".codelaw-{os.urandom(6).hex()}"
    descriptor = os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    try:
        return os.fstat(descriptor).st_mode & 0o7777
    finally:
        os.close(descriptor)
        probe.unlink()
