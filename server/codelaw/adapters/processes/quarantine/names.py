"""Names that a command may have made, looked for from folders that were opened before it, over no link (S-8)."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from codelaw.adapters.processes.path_fds import folder_below, mode_at
from codelaw.adapters.processes.quarantine.refs import LARGEST_FILE, RefsBefore
from codelaw.adapters.processes.rules.new_repositories import is_bare
from codelaw.adapters.processes.rules.profile import WatchedName

MOST_ENTRIES = 2_000
"""Entries of a new folder that are held against the refs."""

Found = tuple[int, str, Path]
"""An open folder, the name of an entry, and its path."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name below an open folder."""

    watched: WatchedName
    root: int
    """The descriptor of the folder; whoever opened it closes it."""
    bare: bool = False
    """It counts only where it makes the folder a repository by what lies in it."""

    @property
    def sign(self) -> str:
        """The path without which there is nothing to be found."""
        return self.watched.missing or str(self.watched.path)

    @property
    def parts(self) -> tuple[str, ...]:
        above = str(self.watched.root).rstrip("/")
        return tuple(str(self.watched.path)[len(above) + 1 :].split("/"))

    @contextmanager
    def found(self) -> Generator[Found | None]:
        """What was made, and the open folder that it lies in; None where there is nothing.

        A link on the way is what was made: it may lead somewhere for others alone, as those below `/proc/self` do.
        """
        with ExitStack() as stack:
            yield None if self.bare and not is_bare(self.root) else self._found(stack)

    def _found(self, stack: ExitStack) -> Found | None:
        folder = self.root
        for number, part in enumerate(self.parts, 1):
            mode = mode_at(folder, part)
            if mode is not None and (stat.S_ISLNK(mode) or number == len(self.parts)):
                return folder, part, self.watched.root.joinpath(*self.parts[:number])
            try:
                folder = stack.enter_context(folder_below(folder, [part]))
            except OSError:
                break
        return None


def strays(folder: int, name: str, path: Path, before: RefsBefore) -> list[tuple[str, ...]]:
    """What of a new entry no ref held before, as parts below `folder`; the whole entry where none of it was held."""
    found, held = _strays(folder, name, path, before, [MOST_ENTRIES])
    return found if held else [(name,)]


def _strays(
    folder: int, name: str, path: Path, before: RefsBefore, left: list[int]
) -> tuple[list[tuple[str, ...]], bool]:
    left[0] -= 1
    mode = mode_at(folder, name)
    if left[0] < 0 or mode is None or not before.tracks(path):
        return [(name,)], False
    if stat.S_ISREG(mode):
        held = before.holds(path, _content(folder, name))
        return ([] if held else [(name,)]), held
    try:
        with folder_below(folder, [name]) as here:
            inner = [_strays(here, one, path / one, before, left) for one in os.listdir(here)]  # noqa: PTH208 - as above
    except OSError:
        return [(name,)], False
    if not any(held for _, held in inner):
        return [(name,)], False
    return [(name, *parts) for found, _ in inner for parts in found], True


def _content(folder: int, name: str) -> bytes | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError:
        return None
    return content if len(content) <= LARGEST_FILE else None
