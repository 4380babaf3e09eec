"""What commands of this server watch, written down while they run: a killed server's next one takes it over (S-8)."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codelaw.adapters.texts import small_text

SLACK = 5.0
"""Seconds after the last mark of life in which what was made is still taken for the command's."""
_LARGEST = 4 << 20
_PREFIX = "."
"""Of the name of a note that is not locked yet."""
_MOST_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class Note:
    """A file that is locked as long as its server lives."""

    file: Path
    descriptor: int

    def alive(self) -> None:
        with contextlib.suppress(OSError):
            os.utime(self.descriptor)

    def end(self) -> None:
        """The command has ended, and nothing is left of it."""
        self.file.unlink(missing_ok=True)
        os.close(self.descriptor)


def begin(folder: Path, said: Mapping[str, Any]) -> Note:
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
def dead(folder: Path) -> Generator[list[tuple[dict[str, Any], float]]]:
    """What commands of killed servers watched, and when these were last alive; forgotten afterwards."""
    found: list[tuple[dict[str, Any], float]] = []
    locked: list[tuple[Path, int]] = []
    for file in sorted(folder.glob("[0-9a-f]*")) if folder.is_dir() else ():
        with contextlib.suppress(OSError, ValueError):
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)  # its server lives
                continue
            locked.append((file, descriptor))
            found.append((json.loads(small_text(file, _LARGEST) or "{}"), os.fstat(descriptor).st_mtime))
    try:
        yield found
    finally:
        for file, descriptor in locked:
            file.unlink(missing_ok=True)
            os.close(descriptor)


def changed(path: Path) -> float:
    """When something of an entry was changed last, in a way that nobody can set back."""
    newest = 0.0
    waiting, left = [path], _MOST_LOOKED_AT
    while waiting and left > 0:
        at, left = waiting.pop(), left - 1
        with contextlib.suppress(OSError):
            facts = at.lstat()
            newest = max(newest, facts.st_ctime)
            if stat.S_ISDIR(facts.st_mode):
                waiting += at.iterdir()
    return newest
