"""One command's life in the sandbox that this machine has, and its way to listed hosts by a proxy (S-4)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType

from codelaw.adapters.processes.network import listening_child as program
from codelaw.adapters.processes.network.proxy import Proxy, ProxyWay
from codelaw.adapters.processes.quarantine.command_times import CommandTimes
from codelaw.adapters.processes.quarantine.watching import Watch
from codelaw.adapters.processes.rules.build_profile import build_profile
from codelaw.adapters.processes.rules.listings import Listings
from codelaw.adapters.processes.rules.profile import TEMPORARY, Profile, ProfilePlace
from codelaw.adapters.processes.rules.sockets import Sockets
from codelaw.adapters.processes.rules.withheld import NOTHING, ChangedError, Walk, WithheldPaths
from codelaw.adapters.processes.sandboxes.finding import confine, find_means
from codelaw.adapters.processes.sandboxes.means import Confined, Kind, SandboxMeans
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from codelaw.adapters.programs import own_programs
from codelaw.domain.chats import Notice
from codelaw.domain.safety.hosts import HostRule, Network
from codelaw.domain.safety.sensitive_files import at_once
from codelaw.ports.cancelling import outlasted
from codelaw.ports.editor import Editor

PORT = 30_128
"""On the loopback device of the command's own namespace; below those that the system gives out."""
_ADDRESS = f"http://127.0.0.1:{PORT}"
_OTHERS = re.compile(
    r"(https?|all|no|ftp)_proxy|(npm_config|yarn|cargo|pip|uv)_(https?_)?_?(no_?)?proxy|cargo_http_proxy", re.IGNORECASE
)
"""What would name another proxy, or hosts that go by none."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _proxied_command(channel: int, argv: Sequence[str]) -> list[str]:
    """What to start inside the sandbox instead of `argv`."""
    return [_python(), "-I", "-S", "-B", os.path.realpath(program.__file__), str(channel), str(PORT), *argv]


def _showing_it(profile: Profile) -> Profile:
    """A profile in which what `_proxied_command` starts can be read, wherever it lies. Touches the disk."""
    access = {place.path: place.access for place in profile.places}

    def hides(path: Path) -> bool:
        around = next((access[place] for place in (path, *path.parents) if place in access), "read")
        return around in ("hidden", "private")

    places = [*profile.places, *(ProfilePlace(path, "read") for path in _needed() if hides(path))]
    return replace(profile, places=tuple(sorted(places, key=lambda place: (len(place.path.parts), str(place.path)))))


@cache
def _needed() -> tuple[Path, ...]:
    library = Path(os.path.realpath(os.__file__)).parent
    shared = sorted(Path(sys.base_prefix, "lib").glob("libpython*.so*"))
    found = [Path(_python()), library, *shared, Path(program.__file__)]
    return tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in found))


def _proxied_environment(environment: Mapping[str, str], rules: Sequence[HostRule]) -> dict[str, str]:
    """The variables by which programs find the proxy, in the spellings that they know.

    What runs inside the sandbox is reached without it, unless the user has listed this machine by the same name.
    """
    kept = {name: value for name, value in environment.items() if not _OTHERS.fullmatch(name)}
    listed = {str(rule.host) for rule in rules}
    without = ",".join(name for name in _LOOPBACK if name not in listed)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        kept |= {name: _ADDRESS, name.upper(): _ADDRESS}
    kept |= {"no_proxy": without, "NO_PROXY": without}
    java = (f"-D{scheme}.proxyHost=127.0.0.1 -D{scheme}.proxyPort={PORT}" for scheme in ("http", "https"))
    return {
        **kept,
        "NODE_USE_ENV_PROXY": "1",
        "YARN_HTTP_PROXY": _ADDRESS,
        "YARN_HTTPS_PROXY": _ADDRESS,
        "JAVA_TOOL_OPTIONS": " ".join(java),
    }


@cache
def _python() -> str:
    """The interpreter itself: that of a virtual environment would look for one that may not be seen."""
    base = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    return os.path.realpath(base if base.exists() else sys.executable)


_log = logging.getLogger(__name__)

Entered = tuple[Confined, Callable[[], None]]
"""A command as it is to be started, and what is to be called when it has ended."""
LOOKS = 5
"""How often a workspace that changes meanwhile is drawn, before the command is refused."""


class Sandbox:
    """The sandbox of one session; `means` finds out which, once, and `close` removes its private folders."""

    def __init__(
        self,
        folders: Callable[[], Sequence[Path]],
        own: Sequence[Path],
        environment: Mapping[str, str],
        *,
        kinds: Sequence[Kind] = ("bubblewrap", "landlock", "seatbelt"),
        proxy: Proxy | None = None,
        editor: Editor | None = None,
        report: Callable[[Notice], None] | None = None,
        times: CommandTimes | None = None,
    ) -> None:
        """`own` are codelaw's own folders, of which the first keeps what is taken away from commands.

        `times` are told when commands run; None: they are kept with what is taken away. `editor` is the one that is
        connected; `report` is called with what was cleaned up after others.
        """
        self._folders = folders
        self._own = tuple(own)
        self._environment = environment
        self._kinds = kinds
        self._scratch = Scratch(folders)
        self._editor = editor
        self._report = report
        self._made_watch: Watch | None = None
        self._times = times
        self._proxy = proxy or Proxy()
        self._walk = Walk()
        self._listings = Listings()
        self._sockets = Sockets()
        self._drawing = threading.Lock()
        self._looking = asyncio.Lock()
        self._means: SandboxMeans | None = None

    async def means(self) -> SandboxMeans:
        """What there is; tries it out at the first call, off the event loop."""
        async with self._looking:
            if self._means is None:
                await self.sweep()
                look = partial(find_means, self._scratch, [*self._folders()], self._environment, self._kinds)
                self._means = await asyncio.to_thread(look)
        return self._means

    @asynccontextmanager
    async def around(
        self,
        means: SandboxMeans,
        argv: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        network: Network,
        withheld: WithheldPaths = NOTHING,
        opened: Collection[Path] = (),
        apart: bool = False,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> AsyncGenerator[Confined]:
        """A command as it is to be started; for `withheld` and `opened` see `build_profile`.

        `apart`: it may live long, so it only reads the workspace, and has private folders of its own. It is drawn by
        `environment`, and gets `variables` beside it.

        Raises:
            OSError: the sandbox cannot be set up.
        """
        # Landlock has no way to listed hosts: it knows ports, and any host may listen on any port.
        hosts = None if isinstance(network, bool) or means.kind != "bubblewrap" else network
        async with self._proxy.way(hosts) if hosts is not None else nullcontext() as way:
            too_often, loop = asyncio.Event(), asyncio.get_running_loop()

            def enter() -> Entered:
                folders = self._real_folders()
                with self._drawing:  # what was seen of the workspace is for one at a time
                    profile = build_profile(
                        folders,
                        self._own,
                        environment,
                        cwd=cwd,
                        network=network,
                        withheld=withheld,
                        walk=self._walk,
                        listings=self._listings,
                        opened=opened,
                        programs=own_programs(folders),
                        closely=at_once(self._editor.name if self._editor is not None else ""),
                        # Under the others a command makes none.
                        sockets=self._sockets.find(folders, inside=network is not True)
                        if means.kind == "bubblewrap"
                        else (),
                        writes=not apart,
                    )
                inside = {**environment, **variables}
                if apart:
                    return self._enter_apart(means, profile, argv, inside, way=way)
                stop = partial(loop.call_soon_threadsafe, too_often.set)
                return self._enter(means, profile, argv, inside, folders=folders, way=way, stop=stop)

            async with _entered(partial(_retried, enter)) as confined:
                confined.too_often = too_often
                yield confined
            confined.refused = way.refused if way is not None else ()

    @asynccontextmanager
    async def open_around(self, argv: list[str], environment: dict[str, str]) -> AsyncGenerator[Confined]:
        """A command as it is, with no fence; when it ran is known (S-8).

        Raises:
            OSError: that cannot be written down.
        """

        def enter() -> Entered:
            times = self.watch().times
            noted = times.begin(self._real_folders())
            return Confined(argv, environment), partial(times.end, noted)

        async with _entered(enter) as confined:
            yield confined

    def _real_folders(self) -> list[Path]:
        return [Path(os.path.realpath(folder)) for folder in self._folders()]

    async def close(self) -> None:
        """Remove the private folders; no command may run any more."""
        if self._made_watch is not None:
            await asyncio.to_thread(self._made_watch.close)
        await asyncio.to_thread(self._scratch.close)

    async def sweep(self) -> list[Notice]:
        """Take away what commands of killed servers have left under names that others obey (S-8); says so."""
        try:
            found = await asyncio.to_thread(lambda: self.watch().sweep()) if self._own else []
        except OSError as error:
            _log.warning("what commands of killed servers have left cannot be looked at now: %s", error)
            return []
        for notice in found:
            if self._report is not None:
                self._report(notice)
        return found

    def watch(self) -> Watch:
        """What takes away and keeps what commands make under names that others obey (S-8); touches the disk.

        Raises:
            OSError: there is no folder for it.
        """
        with self._drawing:  # of one session there is one
            if self._made_watch is None:
                folder = self._own[0] if self._own else self._scratch.root()
                place = Path(os.path.realpath(folder)) / "quarantine"
                self._made_watch = Watch(place, self._times or CommandTimes(place, self._environment))
            return self._made_watch

    def _enter(
        self,
        means: SandboxMeans,
        profile: Profile,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        folders: Sequence[Path],
        way: ProxyWay | None,
        stop: Callable[[], object],
    ) -> Entered:
        watch = self.watch()
        running = watch.begin(profile, folders, stop)
        try:
            confined = _confined(means, profile, self._scratch, argv, environment, way=way)
        except BaseException:
            watch.settle(running)
            raise

        def leave() -> None:
            confined.close()
            settled = watch.settle(running)
            confined.said += settled.said
            confined.aside, confined.met = settled.aside, settled.met

        return confined, leave

    def _enter_apart(
        self,
        means: SandboxMeans,
        profile: Profile,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        way: ProxyWay | None,
    ) -> Entered:
        if means.kind == "bubblewrap":
            # What npm has downloaded is laid back read-only, and it fails where it cannot add to that.
            environment = {"npm_config_cache": f"{TEMPORARY[0]}/npm", **environment}
        with ExitStack() as stack:
            scratch = Scratch(self._folders)
            stack.callback(scratch.close)
            confined = _confined(means, profile, scratch, argv, environment, way=way)
            stack.callback(confined.close)
            return confined, stack.pop_all().close


def _confined(
    means: SandboxMeans,
    profile: Profile,
    scratch: Scratch,
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    way: ProxyWay | None,
) -> Confined:
    """The command, behind the proxy where there is one. Touches the disk."""
    if way is not None:
        profile = _showing_it(profile)
        argv = _proxied_command(way.channel, argv)
        environment = _proxied_environment(environment, way.rules)
    confined = confine(means, profile, scratch, argv, environment)
    confined.profile, confined.private = profile, scratch.private()
    if way is not None:
        confined.descriptors = (*confined.descriptors, way.channel)
    return confined


@asynccontextmanager
async def _entered(enter: Callable[[], Entered]) -> AsyncGenerator[Confined]:
    """What `enter` gives, in a thread; left again whatever comes, a cancel while it is entered too."""
    (confined, leave), cancelled = await outlasted(asyncio.to_thread(enter))
    try:
        if cancelled:
            raise asyncio.CancelledError
        yield confined
    finally:
        await asyncio.shield(asyncio.to_thread(leave))


def _retried(enter: Callable[[], Entered]) -> Entered:
    """Enter, once more where the workspace has changed while it was drawn.

    Raises:
        ChangedError: it never holds still.
    """
    for _ in range(LOOKS - 1):
        with contextlib.suppress(ChangedError):
            return enter()
    return enter()
