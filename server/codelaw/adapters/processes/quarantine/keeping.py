"""Where lies what was taken away from a command: in a folder that no command sees, until the user has decided (S-8).

Nothing is lost: an entry is moved as it is, or copied where it lies on another file system, and no link is followed.
What commands of this server watch is written down while they run: a killed server's next one takes it over.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.path_fds import folder_at, folder_below, mode_at, unheld
from codelaw.adapters.texts import small_text

SLACK = 5.0
"""Seconds after the last mark of life in which what was made is still taken for the command's."""
_LARGEST_NOTE = 4 << 20
_PREFIX = "."
"""Of the name of a note that is not locked yet."""
_MOST_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class Note:
    """A file that is locked as long as its server lives."""

    file: Path
    descriptor: int

    def alive(self) -> None:
        with suppress(OSError):
            os.utime(self.descriptor)

    def end(self) -> None:
        """The command has ended, and nothing is left of it."""
        self.file.unlink(missing_ok=True)
        os.close(self.descriptor)


def begin_note(folder: Path, said: Mapping[str, Any]) -> Note:
    """Write down what one command watches.

    Raises:
        OSError: the folder cannot be written.
    """
    name = os.urandom(8).hex()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new, file = folder / f"{_PREFIX}{name}", folder / name
    descriptor = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.write(descriptor, json.dumps(said).encode())
    new.rename(file)
    return Note(file, descriptor)


@contextmanager
def dead_notes(folder: Path) -> Generator[list[tuple[dict[str, Any], float]]]:
    """What commands of killed servers watched, and when these were last alive; forgotten afterwards."""
    found: list[tuple[dict[str, Any], float]] = []
    with ExitStack() as held:
        for file in sorted(folder.glob("[0-9a-f]*")):
            with suppress(OSError, ValueError):  # its server lives
                alive = os.fstat(held.enter_context(unheld(file))).st_mtime
                held.callback(file.unlink, missing_ok=True)
                found.append((json.loads(small_text(file, _LARGEST_NOTE) or "{}"), alive))
        yield found


def last_change(path: Path) -> float:
    """When something of an entry was changed last, in a way that nobody can set back."""
    newest = 0.0
    waiting, left = [path], _MOST_LOOKED_AT
    while waiting and left > 0:
        at, left = waiting.pop(), left - 1
        with suppress(OSError):
            facts = at.lstat()
            newest = max(newest, facts.st_ctime)
            if stat.S_ISDIR(facts.st_mode):
                waiting += at.iterdir()
    return newest


TAKEN = "codelaw-taken-"
"""What the name of an entry begins with that cannot be kept elsewhere."""
DAYS = 30
"""That an entry is kept for at least, unless there are too many."""
MOST_ENTRIES = 500
MOST_NAMED = 200
"""Files of an entry that the user is shown."""
MOST_SHOWN = 20
"""Of these, those of which the beginning is shown."""
LONGEST_SHOWN = 1 << 20
SHOWN_CHARACTERS = 1_500
"""Of each of these files."""


