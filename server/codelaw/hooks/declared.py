"""A hook: a command of the user's that runs at a certain moment of a chat (X-7)."""

from __future__ import annotations

from dataclasses import dataclass

from codelaw.domain.events import HookMoment

DEFAULT_SECONDS = 60.0
LONGEST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Hook:
    """A command, and when it runs."""

    event: HookMoment
    command: str
    """A line for the shell."""
    matcher: str = ""
    """What it is about, as `hooks/matching` reads it; empty for everything."""
    seconds: float = DEFAULT_SECONDS
    """After which it is killed."""
