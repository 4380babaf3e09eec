"""Names that a command may have made, looked for from folders that were opened before it, over no link (S-8)."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codelaw.adapters.processes.quarantine.refs import LARGEST_FILE, Before
from codelaw.adapters.processes.rules.profile import Watched

MOST_ENTRIES = 2_000
"""Entries of a new folder that are held against the refs."""
OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PARTS = ("HEAD", "objects", "refs")
"""What makes a folder a repository, whose settings git obeys."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name below an open folder."""

    watched: Watched
    root: int
    """The descriptor of the folder; whoever opened it closes it."""
    parts: tuple[str, ...]

    @contextmanager
    def found(self) -> Generator[tuple[int, str, Path] | None]:
        """The open folder that what was made lies in, its name there, and its path; None where there is nothing.

        A link on the way that leads to something is what was made.
        """
        at = os.dup(self.root)
        try:
            for number, part in enumerate(self.parts):
                path = self.watched.root.joinpath(*self.parts[: number + 1])
                mode = _mode(at, part)
                last = number == len(self.parts) - 1
                if mode is not None and stat.S_ISLNK(mode) and not last:
                    mode = mode if _leads(at, "/".join(self.parts[number:])) else None
                    last = True
                if mode is None or last:
                    yield None if mode is None else (at, part, path)
                    return
                try:
                    below = os.open(part, OPEN, dir_fd=at)
                except OSError:
                    yield None
                    return
                os.close(at)
                at = below
        finally:
            os.close(at)


@contextmanager
def chains(names: Sequence[Name]) -> Generator[list[tuple[Name, int, str]]]:
    """For each name the open folders on the way to it, as far as there are any, each with the next part."""
    opened_by: dict[tuple[int, tuple[str, ...]], int] = {}
    found: list[tuple[Name, int, str]] = []
    try:
        for name in names:
            at = name.root
            for number, part in enumerate(name.parts):
                key = name.root, name.parts[:number]
                if number and key not in opened_by:
                    try:
                        opened_by[key] = os.open(name.parts[number - 1], OPEN, dir_fd=at)
                    except OSError:
                        opened_by[key] = -1
                at = opened_by[key] if number else at
                if at < 0:
                    break
                found.append((name, at, part))
        yield found
    finally:
        for descriptor in opened_by.values():
            if descriptor >= 0:
                os.close(descriptor)


def strays(folder: int, name: str, path: Path, before: Before) -> list[tuple[str, ...]]:
    """What of a new entry no ref held before, as parts below `folder`; the whole entry where none of it was held."""
    found, held = _strays(folder, name, path, before, [MOST_ENTRIES])
    return found if held else [(name,)]


def _strays(folder: int, name: str, path: Path, before: Before, left: list[int]) -> tuple[list[tuple[str, ...]], bool]:
    left[0] -= 1
    mode = _mode(folder, name)
    if left[0] < 0 or mode is None:
        return [(name,)], False
    if stat.S_ISREG(mode):
        held = _held(folder, name, path, before)
        return ([] if held else [(name,)]), held
    if not stat.S_ISDIR(mode) or not before.tracks(path):
        return [(name,)], False
    try:
        here = os.open(name, OPEN, dir_fd=folder)
    except OSError:
        return [(name,)], False
    try:
        names = os.listdir(here)  # noqa: PTH208 - of a descriptor
        inner = [_strays(here, one, path / one, before, left) for one in names]
    finally:
        os.close(here)
    if not any(held for _, held in inner):
        return [(name,)], False
    return [(name, *parts) for found, _ in inner for parts in found], True


def _held(folder: int, name: str, path: Path, before: Before) -> bool:
    if not before.tracks(path):
        return False
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError:
        return False
    return len(content) <= LARGEST_FILE and before.holds(path, content)


@contextmanager
def above(folder: int, parts: tuple[str, ...]) -> Generator[int]:
    """The open folder that the last of `parts` lies in.

    Raises:
        OSError: it is gone, or a link by now.
    """
    at = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = os.open(part, OPEN, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def is_bare(folder: int) -> bool:
    """Whether an open folder holds what makes it a repository."""
    return all(_mode(folder, name) is not None for name in _PARTS)


def bare_parts() -> tuple[str, ...]:
    """The names by which a folder becomes one."""
    return _PARTS


def opened(path: Path) -> int | None:
    """A descriptor of a folder under this very name; None where there is none."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, OPEN)
        if os.path.realpath(path) == str(path):
            return descriptor
        os.close(descriptor)
    return None


def _mode(folder: int, name: str) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return None


def _leads(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder)
    except OSError:
        return False
    return True