class Keeping:
    """The quarantine in a folder of codelaw's own; used from threads, touches the disk."""

    def __init__(self, folder: Path) -> None:
        """Lets go of what is old."""
        self.folder = folder
        for number, about in enumerate(sorted(folder.glob("*/about.json"), reverse=True)):
            with suppress(FileNotFoundError):  # another server lets go of it
                if number >= MOST_ENTRIES or time.time() - about.stat().st_mtime > DAYS * 86_400:
                    shutil.rmtree(about.parent, ignore_errors=True)

    def take(self, parent: int, name: str, path: Path) -> Path | None:
        """Move the entry `name` of an open folder here; `path` is how it is called. None where it is gone already.

        Where nothing can be kept, as on a full disk, it gets a name that nobody obeys where it lies.

        Raises:
            OSError: it cannot be moved, and lies where it lay.
        """
        entry = self.folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(4).hex()}"
        with _writable(parent):
            try:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                entry.mkdir(mode=0o700)
                with folder_at(entry) as into:
                    _move(parent, name, into, name)
            except OSError:
                shutil.rmtree(entry, ignore_errors=True)
                if mode_at(parent, name) is None:
                    return None
                other = f"{TAKEN}{os.urandom(4).hex()}"
                os.rename(name, other, src_dir_fd=parent, dst_dir_fd=parent)
                return path.with_name(other)
        with suppress(OSError):  # then it cannot be brought back
            (entry / "about.json").write_text(json.dumps({"path": str(path), "at": time.time()}), "ascii")
        return entry / name

    def bring_back(self, place: Path) -> str:
        """Put an entry back where it lay; why not, in a sentence, where that cannot be."""
        about = small_text(place.parent / "about.json", 1 << 16)
        if place.parent.parent != self.folder or about is None:
            return f"{place} is not in the quarantine any more."
        path = Path(json.loads(about)["path"])
        try:
            _part(place)
            with folder_at(path.parent) as above, folder_at(place.parent) as source:
                if os.path.realpath(path.parent) != str(path.parent):
                    return f"{path.parent} has become a link."
                if mode_at(above, path.name) is not None:
                    return f"The name {path} is taken again."
                _move(source, place.name, above, path.name)
            for one in [path, *path.rglob("*")]:
                if not one.is_symlink():
                    one.chmod(one.stat().st_mode)  # by the time of its last change it is the user's from now on
        except OSError as error:
            return f"{path} cannot be put back ({error.strerror})."
        shutil.rmtree(place.parent, ignore_errors=True)
        return ""

    def files(self, place: Path) -> dict[str, str]:
        """What an entry holds, for the user to judge: its files by name, with the beginnings of the first ones."""
        with suppress(OSError):  # nor can it be brought back
            _part(place)
        files = [place]
        if place.is_dir() and not place.is_symlink():
            files = sorted(path for path in place.rglob("*") if path.is_symlink() or not path.is_dir())
        found: dict[str, str] = {}
        for number, file in enumerate(files[:MOST_NAMED]):
            text = ""
            if file.is_symlink():
                text = f"-> {os.readlink(file)}"  # noqa: PTH115 - as it is spelt
            elif number < MOST_SHOWN:
                content = small_text(file, LONGEST_SHOWN)
                text = "(no text, or a long one)" if content is None else content[:SHOWN_CHARACTERS]
            found[file.relative_to(place.parent).as_posix()] = text
        return found


@contextmanager
def _writable(folder: int) -> Generator[None]:
    """An open folder can be written meanwhile, also where a command has locked it to keep what it made there."""
    mode = stat.S_IMODE(os.fstat(folder).st_mode)
    locked = mode & stat.S_IRWXU != stat.S_IRWXU
    if locked:
        with suppress(OSError):  # it is somebody else's, and others may write it
            os.fchmod(folder, mode | stat.S_IRWXU)
    try:
        yield
    finally:
        if locked:
            with suppress(OSError):
                os.fchmod(folder, mode)


def _part(top: Path) -> None:
    """Give files that have another name elsewhere a content of their own: by that name a command could change them.

    Raises:
        OSError: one cannot be read.
    """
    waiting = [top]
    while waiting:
        path = waiting.pop()
        facts = path.lstat()
        if stat.S_ISDIR(facts.st_mode):
            if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
                path.chmod(0o700)
            waiting += path.iterdir()
        elif stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
            copy = path.with_name(os.urandom(8).hex())
            shutil.copyfile(path, copy)
            copy.chmod(stat.S_IMODE(facts.st_mode))
            copy.replace(path)


def _move(source: int, name: str, target: int, new: str) -> None:
    try:
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
    except PermissionError:
        # A folder that moves is written, as its `..` changes.
        if not stat.S_ISDIR(mode_at(source, name) or 0) or sys.platform != "linux":
            raise
        descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)  # noqa: PTH101 - it stands for the folder, not for a name
        finally:
            os.close(descriptor)
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, name, target, new)
        if stat.S_ISDIR(mode_at(source, name) or 0):
            shutil.rmtree(name, dir_fd=source)
        else:
            os.unlink(name, dir_fd=source)


def _copy(source: int, name: str, target: int, new: str) -> None:
    mode = os.stat(name, dir_fd=source, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(name, dir_fd=source), new, dir_fd=target)
    elif stat.S_ISDIR(mode):
        os.mkdir(new, 0o700, dir_fd=target)
        with folder_below(source, [name]) as here, folder_below(target, [new]) as there:
            for inner in os.listdir(here):  # noqa: PTH208 - of a descriptor
                _copy(here, inner, there, inner)
            os.fchmod(there, stat.S_IMODE(mode) | 0o700)
    elif stat.S_ISREG(mode):
        here = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=source)
        with os.fdopen(here, "rb") as reading:
            there = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=target)
            with os.fdopen(there, "wb") as writing:
                shutil.copyfileobj(reading, writing)
                os.fchmod(writing.fileno(), stat.S_IMODE(mode))
    # Of a pipe, a socket or a device there is nothing to keep.
