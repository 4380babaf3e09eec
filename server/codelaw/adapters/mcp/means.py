"""What servers are started with, and how they fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.adapters.leftovers.leftovers import Leftovers
from codelaw.ports.servers import Browser

ASK = "It wants to know who you are: start it anew to log in with the browser."


@dataclass(frozen=True, slots=True)
class Means:
    """The same for all servers of a session."""

    cwd: Path
    """Where programs run that name no folder."""
    version: str = ""
    """Of codelaw, as servers are told."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of programs, without keys (S-5)."""
    start_seconds: float = 60.0
    """Until a server has told its tools; some are downloaded first."""
    login_seconds: float = 300.0
    """That the user may take to log in."""
    tokens: Path | None = None
    """The folder for what was agreed with servers to which the user has logged in; without it nobody can."""
    described: str | None = None
    """A page that describes codelaw to those who let users log in, `https`, where somebody serves one."""
    browser: Browser | None = None
    log_in: bool = False
    """Whether the user has asked to log in, so that the browser may open."""
    leftovers: Leftovers | None = None
    """Sees to it that no program outlives this process."""


class ServerFailure(Exception):
    """A server that cannot be used, and why: a sentence for the user."""


class NeedsAuth(Exception):
    """The user has to log in to a server first."""
