"""The web, as far as the user lets it be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address gave."""

    url: str
    """Of the last answer, behind all redirects."""
    status: int
    kind: str
    """Its media type, in lower case and without parameters."""
    text: str
    """Decoded; what cannot be is replaced."""
    cut: bool = False
    """There was more than is read."""


class Web(Protocol):
    """Fetches pages, under the same rule as commands reach the network (S-4)."""

    async def fetch(self, url: str) -> Fetched:
        """What an http or https address gives, which the user has named; bounded in size and time.

        Redirects are followed where they may lead. It may be a server of this machine, and no redirect may lead to one.

        Raises:
            ToolFailure: INVALID_PARAM for what is not such an address; ACCESS_DENIED where the network's rule, or
                what the name leads to, forbids it; TIMEOUT; EXECUTION_ERROR for what else goes wrong.
        """
        ...
