"""Names that are taken while sandboxed commands run, so that no command can take them (S-4).

A mount needs something to lie on. For a folder that must not come into being that is an empty folder, and for a git
folder's `commondir` a file that says what holds without it; both are gone when the last command has ended.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from codelaw.adapters.processes.repositories import SAME_FOLDER


class Placeholders:
    """Counts who needs a name; used from threads, and touches the disk."""

    def __init__(self) -> None:
        self._users: Counter[Path] = Counter()
        self._lock = threading.Lock()

    def take(self, folders: Sequence[Path], commons: Sequence[Path]) -> list[Path]:
        """Put the names there; give back the result to `release`.

        Raises:
            OSError: one cannot be made.
        """
        taken: list[Path] = []
        with self._lock:
            try:
                for folder in folders:
                    with contextlib.suppress(FileExistsError):
                        folder.mkdir()
                    self._users[folder] += 1
                    taken.append(folder)
                for git in commons:
                    file = git / "commondir"
                    with contextlib.suppress(FileExistsError):
                        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
                        try:
                            os.write(descriptor, SAME_FOLDER.encode())
                        finally:
                            os.close(descriptor)
                    self._users[file] += 1
                    taken.append(file)
            except OSError:
                self._give_back(taken)
                raise
        return taken

    def release(self, taken: Sequence[Path]) -> None:
        """Take away what nobody needs any more; what somebody else has filled meanwhile stays."""
        with self._lock:
            self._give_back(taken)

    def wanted(self, path: Path) -> bool:
        """Whether a name is there for our sake only."""
        with self._lock:
            return self._users[path] > 0

    def _give_back(self, taken: Sequence[Path]) -> None:
        for path in taken:
            self._users[path] -= 1
            if self._users[path] > 0:
                continue
            del self._users[path]
            with contextlib.suppress(OSError):
                if path.name != "commondir":
                    path.rmdir()
                elif path.read_bytes() == SAME_FOLDER.encode():
                    path.unlink()
