"""The sandbox of a machine as a value, and a command that is ready to be started in it (S-4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from codelaw.adapters.processes.rules.profile import Profile
from codelaw.domain.files import SetAside
from codelaw.domain.safety.hosts import Network, reach

Kind = Literal["bubblewrap", "landlock", "seatbelt"]


@dataclass(frozen=True, slots=True)
class SandboxMeans:
    """The sandbox of this machine."""

    kind: Kind | None
    detail: str
    """Its version, or why there is none."""
    program: str = ""
    users: bool = False
    """Bubblewrap needs a user namespace here."""
    sealed: bool = False
    """It can forbid further ones below."""
    filtered: bool = False
    """System calls are filtered, too."""
    scoped: bool = False
    """Landlock holds beneath it what namespaces leave open where the network is shared."""
    binding: bool = False
    """It binds what a descriptor stands for, whatever has become of its name meanwhile."""
    lacking: str = ""
    """Why it is not all that it could be."""

    @property
    def trusted(self) -> bool:
        """Whether blanket permissions for commands count in it (S-4)."""
        return self.kind == "bubblewrap" and self.filtered

    def describe(self, *, network: Network) -> str:
        """Sentences for the user: what holds, and what does not."""
        by_name = not isinstance(network, bool)
        if self.kind is None:
            all_the_same = "; they reach every host, not only those of tools.bash.network" if by_name else ""
            return f"Commands run without a sandbox: {self.detail}{all_the_same}."
        if self.kind == "landlock":
            only = "no network, as only bubblewrap can allow the hosts of tools.bash.network"
            return (
                f"Commands run in a partial sandbox (landlock, {self.detail}): they write only the workspace and"
                " temporary files of their own, do not see the secrets of the home folder, and reach"
                f" {only if by_name else reach(network)}. {LANDLOCK_LEAVES} So a blanket"
                " rule for Bash does not count."
            )
        if self.kind == "seatbelt":
            reached = reach(network) if isinstance(network, bool) else "no network, as listed hosts need bubblewrap"
            return (
                "Commands run in an experimental sandbox (sandbox-exec): they write only the workspace and"
                f" temporary files of their own, do not see the secrets of the home folder, and reach {reached}. It is"
                " tested too little for a blanket rule for Bash to count."
            )
        how = f"bubblewrap {self.detail}" + (" with seccomp" if self.filtered else "")
        held = (
            f"Commands run in a sandbox ({how}): they write only the workspace and temporary files of their own, see"
            f" neither the secrets of the home folder nor other processes, and reach {reach(network)}."
        )
        if self.filtered:
            return held
        return f"{held} {self.lacking} So a blanket rule for Bash does not count."


LANDLOCK_LEAVES = (
    "It does not keep commands from changing git's settings and hooks, `.codelaw`, `.vscode` and the like in the"
    " workspace, which other programs obey; from seeing names, sizes and times of files that are hidden; nor from"
    " changing modes and times of the user's own files."
)
"""What is left open where there is nothing but landlock."""


def environment_inside(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a command, without those that say where temporary files lie: it has a folder of its own."""
    return {name: value for name, value in environment.items() if name not in ("TMP", "TEMP", "XDG_RUNTIME_DIR")}


@dataclass(slots=True)
class Confined:
    """A command that is ready to be started."""

    argv: list[str]
    environment: dict[str, str]
    """Of what is started first, which sets up the sandbox."""
    profile: Profile | None = None
    """None where nothing confines it."""
    said: list[str] = field(default_factory=list[str])
    """Sentences about what it did; filled at the end."""
    descriptors: tuple[int, ...] = ()
    """Of ours, that stay open in the program that is started, under their numbers."""
    before: Callable[[], None] | None = None
    """To be called in the thread that starts it."""
    close: Callable[[], object] = bool
    """To be called when it has ended."""
    private: Path | None = None
    """What holds the private folders that it sees."""
    refused: tuple[str, ...] = ()
    """Hosts that were asked for in vain, and why; filled at the end."""
    aside: tuple[SetAside, ...] = ()
    """What it made under names that other programs obey; filled at the end."""
    met: frozenset[Path] = field(default_factory=frozenset[Path])
    """Of these the paths that went while it ran; filled at the end."""
    too_often: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has made such names so often that it is to be stopped."""
