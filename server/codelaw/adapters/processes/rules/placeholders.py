"""Names that are taken while sandboxed commands run, so that no command can take them (S-4).

A mount needs something to lie on. It is gone when the last command has ended; what a server that was killed left is
taken over by the next one, when it is as empty as it was. Of those that nobody writes to, one is made for a command and
the others are further names of it, as a file system takes its time to make and remove a file.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from codelaw.adapters.processes.rules.profile import Held
from codelaw.adapters.texts import small_text

_NEVER_EDITED = frozenset({"commondir", "alternates"})
"""Git replaces them by a rename, and nobody else writes them."""


class Placeholders:
    """Counts who needs a name; used from threads, and touches the disk.

    Who needs names of a folder holds a shared lock for it, so that other servers leave them there: a name that goes is
    free at once, also for the commands of others.
    """

    def __init__(self, locks: Path | None = None) -> None:
        """`locks` is a folder of ours for the locks; without one no other server is known."""
        self._locks = locks
        self._users: Counter[Path] = Counter()
        self._folders: dict[Path, int] = {}
        """By folder the descriptor of its lock, -1 where there is none."""
        self._left: dict[Path, list[Held]] = {}
        """By folder the names that nobody here needs any more."""
        self._lock = threading.Lock()

    def take(self, names: Sequence[Held]) -> list[Held]:
        """Put something harmless at the names; give back the result to `release`.

        Raises:
            OSError: one cannot be made.
        """
        taken: list[Held] = []
        with self._lock, contextlib.ExitStack() as making:
            made = _Made(making)
            try:
                for held in names:
                    if held.path.parent not in self._folders:
                        self._folders[held.path.parent] = self._locked(held.path.parent)
                    self._users[held.path] += 1
                    taken.append(held)
                    with contextlib.suppress(FileExistsError):
                        if not made.linked(held):
                            _make(held)
                            made.note(held)
            except OSError:
                self._give_back(taken)
                raise
        return taken

    def release(self, taken: Sequence[Held]) -> None:
        """Take away what nobody needs any more; what somebody else has filled meanwhile stays."""
        with self._lock:
            self._give_back(taken)

    def _give_back(self, taken: Sequence[Held]) -> None:
        for held in taken:
            self._users[held.path] -= 1
            if self._users[held.path] == 0:
                del self._users[held.path]
                self._left.setdefault(held.path.parent, []).append(held)
        needed = {path.parent for path in self._users}
        for folder in [folder for folder in self._folders if folder not in needed]:
            lock = self._folders.pop(folder)
            if lock < 0 or _alone(lock):
                for held in self._left.pop(folder, ()):
                    with contextlib.suppress(OSError):
                        _remove(held)
            self._left.pop(folder, None)  # the last server takes them away, as it needs the same names
            if lock >= 0:
                os.close(lock)

    def _locked(self, folder: Path) -> int:
        if self._locks is None:
            return -1
        name = self._locks / f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]}.lock"
        try:
            self._locks.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(name, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return -1  # a data folder that cannot be written: then other servers cannot work with it either
        fcntl.flock(lock, fcntl.LOCK_SH)
        return lock


def _alone(lock: int) -> bool:
    """Whether no other server holds the lock; from then on others wait until it is closed."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class _Made:
    """What was made for one command and may have further names, by descriptors that no rename leads astray."""

    def __init__(self, closing: contextlib.ExitStack) -> None:
        self._closing = closing
        self._open: dict[tuple[str, bytes, str], int] = {}

    def note(self, held: Held) -> None:
        """Remember what has just been made."""
        kind = _shared(held)
        if kind is None or kind in self._open:
            return
        with contextlib.suppress(OSError):
            descriptor = os.open(held.path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            self._closing.callback(os.close, descriptor)
            # Somebody may have been there in between.
            if is_ours(held) and os.path.samestat(os.fstat(descriptor), held.path.lstat()):
                self._open[kind] = descriptor

    def linked(self, held: Held) -> bool:
        """Whether the name could be made a further one; not so on another file system, or on one without links.

        Raises:
            FileExistsError: the name is taken.
        """
        descriptor = self._open.get(_shared(held) or ("", b"", ""))
        if descriptor is None:
            return False
        try:
            # With a folder's descriptor, which an absolute path has no use for, Python follows the first name.
            os.link(f"/proc/self/fd/{descriptor}", held.path, dst_dir_fd=descriptor, follow_symlinks=True)
        except FileExistsError:
            raise
        except (OSError, NotImplementedError):
            return False
        return True


def _shared(held: Held) -> tuple[str, bytes, str] | None:
    """What can be one file under several names; None for a file that somebody may come to edit in place.

    Files are shared within one repository and its submodules alone: who may write there for another server, whose
    workspace is a wider one, reaches no other repository by them. Of a socket there is nothing to write.
    """
    if held.kind == "socket":
        return "socket", b"", ""
    above, git, _ = str(held.path).partition("/.git/")
    if held.kind == "file" and held.path.name in _NEVER_EDITED and git:
        return held.path.name, held.content, above
    return None


def is_ours(held: Held) -> bool:
    """Whether what lies at the name is nothing but a placeholder, be it one of a server that was killed.

    Folders and files have the sticky bit, which nobody else gives to an empty one. Touches the disk.
    """
    try:
        facts = os.lstat(held.path)
        if held.kind == "socket" and not stat.S_ISSOCK(facts.st_mode):
            return False
        if facts.st_uid != os.geteuid():
            return False
        if held.kind == "socket":
            return stat.S_IMODE(facts.st_mode) == 0
        if held.kind == "folder":
            return (
                stat.S_ISDIR(facts.st_mode)
                and bool(facts.st_mode & stat.S_ISVTX)
                and not any(True for _ in held.path.iterdir())
            )
        marked = bool(facts.st_mode & stat.S_ISVTX) or bool(held.content)
        return marked and facts.st_size == len(held.content) and small_text(held.path, 4096) == held.content.decode()
    except OSError:
        return False


def _make(held: Held) -> None:
    if held.kind == "folder":
        held.path.mkdir()
        held.path.chmod(0o1755)
    elif held.kind == "socket":
        os.mknod(held.path, stat.S_IFSOCK)  # no bit of its mode is set: nobody else makes one like it
    else:
        descriptor = os.open(held.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
        try:
            os.write(descriptor, held.content)
            os.fchmod(descriptor, 0o1644)
        finally:
            os.close(descriptor)


def _remove(held: Held) -> None:
    if is_ours(held):
        if held.kind == "folder":
            held.path.rmdir()
        else:
            held.path.unlink()
