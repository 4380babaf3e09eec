"""What one sandboxed command may touch, as a value (S-4).

It says nothing of how it is enforced: `bubblewrap` turns it into mounts, `landlock` into rules. `drawing` makes it anew
for each command, as folders come and go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from codelaw.domain.safety.hosts import Network

Access = Literal["write", "read", "hidden", "private"]

TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - not used: replaced
"""Hidden as well, for the sockets of the ssh agent and of X11, and what others put there; but needed."""


@dataclass(frozen=True, slots=True)
class ProfilePlace:
    """A place that exists; its path is absolute with symlinks resolved."""

    path: Path
    access: Access
    """`private`: in its stead another folder is seen, which is empty at first and writable."""
    descriptor: int | None = None
    """Of `write` and `read`: what lies there, opened without following links (`O_PATH`). Where it is given it is bound
    in place of the name, which a command that still runs might have changed meanwhile. Whoever drew it closes it."""


@dataclass(frozen=True, slots=True)
class WatchedName:
    """A name that did not exist before the command, and that others would obey: what is made there goes to quarantine.

    Nothing is put into the workspace for it.
    """

    path: Path
    root: Path
    """The writable folder that it lies in, which the command cannot move."""
    soon: bool = True
    """Obeyed at once, by git or the connected editor: it is taken away while the command still runs."""
    missing: str = ""
    """The first part of the path that did not exist; empty where that is all of it."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one command. Whatever no place speaks of can be read and not written."""

    places: tuple[ProfilePlace, ...]
    """Of one path at most one; sorted so that a place comes after those it lies in. Nothing that is hidden has another
    place in it, and nothing that is fixed for S-8 a writable one, so that the order is all there is to enforcing it."""
    cwd: Path
    network: Network
    watched: tuple[WatchedName, ...] = ()
    """Names that did not exist, and what is made there goes to quarantine (S-8)."""
    asked: frozenset[Path] = field(default_factory=frozenset[Path])
    """What is kept from commands because other programs obey it, there or not; each can be opened for one run by an
    approval (S-8)."""
    opened: frozenset[Path] = field(default_factory=frozenset[Path])
    """Those that are open in this run."""

    links: frozenset[Path] = field(default_factory=frozenset[Path])
    """Those of `asked` that are links: no mount can lie on one, so no name can be made or taken beside it."""

    def inside(self, *accesses: Access) -> list[Path]:
        """The places with one of these kinds of access."""
        return [place.path for place in self.places if place.access in accesses]
