"""What was found of texts, kept within bounds."""

from __future__ import annotations

from typing import Generic, TypeVar

_Key = TypeVar("_Key", str, tuple[str, ...])
_Found = TypeVar("_Found")


class Memo(Generic[_Key, _Found]):
    """By a text or some what was found of it; forgets all when the texts it holds grow past `limit` characters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._known: dict[_Key, _Found] = {}

    def find(self, key: _Key) -> _Found | None:
        """What was kept; None when nothing was, or it was forgotten."""
        return self._known.get(key)

    def keep(self, key: _Key, found: _Found) -> _Found:
        """Keep it, and give it."""
        if self._held > self._limit:
            self._known = {}
            self._held = 0
        self._known[key] = found
        self._held += len(key) if isinstance(key, str) else sum(map(len, key))
        return found
