"""Ids for what had none of its own: the same for the same history, in this process and the next (H-2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

_LEGAL = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_BASE = 100


class Ids:
    """The ids in use, in the order of their use: none given out depends on one that comes later."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)
        self._last: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted` when it is free, else the first of `wanted_2`, `wanted_3` … that is."""
        free, number = wanted, self._last.get(wanted, 1)
        while free in self._used:
            number += 1
            free = f"{wanted}_{number}"
        self._last[wanted] = number
        self._used.add(free)
        return free

    def take_for_call(self, wanted: str, *origin: object) -> str:
        """`wanted` when it is free and vendors take it, else an id made of it and of where the call stands."""
        if _LEGAL.fullmatch(wanted) and wanted not in self._used:
            self._used.add(wanted)
            return wanted
        return self.take(f"{_ILLEGAL.sub('_', wanted)[:_LONGEST_BASE]}_{digest(wanted, *origin)}")


def legal(call_id: str) -> bool:
    """Whether vendors take it as the id of a call."""
    return _LEGAL.fullmatch(call_id) is not None


def digest(*parts: object) -> str:
    """Eight hexadecimal digits that follow from `parts`."""
    return sha256("\0".join(map(str, parts)).encode(errors="surrogatepass")).hexdigest()[:8]
