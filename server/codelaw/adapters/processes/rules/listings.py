"""Which of many names lie in a folder, without asking for each of them (S-4).

What was seen of a folder holds until the folder changes, which shows in its `ctime`: nobody can set that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from itertools import islice
from typing import Generic, TypeVar

from codelaw.domain.safety.sensitive_files import folded

YOUNG = 50_000_000
"""Nanoseconds in which a folder may change twice with the same time."""
_MOST_ENTRIES = 2_000
"""In a folder with more of them each name is asked for."""
_MOST_KNOWN = 400_000
T = TypeVar("T")


class StampedCache(Generic[T]):
    """What was made of folders and files, until they change; used from threads, one at a time, touches the disk."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Hashable], tuple[tuple[int, ...], T]] = {}

    def look(self, path: str, key: Hashable, make: Callable[[], T], *, follow: bool) -> T:
        """What `make` gives, or gave when what lies at the path was as it is.

        Raises:
            OSError: it cannot be looked at.
        """
        facts = os.stat(path, follow_symlinks=follow)  # noqa: PTH116 - thousands of them
        now = facts.st_ino, facts.st_dev, facts.st_ctime_ns
        known = self._seen.get((path, key))
        if known is not None and known[0] == now:
            return known[1]
        found = make()
        if time.time_ns() - facts.st_ctime_ns >= YOUNG:
            if len(self._seen) >= _MOST_KNOWN:
                self._seen.clear()
            self._seen[path, key] = now, found
        return found


Listings = StampedCache[frozenset[str]]


def among(listings: Listings, folder: str, names: frozenset[str]) -> frozenset[str]:
    """Those of `names` that a folder may have, under whatever spelling a file system takes for the same."""
    try:
        return listings.look(folder, names, lambda: _among(folder, names), follow=True)
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
