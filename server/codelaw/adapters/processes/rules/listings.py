"""Which of many names lie in a folder, without asking for each of them (S-4).

What was seen of a folder holds until the folder changes, which shows in its `ctime`: nobody can set that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

from codelaw.domain.safety.sensitive_files import folded

YOUNG = 50_000_000
"""Nanoseconds in which a folder may change twice with the same time."""
_MOST_ENTRIES = 2_000
"""In a folder with more of them each name is asked for."""
_MOST_KNOWN = 400_000
T = TypeVar("T")


class Names:
    """Relative paths that are looked for below a folder, as a tree."""

    def __init__(self, paths: Iterable[str]) -> None:
        rest: dict[str, list[str]] = {}
        for path in paths:
            head, _, tail = path.partition("/")
            rest.setdefault(head, []).append(tail)
        self.heads = frozenset(rest)
        self.ends = frozenset(head for head, tails in rest.items() if "" in tails)
        self.below = {head: Names(filter(None, tails)) for head, tails in rest.items() if any(tails)}


class StampedCache(Generic[T]):
    """What was made of folders and files, until they change."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Hashable], tuple[tuple[int, ...], T]] = {}

    def look(self, path: str, key: Hashable, make: Callable[[], T], *, follow: bool) -> T:
        """What `make` gives, or gave when what lies at the path was as it is.

        Raises:
            OSError: it cannot be looked at.
        """
        facts = os.stat(path, follow_symlinks=follow)  # noqa: PTH116 - thousands of them
        now = facts.st_ino, facts.st_dev, facts.st_mtime_ns, facts.st_ctime_ns
        known = self._seen.get((path, key))
        if known is not None and known[0] == now:
            return known[1]
        found = make()
        if time.time_ns() - max(now[2:]) >= YOUNG:
            if len(self._seen) >= _MOST_KNOWN:
                self._seen.clear()
            self._seen[path, key] = now, found
        return found


class Listings:
    """Used from threads, one at a time; touches the disk."""

    def __init__(self) -> None:
        self._cache = StampedCache[frozenset[str]]()

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
            return self._cache.look(folder, names, lambda: _among(folder, names), follow=True)
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()
        except (OSError, ValueError):
            return names


def _among(folder: str, names: frozenset[str]) -> frozenset[str]:
    with os.scandir(folder) as entries:
        found = [entry.name for entry in islice(entries, _MOST_ENTRIES + 1)]
    if len(found) > _MOST_ENTRIES:
        return names
    spelled = {name.lower().rstrip(". ") if name.isascii() else folded(name) for name in found}
    return frozenset(name for name in names if name.lower() in spelled)
