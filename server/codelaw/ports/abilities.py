"""What a turn may use beside the workspace: agents that it begins, skills, the web (X-4, X-2, T-8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codelaw.domain.extensions import LoadedSkill, Skill
from codelaw.domain.results import ToolResult


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


class Skills(Protocol):
    """Those that were there when the turn began."""

    @property
    def offered(self) -> Sequence[Skill]:
        """All that can be loaded, in a stable order."""
        ...

    async def load(self, name: str) -> LoadedSkill:
        """The text of a skill as it is now; of `name/path` one of its files.

        Raises:
            ToolFailure: NOT_FOUND; ACCESS_DENIED for a file outside the skill's folder; BINARY_FILE.
        """
        ...


@dataclass(frozen=True, slots=True)
class Order:
    """One `Task` call."""

    call_id: str
    kind: str
    prompt: str


class Subagents(Protocol):
    """Those of one turn."""

    def reads_only(self, kind: str) -> bool:
        """Whether a child of that kind can change nothing; so does one that there is not."""
        ...

    async def run(self, order: Order) -> ToolResult:
        """Run a child turn to its end and give its report. A cancel of the caller reaches the child and is raised.

        Raises:
            ToolFailure: INVALID_PARAM: there is no such kind.
        """
        ...
