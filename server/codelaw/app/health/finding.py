"""What a look at one thing comes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `broken` makes the exit status 1."""

    name: str
    state: str
    """`good`, `lacking` or `broken`."""
    detail: str
