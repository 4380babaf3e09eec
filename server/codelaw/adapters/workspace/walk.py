"""Going through the files of a folder, within bounds (T-3, S-6)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from codelaw.adapters.workspace.ignore import IgnoreTree


@dataclass(slots=True)
class WalkBudget:
    """How far a walk may go; `stopped` says why it ended early."""

    visits: int
    seconds: float
    stopped: str = ""
    _deadline: float = field(init=False)
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.seconds
        self._left = self.visits

    def spend(self) -> bool:
        """Count one visit; False when there is nothing left."""
        self._left -= 1
        if self._left < 0:
            self.stopped = f"stopped after {self.visits} entries"
        elif self._left % 64 == 0 and time.monotonic() > self._deadline:
            self.stopped = f"stopped after {self.seconds:g} s"
        return not self.stopped

    def late(self) -> bool:
        """Whether the time is over."""
        if time.monotonic() > self._deadline:
            self.stopped = f"stopped after {self.seconds:g} s"
        return bool(self.stopped)


def mtime_of(entry: os.DirEntry[str]) -> float:
    """When a file was changed; 0 where its folder can be listed and not be looked into."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def files_below(start: str, ignores: IgnoreTree, budget: WalkBudget) -> Iterator[os.DirEntry[str]]:
    """The regular files below a folder, ignored and hidden ones and symlinks left out."""
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            # A folder that cannot be listed has nothing to show; `rg` goes on as well.
            continue
        level = ignores.level(folder)
        for entry in entries:
            if not budget.spend():
                return
            if entry.is_symlink():
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if level.skips(entry.path, entry.name, folder=is_folder, hidden=False, ignored=False):
                continue
            if is_folder:
                waiting.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry
