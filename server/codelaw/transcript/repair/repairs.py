"""What hygiene had to do to a history, in numbers, and ids for what had none of its own (H-1, H-2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Repairs:
    """Counts of one pass or of all together; all zero for a history that was well-formed."""

    mended: int = 0
    """Messages whose odd fields were made sendable."""
    dropped_empty: int = 0
    """Messages that say nothing, and entries that repeat another one entirely."""
    opened: int = 0
    """Turns whose question was lost, and that were given an ellipsis for it."""
    limited: int = 0
    """Messages beyond the limit of user turns (H-5)."""
    moved: int = 0
    """Results that stood elsewhere than behind their calls."""
    dropped_duplicate: int = 0
    dropped_orphan: int = 0
    added: int = 0
    """Results made up for calls that had none; all of them errors."""
    removed_calls: int = 0
    """Malformed calls."""
    renamed_calls: int = 0
    """Calls whose id no vendor takes, or was used before."""

    def __add__(self, other: Repairs) -> Repairs:
        return Repairs(*(ours + theirs for ours, theirs in zip(astuple(self), astuple(other), strict=True)))

    def __bool__(self) -> bool:
        return any(astuple(self))


NOTHING = Repairs()


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
