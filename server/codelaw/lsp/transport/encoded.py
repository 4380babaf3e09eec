"""A result that is JSON already."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result that is JSON already."""

    body: bytes
