"""Which of many names lie in a folder, without asking for each of them (S-4).

What was seen of a folder holds until the folder changes, which shows in its `ctime`: nobody can set that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator

from codelaw.domain.safety.obeyed import folded

YOUNG = 50_000_000
"""Nanoseconds in which a folder may change twice with the same time."""
_MOST_ENTRIES = 2_000
"""In a folder with more of them each name is asked for."""
_MOST_KNOWN = 10_000

Stamp = tuple[int, ...]


class Names:
    """Relative paths that are looked for below a folder, as a tree."""

    def __init__(self, paths: Iterable[str]) -> None:
        rest: dict[str, list[str]] = {}
        ends: list[str] = []
        for path in paths:
            head, _, tail = path.partition("/")
            if tail:
                rest.setdefault(head, []).append(tail)
            else:
                ends.append(head)
        self.ends = frozenset(ends)
        self.below = {head: Names(tails) for head, tails in rest.items()}
        self.heads = self.ends.union(rest)


class Listings:
    """Used from threads, one at a time; touches the disk."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, frozenset[str]], tuple[Stamp, frozenset[str]]] = {}

    def present(self, folder: str, names: Names) -> Iterator[str]:
        """Paths of `names` that may lie below `folder`; none that does is left out."""
        for name in self.among(folder, names.heads):
            path = f"{folder.rstrip('/')}/{name}"
            if name in names.ends:
                yield path
            if name in names.below:
                yield from self.present(path, names.below[name])

    def among(self, folder: str, names: frozenset[str]) -> frozenset[str]:
        """Those of `names` that a folder may have, under whatever spelling a file system takes for the same."""
        try:
            now = stamp(folder, follow=True)
            known = self._seen.get((folder, names))
            if known is not None and known[0] == now:
                return known[1]
            found = _among(folder, names)
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()
        except (OSError, ValueError):
            return names
        if time.time_ns() - max(now[2:]) >= YOUNG:
            if len(self._seen) >= _MOST_KNOWN:
                self._seen.clear()
            self._seen[folder, names] = now, found
        return found


def stamp(folder: str, *, follow: bool = False) -> Stamp:
    """What changes when an entry of a folder does; its last two are times in nanoseconds.

    Raises:
        OSError: it cannot be looked at.
    """
    facts = os.stat(folder, follow_symlinks=follow)  # noqa: PTH116 - thousands of them
    return facts.st_ino, facts.st_dev, facts.st_mtime_ns, facts.st_ctime_ns


def _among(folder: str, names: frozenset[str]) -> frozenset[str]:
    spelled: set[str] = set()
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= _MOST_ENTRIES:
                return names
            spelled.add(entry.name.lower().rstrip(". ") if entry.name.isascii() else folded(entry.name))
    return frozenset(name for name in names if name.lower() in spelled)
