"""The private folders that sandboxed commands of one session see for the home and the temporary folders (S-4).

They outlive a command, as what one leaves in `/tmp` the next one looks for there, and end with the session. What a
server that was killed left behind is removed by the next one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from codelaw.adapters.processes.path_fds import unheld
from codelaw.adapters.processes.rules.areas import within
from codelaw.adapters.processes.rules.git_settings import kept_settings
from codelaw.adapters.processes.rules.homes import GIT_SETTINGS
from codelaw.adapters.processes.rules.profile import TEMPORARY, Profile
from codelaw.adapters.processes.sandboxes.means import environment_inside
from codelaw.adapters.texts import small_text

_PREFIX = "codelaw-sandbox-"
_LOCK = "lock"
_MOST_SETTINGS = 1 << 20
_ELSEWHERE = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - each is made for this, with a name nobody can guess
"""Where the private folders lie when the usual place for temporary files is in a workspace."""


class Scratch:
    """Made at its first use; every method touches the disk."""

    def __init__(self, folders: Callable[[], Sequence[Path]] = list) -> None:
        """`folders` are those that commands write: what the sandbox is made from never lies there."""
        self._folders = folders
        self._root: Path | None = None
        self._locks: dict[Path, int] = {}
        self._making = threading.Lock()
        self._closed = False

    def root(self) -> Path:
        """The folder that holds all others.

        Raises:
            OSError: it cannot be made, or the session has ended.
        """
        folders = [Path(os.path.realpath(folder)) for folder in self._folders()]
        with self._making:
            if self._root is None or within(self._root, folders):
                if self._closed:
                    raise OSError("the session has ended")
                base = _base(folders)
                _remove_left_over(base)
                root, lock = _make_root(base)
                (root / "empty").touch(mode=0o400)
                self._locks[root] = lock
                self._root = root
            return self._root

    def empty_file(self) -> Path:
        return self.root() / "empty"

    def private(self) -> Path:
        """What holds all that commands see in stead of other folders."""
        return self.root() / "seen"

    def in_stead_of(self, place: Path) -> Path:
        """What is seen where `place` would be."""
        folder = self.root() / "seen" / (str(place).strip("/").replace("/", "_") or "root")
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o1777 if place.name == "tmp" else 0o700)
            for name in GIT_SETTINGS:
                text = small_text(place / name, _MOST_SETTINGS)
                if text is not None:
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).write_text(kept_settings(text), "utf-8", "surrogateescape")
        return folder

    def environment(self, environment: Mapping[str, str], profile: Profile) -> dict[str, str]:
        """The variables of a command, where nothing can be laid over the real home and the real temporary folder."""
        home = Path(os.path.realpath(environment.get("HOME", "/")))
        kept = {
            **environment_inside(environment),
            "TMPDIR": str(self.in_stead_of(Path(os.path.realpath(TEMPORARY[0])))),
        }
        return {**kept, "HOME": str(self.in_stead_of(home))} if home in profile.inside("private") else kept

    def close(self) -> None:
        """Remove everything."""
        with self._making:
            self._closed = True
            for root, lock in self._locks.items():
                shutil.rmtree(root, ignore_errors=True)
                os.close(lock)
            self._locks = {}
            self._root = None


def _make_root(base: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor of its lock, which is held."""
    while True:
        root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
        lock = os.open(root / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.lexists(root / _LOCK):
            return root, lock
        os.close(lock)  # a server that was starting took it for one that had been left behind


def _base(folders: Sequence[Path]) -> Path:
    """A place for temporary files that lies in none of the folders.

    Raises:
        OSError: there is none.
    """
    for name in (tempfile.gettempdir(), *_ELSEWHERE):
        base = Path(os.path.realpath(name))
        if base.is_dir() and os.access(base, os.W_OK | os.X_OK) and not within(base, folders):
            return base
    raise OSError(
        "every place for temporary files lies in the workspace, where commands could change what the sandbox is made"
        " from: open a smaller folder, or set TMPDIR to one outside of it"
    )


def _remove_left_over(base: Path) -> None:
    """Remove the folders of sessions that live no more: nobody holds their lock."""
    for folder in base.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, or one that is being made
            if folder.lstat().st_uid == os.geteuid() and not folder.is_symlink():
                with unheld(folder / _LOCK):
                    shutil.rmtree(folder, ignore_errors=True)
