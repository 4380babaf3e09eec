"""What was found of texts, kept within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_Key = TypeVar("_Key", str, tuple[str, ...])
_Found = TypeVar("_Found")


class Memo(Generic[_Key, _Found]):
    """What `find` gave for a text or some; forgets all when the texts it holds grow past `limit` characters."""

    def __init__(self, find: Callable[[_Key], _Found], limit: int) -> None:
        self._find = find
        self._limit = limit
        self._held = 0
        self._known: dict[_Key, _Found] = {}

    def of(self, key: _Key) -> _Found:
        """What `find` gives for `key`."""
        found = self._known.get(key)
        if found is None:
            found = self._find(key)
            if self._held > self._limit:
                self._known = {}
                self._held = 0
            self._known[key] = found
            self._held += len(key) if isinstance(key, str) else sum(map(len, key))
        return found
