"""What servers are started with, how they fail, and where the logins to them are kept (X-3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from codelaw.adapters.crash_journal.crash_journal import CrashJournal
from codelaw.adapters.processes.local import LocalProcesses
from codelaw.domain.served import Address, Program
from codelaw.ports.servers import Browser

ASK = "It wants to know who you are: start it anew to log in with the browser."


FENCED = (
    "It ran in the sandbox, where the workspace is read-only and your home is hidden; one that your own settings name"
    " runs outside of it with `sandbox = false`."
)


@dataclass(slots=True)
class Fence:
    """What programs start in, each time; the session puts others in place when settings or folders change."""

    processes: LocalProcesses = field(default_factory=LocalProcesses)
    """For those of a workspace."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Without keys (S-5), and without programs of a workspace (S-8)."""

    def hint(self, way: Program | Address) -> str:
        """What to say of a program that has failed: the sandbox may be why."""
        held = isinstance(way, Program) and way.network is not None and self.processes.sandboxed
        return FENCED if held else ""


@dataclass(frozen=True, slots=True)
class ServerMeans:
    """The same for all servers of a session."""

    cwd: Path
    """Where programs run that name no folder."""
    version: str = ""
    """Of codelaw, as servers are told."""
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
    fence: Fence = field(default_factory=Fence)
    leftovers: CrashJournal | None = None
    """Sees to it that no program outlives this process."""


class ServerFailure(Exception):
    """A server that cannot be used, and why: a sentence for the user."""


class NeedsAuth(Exception):
    """The user has to log in to a server first."""


def login_file(folder: Path, url: str) -> Path:
    """The file for what was agreed with the server at an address."""
    return folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"


def is_logged_in(folder: Path, url: str) -> bool:
    """Whether a key of the server at an address is kept. Touches the disk; what cannot be read is not a login."""
    try:
        found: Any = json.loads(login_file(folder, url).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and cast("dict[str, Any]", found).get("tokens") is not None


def forget_login(folder: Path, url: str) -> bool:
    """Delete what was agreed with the server at an address; whether there was something.

    A file goes too that a process has begun to write when it ended. Touches the disk.

    Raises:
        OSError: it cannot be deleted.
    """
    found = [*folder.glob(f"{login_file(folder, url).stem}.*")]
    for file in found:
        file.unlink(missing_ok=True)
    return bool(found)
