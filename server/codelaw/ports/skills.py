"""The skills that a turn can load (X-2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codelaw.domain.brought import LoadedSkill, Skill


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
