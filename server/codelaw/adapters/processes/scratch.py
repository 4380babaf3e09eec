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
from pathlib import Path

from codelaw.adapters.processes.homes import GIT_SETTINGS, git_settings
from codelaw.adapters.workspace.texts import small_text

_PREFIX = "codelaw-sandbox-"
_LOCK = "lock"
_MOST_SETTINGS = 1 << 20


class Scratch:
    """Made at its first use; every method touches the disk."""

    def __init__(self) -> None:
        self._root: Path | None = None
        self._lock = -1
        self._making = threading.Lock()
        self._closed = False

    def root(self) -> Path:
        """The folder that holds all others.

        Raises:
            OSError: it cannot be made, or the session has ended.
        """
        with self._making:
            if self._root is None:
                if self._closed:
                    raise OSError("the session has ended")
                base = Path(os.path.realpath(tempfile.gettempdir()))
                _remove_left_over(base)
                root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
                self._lock = os.open(root / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
                fcntl.flock(self._lock, fcntl.LOCK_EX)
                (root / "empty").touch(mode=0o400)
                (root / "nothing").mkdir(mode=0o500)
                self._root = root
            return self._root

    def empty_file(self) -> Path:
        return self.root() / "empty"

    def empty_folder(self) -> Path:
        return self.root() / "nothing"

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
                    (folder / name).write_text(git_settings(text), "utf-8", "surrogateescape")
        return folder

    def close(self) -> None:
        """Remove everything."""
        with self._making:
            self._closed = True
            if self._root is not None:
                shutil.rmtree(self._root, ignore_errors=True)
                os.close(self._lock)
                self._root = None


def _remove_left_over(base: Path) -> None:
    """Remove the folders of sessions that live no more: nobody holds their lock."""
    for folder in base.glob(f"{_PREFIX}*"):
        try:
            facts = folder.lstat()
            if facts.st_uid != os.geteuid() or folder.is_symlink():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # another user's, or one that is being made
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
