"""What hygiene had to do to a history, in numbers (H-1)."""

from __future__ import annotations

from dataclasses import astuple, dataclass


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
