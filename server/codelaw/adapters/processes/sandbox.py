"""Which sandbox this machine has, found out by trying, and commands put into it (S-4)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from codelaw.adapters.processes import bubblewrap, landlock, proxied
from codelaw.adapters.processes.drawing import make_profile
from codelaw.adapters.processes.keepsake import Keepsake
from codelaw.adapters.processes.placeholders import Placeholders
from codelaw.adapters.processes.planted import Tops, told_of
from codelaw.adapters.processes.profile import Place, Profile
from codelaw.adapters.processes.proxy import Proxy, Way
from codelaw.adapters.processes.scratch import Scratch
from codelaw.adapters.processes.withheld import Walk, Withheld, nothing
from codelaw.domain.hosts import Network, reach

TRIAL_SECONDS = 5.0
_TRIAL = "echo in > in/file && ! echo out > out/file && ! cat secret/file && cat in/file"
Kind = Literal["bubblewrap", "landlock"]


@dataclass(frozen=True, slots=True)
class Means:
    """The sandbox of this machine."""

    kind: Kind | None
    detail: str
    """Its version, or why there is none."""
    program: str = ""
    users: bool = False
    """Bubblewrap needs a user namespace here."""

    def describe(self, *, network: Network) -> str:
        """A sentence for the user."""
        if self.kind is None:
            all_the_same = (
                "" if isinstance(network, bool) else "; they reach every host, not only those that are listed"
            )
            return f"Commands run without a sandbox: {self.detail}{all_the_same}."
        if self.kind == "bubblewrap":
            rest = "its own processes and temporary folder"
        else:
            rest = "git hooks and settings put back after each command"
        by_name = not isinstance(network, bool)
        if by_name and self.kind != "bubblewrap":
            reached = "no network, as only bubblewrap can allow the hosts of tools.bash.network"
        else:
            reached = reach(network)
        return (
            f"Commands run in a sandbox ({self.kind}, {self.detail}): they write the workspace only, "
            f"the home folder's secrets are hidden, {rest}, {reached}."
        )


@dataclass(slots=True)
class Confined:
    """A command that is ready to be started, and what was to be said when it had ended."""

    argv: list[str]
    environment: dict[str, str]
    profile: Profile | None = None
    """None where nothing confines it."""
    told: list[str] = field(default_factory=list[str])
    """Sentences about what was put back; filled at the end."""
    descriptors: tuple[int, ...] = ()
    """Of ours, that stay open in the command under their numbers."""
    refused: tuple[str, ...] = ()
    """Hosts that were asked for in vain, and why; filled at the end."""


class Sandbox:
    """The sandbox of one session; `means` finds out which, once, and `close` removes its private folders."""

    def __init__(
        self,
        folders: Callable[[], Sequence[Path]],
        own: Sequence[Path],
        environment: Mapping[str, str],
        *,
        kinds: Sequence[Kind] = ("bubblewrap", "landlock"),
        proxy: Proxy | None = None,
    ) -> None:
        self._folders = folders
        self._own = tuple(own)
        self._environment = environment
        self._kinds = kinds
        self._scratch = Scratch()
        self._placeholders = Placeholders()
        self._proxy = proxy or Proxy()
        self._walk = Walk()
        self._drawing = threading.Lock()
        self._looking = asyncio.Lock()
        self._means: Means | None = None

    async def means(self) -> Means:
        """What there is; tries it out at the first call, off the event loop."""
        async with self._looking:
            if self._means is None:
                self._means = await asyncio.to_thread(self._look)
        return self._means

    @asynccontextmanager
    async def around(
        self,
        means: Means,
        argv: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        network: Network,
        withheld: Withheld = nothing,
        opened: Collection[Path] = (),
    ) -> AsyncGenerator[Confined]:
        """A command as it is to be started; for `withheld` and `opened` see `make_profile`.

        Raises:
            OSError: the sandbox cannot be set up.
        """
        async with self._way(means, network) as way:
            draw = partial(
                self._enter,
                means,
                argv,
                cwd,
                environment,
                network=network,
                way=way,
                withheld=withheld,
                opened=opened,
            )
            entering = asyncio.ensure_future(asyncio.to_thread(draw))
            try:
                confined, leave = await asyncio.shield(entering)
            except asyncio.CancelledError:
                await asyncio.wait([entering])
                if entering.exception() is None:
                    await asyncio.shield(asyncio.to_thread(entering.result()[1]))
                raise
            try:
                yield confined
            finally:
                await asyncio.shield(asyncio.to_thread(leave))
                confined.refused = way.refused if way is not None else ()

    @asynccontextmanager
    async def _way(self, means: Means, network: Network) -> AsyncGenerator[Way | None]:
        """The way to listed hosts. Landlock has none: it knows ports, and any host may listen on any port."""
        if isinstance(network, bool) or means.kind != "bubblewrap":
            yield None
            return
        async with self._proxy.way(network) as way:
            yield way

    async def close(self) -> None:
        """Remove the private folders; no command may run any more."""
        await asyncio.to_thread(self._scratch.close)

    def _enter(
        self,
        means: Means,
        argv: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        *,
        network: Network,
        way: Way | None,
        withheld: Withheld,
        opened: Collection[Path],
    ) -> tuple[Confined, Callable[[], None]]:
        folders = [*self._folders()]
        profile = self._draw(folders, environment, cwd, network, withheld=withheld, opened=opened)
        tops = Tops(folders)
        try:
            if means.kind == "landlock":
                confined, end = self._enter_landlock(profile, argv, environment)
            else:
                confined, end = self._enter_bubblewrap(means, profile, argv, environment, way)
        except BaseException:
            tops.close()
            raise

        def leave() -> None:
            end()
            confined.told += told_of(profile)
            confined.told += tops.settle()

        return confined, leave

    def _draw(
        self,
        folders: Sequence[Path],
        environment: Mapping[str, str],
        cwd: Path,
        network: Network,
        *,
        withheld: Withheld,
        opened: Collection[Path],
    ) -> Profile:
        with self._drawing:  # what was seen of the workspace is for one at a time
            return make_profile(
                folders,
                self._own,
                environment,
                cwd=cwd,
                network=network,
                withheld=withheld,
                walk=self._walk,
                opened=opened,
            )

    def _enter_bubblewrap(
        self, means: Means, profile: Profile, argv: Sequence[str], environment: Mapping[str, str], way: Way | None
    ) -> tuple[Confined, Callable[[], None]]:
        if way is not None:
            profile = proxied.seen(profile)
            argv = proxied.command(way.channel, argv)
            environment = proxied.environment(environment, way.hosts)
        taken = self._placeholders.take(profile.held)
        try:
            line = bubblewrap.command(means.program, profile, self._scratch, argv, users=means.users)
        except BaseException:
            self._placeholders.release(taken)
            raise
        confined = Confined(line, bubblewrap.environment_inside(environment), profile)
        confined.descriptors = () if way is None else (way.channel,)
        return confined, lambda: self._placeholders.release(taken)

    def _enter_landlock(
        self, profile: Profile, argv: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[Confined, Callable[[], None]]:
        writable = profile.inside("write")
        fixed = [one for one in profile.inside("read") if any(place in one.parents for place in writable)]
        keepsake = Keepsake.of(fixed, profile.absent)
        inside = landlock.environment_inside(environment, profile, self._scratch)
        line, orders = landlock.command(profile, self._scratch, argv)
        confined = Confined(line, inside, profile)

        def leave() -> None:
            orders.unlink(missing_ok=True)
            try:
                back = keepsake.put_back()
            except OSError as error:
                confined.told.append(f"codelaw: what commands must not change could not be put back: {error}")
            else:
                confined.told += [f"codelaw: {path} was put back: commands must not change it." for path in back]

        return confined, leave

    def _look(self) -> Means:
        if sys.platform != "linux":
            return Means(None, f"there is none for {sys.platform} yet")
        reasons: list[str] = []
        for kind in self._kinds:
            if kind == "bubblewrap":
                program = bubblewrap.find_bwrap(self._environment, [*self._folders()])
                if program is None:
                    reasons.append("bubblewrap (bwrap) is not installed")
                    continue
                problem: str | None = None
                # Root can do without a user namespace, where files of other users keep their owners.
                for users in (False, True) if os.geteuid() == 0 else (True,):
                    means = Means("bubblewrap", "", program, users)
                    problem = self._try(means)
                    if problem is None:
                        return replace(means, detail=_version(program))
                reasons.append(f"bubblewrap does not work here ({problem})")
            else:
                abi = landlock.abi()
                if abi < landlock.LEAST_ABI:
                    reasons.append("the kernel has no landlock" if not abi else f"its landlock is too old (ABI {abi})")
                    continue
                means = Means("landlock", f"ABI {abi}")
                problem = self._try(means)
                if problem is None:
                    return means
                reasons.append(f"landlock does not work here ({problem})")
        return Means(None, ", ".join(reasons) or "none is wanted")

    def _try(self, means: Means) -> str | None:
        """What goes wrong when a command is locked into a folder made for it; None when it holds."""
        with tempfile.TemporaryDirectory(prefix="codelaw-trial-") as name:
            room = Path(os.path.realpath(name))
            for one in ("in", "out", "secret"):
                (room / one).mkdir()
                (room / one / "file").write_text(one, "utf-8")
            places = (
                Place(room, "read"),
                Place(room / "in", "write"),
                Place(room / "secret", "hidden"),
            )
            profile = Profile(places, room, network=False)
            try:
                line = self._line(means, profile, ["/bin/sh", "-c", _TRIAL])
                ended = subprocess.run(
                    line, capture_output=True, timeout=TRIAL_SECONDS, check=False, stdin=subprocess.DEVNULL, env={}
                )
            except (OSError, subprocess.SubprocessError) as error:
                return str(error)
            if ended.returncode != 0 or ended.stdout != b"in\n":
                said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
                return said[-1][:200] if said else f"exit code {ended.returncode}"
            return None if (room / "out/file").read_text("utf-8") == "out" else "it does not hold"

    def _line(self, means: Means, profile: Profile, argv: Sequence[str]) -> list[str]:
        if means.kind == "bubblewrap":
            return bubblewrap.command(means.program, profile, self._scratch, argv, users=means.users)
        return landlock.command(profile, self._scratch, argv)[0]


def _version(program: str) -> str:
    ended = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False, env={}, cwd="/"
    )
    return ended.stdout.strip().removeprefix("bubblewrap ") or "of an unknown version"
