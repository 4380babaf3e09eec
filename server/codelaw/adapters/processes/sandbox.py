"""One command's life in the sandbox that this machine has (S-4)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path

from codelaw.adapters.processes.network import proxied
from codelaw.adapters.processes.network.proxy import Proxy, ProxyWay
from codelaw.adapters.processes.quarantine.watching import Watch
from codelaw.adapters.processes.rules.build_profile import build_profile
from codelaw.adapters.processes.rules.listings import Listings
from codelaw.adapters.processes.rules.new_repositories import NewRepositories
from codelaw.adapters.processes.rules.profile import Profile
from codelaw.adapters.processes.rules.withheld import NOTHING, ChangedError, Walk, WithheldPaths
from codelaw.adapters.processes.sandboxes.finding import confine, find_means
from codelaw.adapters.processes.sandboxes.means import Confined, Kind, SandboxMeans
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from codelaw.adapters.programs import own_programs
from codelaw.domain.chats import Notice
from codelaw.domain.safety.hosts import Network
from codelaw.domain.safety.obeyed import at_once
from codelaw.ports.editor import Editor
from codelaw.ports.finishing import outlast

__all__ = ["Confined", "Kind", "Sandbox", "SandboxMeans"]

_log = logging.getLogger(__name__)

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
        tell: Callable[[Notice], None] | None = None,
    ) -> None:
        """`own` are codelaw's own folders, of which the first keeps what is taken away from commands.

        `editor` is the one that is connected; `tell` is called with what was cleaned up after others.
        """
        self._folders = folders
        self._own = tuple(own)
        self._environment = environment
        self._kinds = kinds
        self._scratch = Scratch(folders)
        self._editor = editor
        self._tell = tell
        self._made_watch: Watch | None = None
        self._proxy = proxy or Proxy()
        self._walk = Walk()
        self._listings = Listings()
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
    ) -> AsyncGenerator[Confined]:
        """A command as it is to be started; for `withheld` and `opened` see `build_profile`.

        Raises:
            OSError: the sandbox cannot be set up.
        """
        # Landlock has no way to listed hosts: it knows ports, and any host may listen on any port.
        hosts = None if isinstance(network, bool) or means.kind != "bubblewrap" else network
        async with self._proxy.way(hosts) if hosts is not None else nullcontext() as way:
            too_often, loop = asyncio.Event(), asyncio.get_running_loop()

            def enter() -> tuple[Confined, Callable[[], None]]:
                folders = [*self._folders()]
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
                    )
                stop = partial(loop.call_soon_threadsafe, too_often.set)
                return self._enter(means, profile, argv, environment, folders=folders, way=way, stop=stop)

            entering = asyncio.ensure_future(asyncio.to_thread(_retried, enter))
            try:
                confined, leave = await asyncio.shield(entering)
            except asyncio.CancelledError:
                await outlast(entering)
                if entering.exception() is None:
                    await asyncio.shield(asyncio.to_thread(entering.result()[1]))
                raise
            confined.too_often = too_often
            try:
                yield confined
            finally:
                await asyncio.shield(asyncio.to_thread(leave))
                confined.refused = way.refused if way is not None else ()

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
            if self._tell is not None:
                self._tell(notice)
        return found

    def watch(self) -> Watch:
        """What takes away and keeps what commands make under names that others obey (S-8); touches the disk.

        Raises:
            OSError: there is no folder for it.
        """
        with self._drawing:  # of one session there is one
            if self._made_watch is None:
                folder = self._own[0] if self._own else self._scratch.root()
                self._made_watch = Watch(Path(os.path.realpath(folder)) / "quarantine", self._environment)
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
    ) -> tuple[Confined, Callable[[], None]]:
        watch = self.watch()
        running = watch.begin(profile, [Path(os.path.realpath(folder)) for folder in folders], stop)
        nested = NewRepositories(folders)
        try:
            if way is not None:
                profile = proxied.seen(profile)
                argv = proxied.command(way.channel, argv)
                environment = proxied.environment(environment, way.hosts)
            confined = confine(means, profile, self._scratch, argv, environment)
        except BaseException:
            nested.close()
            watch.settle(running)
            raise
        confined.profile, confined.private = profile, self._scratch.private()
        if way is not None:
            confined.descriptors = (*confined.descriptors, way.channel)

        def leave() -> None:
            confined.close()
            confined.said += nested.settle(partial(watch.aside, running))
            settled = watch.settle(running)
            confined.said += settled.said
            confined.aside, confined.met = settled.aside, settled.met

        return confined, leave


def _retried(enter: Callable[[], tuple[Confined, Callable[[], None]]]) -> tuple[Confined, Callable[[], None]]:
    """Enter, once more where the workspace has changed while it was drawn.

    Raises:
        ChangedError: it never holds still.
    """
    for _ in range(LOOKS - 1):
        with contextlib.suppress(ChangedError):
            return enter()
    return enter()
