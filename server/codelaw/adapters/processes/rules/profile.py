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
class Place:
    """A place that exists; its path is absolute with symlinks resolved."""

    path: Path
    access: Access
    """`private`: in its stead another folder is seen, which is empty at first and writable."""
    descriptor: int | None = None
    """Of `write` and `read`: what lies there, opened without following links (`O_PATH`). Where it is given it is bound
    in place of the name, which a command that still runs might have changed meanwhile. Whoever drew it closes it."""


@dataclass(frozen=True, slots=True)
class Held:
    """A name that must not come into being, as it would be obeyed outside.

    While the command runs something harmless lies there (`Placeholders`), which is bound read-only onto itself.
    """

    path: Path
    kind: Literal["folder", "file", "socket"]
    """A socket that nobody listens on is not a file for git, which neither lists, adds nor removes it."""
    content: bytes = b""
    """Of a file."""
    descriptor: int | None = None
    """As that of a place, of what takes the name."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one command. Whatever no place speaks of can be read and not written."""

    places: tuple[Place, ...]
    """Of one path at most one; sorted so that a place comes after those it lies in. Nothing that is hidden has another
    place in it, and nothing that is fixed for S-8 a writable one, so that the order is all there is to enforcing it."""
    cwd: Path
    network: Network
    held: tuple[Held, ...] = ()
    """Applied after all places."""
    watched: tuple[Path, ...] = ()
    """Names that would be obeyed and are free all the same: it is told when the command has taken one (S-8)."""
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

    @property
    def absent(self) -> tuple[Path, ...]:
        """The names that must not come into being."""
        return tuple(held.path for held in self.held)
