"""Which sandbox this machine has, found out by trying, and commands put into it (S-4)."""

from __future__ import annotations

import asyncio
import os
import platform
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from codelaw.adapters.processes import bubblewrap, landlock, proxied, seccomp, trial
from codelaw.adapters.processes.drawing import make_profile
from codelaw.adapters.processes.placeholders import Placeholders
from codelaw.adapters.processes.planted import Tops, told_of
from codelaw.adapters.processes.profile import Place, Profile
from codelaw.adapters.processes.proxy import Proxy, Way
from codelaw.adapters.processes.scratch import Scratch
from codelaw.adapters.processes.withheld import Walk, Withheld, nothing
from codelaw.domain.hosts import Network, reach

TRIAL_SECONDS = 5.0
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
    sealed: bool = False
    """It can forbid further ones below."""
    filtered: bool = False
    """System calls are filtered, too."""
    scoped: bool = False
    """Landlock holds beneath it what namespaces leave open where the network is shared."""
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
                f"Commands run in a partial sandbox (landlock, {self.detail}): they write the workspace only, the home"
                f" folder's secrets are hidden, {only if by_name else reach(network)}. {LANDLOCK_LEAVES} So a blanket"
                " rule for Bash does not count."
            )
        how = f"bubblewrap {self.detail}" + (" with seccomp" if self.filtered else "")
        held = (
            f"Commands run in a sandbox ({how}): they write the workspace only, the home folder's secrets are hidden,"
            f" its own processes and temporary folder, {reach(network)}."
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


@dataclass(slots=True)
class Confined:
    """A command that is ready to be started."""

    argv: list[str]
    environment: dict[str, str]
    profile: Profile | None = None
    """None where nothing confines it."""
    told: list[str] = field(default_factory=list[str])
    """Sentences about what was found when it had ended."""
    descriptors: tuple[int, ...] = ()
    """Of ours, that stay open in the program that is started, under their numbers."""
    before: Callable[[], None] | None = None
    """To be called in the thread that starts it."""
    private: Path | None = None
    """What holds the private folders that it sees."""
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

    def _enter_landlock(
        self, profile: Profile, argv: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[Confined, Callable[[], None]]:
        inside = landlock.environment_inside(environment, profile, self._scratch)
        line, orders = landlock.command(profile, self._scratch, argv)
        confined = Confined(line, inside, profile, private=self._scratch.private())
        return confined, lambda: orders.unlink(missing_ok=True)

    def _enter_bubblewrap(
        self, means: Means, profile: Profile, argv: Sequence[str], environment: Mapping[str, str], way: Way | None
    ) -> tuple[Confined, Callable[[], None]]:
        if way is not None:
            profile = proxied.seen(profile)
            argv = proxied.command(way.channel, argv)
            environment = proxied.environment(environment, way.hosts)
        taken = self._placeholders.take(profile.held)
        try:
            confined = self._confine(means, profile, argv, environment)
        except BaseException:
            self._placeholders.release(taken)
            raise

        def leave() -> None:
            for descriptor in made:
                os.close(descriptor)
            self._placeholders.release(taken)

        made = confined.descriptors
        confined.private = self._scratch.private()
        if way is not None:
            confined.descriptors = (*made, way.channel)
        return confined, leave

    def _confine(self, means: Means, profile: Profile, argv: Sequence[str], environment: Mapping[str, str]) -> Confined:
        """A command for bubblewrap."""
        descriptors: list[int] = []
        if means.filtered:
            # Where the network is shared, so are sockets without a file, unless landlock cuts them off.
            unix = means.scoped or profile.network is not True
            descriptors.append(seccomp.descriptor(seccomp.program(root=os.geteuid() == 0, unix=unix)))
        try:
            line = bubblewrap.command(
                means.program,
                profile,
                self._scratch,
                argv,
                users=means.users,
                sealed=means.sealed,
                filtered=descriptors[0] if descriptors else None,
            )
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        inside = bubblewrap.environment_inside(environment)
        return Confined(
            line, inside, profile, descriptors=tuple(descriptors), before=landlock.scope if means.scoped else None
        )

    def _look(self) -> Means:
        if sys.platform != "linux":
            return Means(None, f"there is none for {sys.platform} yet")
        reasons: list[str] = []
        for kind in self._kinds:
            found = self._look_for_bubblewrap() if kind == "bubblewrap" else self._look_for_landlock()
            if isinstance(found, Means):
                return found
            reasons.append(found)
        return Means(None, ", ".join(reasons) or "none is wanted")

    def _look_for_bubblewrap(self) -> Means | str:
        """What it can do here, or why it cannot be used."""
        program = bubblewrap.find_bwrap(self._environment, [*self._folders()])
        if program is None:
            return "bubblewrap (bwrap) is not installed"
        problem = "" if seccomp.supported() else f"there is none for {platform.machine()}"
        unfiltered = ""
        # Root can do without a user namespace, where files of other users keep their owners.
        namespaces = [(True, True), (True, False)]
        if os.geteuid() == 0:
            namespaces.insert(0, (False, False))
        for filtered in (True, False) if seccomp.supported() else (False,):
            for users, sealed in namespaces:
                means = Means("bubblewrap", "", program, users, sealed, filtered, lacking=unfiltered)
                wrong = self._try(means)
                if wrong is None:
                    scoped = replace(means, scoped=True)
                    if filtered and landlock.abi() >= landlock.LEAST_ABI and self._try(scoped) is None:
                        means = scoped
                    return replace(means, detail=_version(program))
                problem = wrong
            unfiltered = f"Its filter of system calls does not work here ({problem})."
        return f"bubblewrap does not work here ({problem})"

    def _look_for_landlock(self) -> Means | str:
        abi = landlock.abi()
        if abi < landlock.LEAST_ABI:
            least = landlock.LEAST_ABI
            return f"its landlock is too old (ABI {abi} of {least})" if abi else "the kernel has no landlock"
        means = Means("landlock", f"ABI {abi}", filtered=True)
        problem = self._try(means)
        return means if problem is None else f"landlock does not work here ({problem})"

    def _try(self, means: Means) -> str | None:
        """What does not hold when a program is locked into a folder made for it; None when everything does."""
        with tempfile.TemporaryDirectory(prefix="codelaw-trial-") as name, _listening() as listening:
            room = Path(os.path.realpath(name))
            for one in ("in", "out", "secret"):
                (room / one).mkdir()
                (room / one / "file").write_text(one, "utf-8")
            places = (
                Place(room, "read"),
                Place(room / "in", "write"),
                Place(room / "secret", "hidden"),
            )
            profile = Profile(places, room, network=means.scoped)
            apart = means.kind == "bubblewrap"
            program = [sys.executable, "-I", "-S", "-B", trial.__file__, str(room)]
            program += [str(Path("/proc/self/ns/pid").readlink()) if apart else ""]
            program += ["filtered" if means.filtered else "", listening if means.scoped else ""]
            try:
                return self._tried(means, profile, program)
            except (OSError, subprocess.SubprocessError) as error:
                return str(error)

    def _tried(self, means: Means, profile: Profile, program: Sequence[str]) -> str | None:
        if means.kind == "landlock":
            confined = Confined(landlock.command(profile, self._scratch, program)[0], {})
        else:
            confined = self._confine(means, profile, program, {})
        try:
            ended = _run(confined)
        finally:
            for descriptor in confined.descriptors:
                os.close(descriptor)
        *wrong, end = ended.stdout.decode("utf-8", "replace").splitlines() or [""]
        if ended.returncode == 0 and end == trial.END:
            return ", ".join(wrong) or None
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        return said[-1][:200] if said else f"exit code {ended.returncode}"


def _run(confined: Confined) -> subprocess.CompletedProcess[bytes]:
    """In a thread of its own, since what is to be called before the start would hold for this one, too.

    Raises:
        OSError: it cannot be started.
        subprocess.SubprocessError: it takes too long.
    """

    def run() -> subprocess.CompletedProcess[bytes]:
        if confined.before is not None:
            confined.before()
        return subprocess.run(
            confined.argv,
            capture_output=True,
            timeout=TRIAL_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            env=confined.environment,
            pass_fds=confined.descriptors,
        )

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


@contextmanager
def _listening() -> Generator[str]:
    """The name of a socket without a file, at which we listen."""
    name = f"codelaw-trial-{os.urandom(8).hex()}"
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(f"\0{name}")
        one.listen()
        yield name


def _version(program: str) -> str:
    ended = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False, env={}, cwd="/"
    )
    return ended.stdout.strip().removeprefix("bubblewrap ") or "of an unknown version"
