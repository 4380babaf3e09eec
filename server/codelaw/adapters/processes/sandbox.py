"""One command's life in the sandbox that this machine has (S-4)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from codelaw.adapters.processes.network import proxied
from codelaw.adapters.processes.network.proxy import Proxy, Way
from codelaw.adapters.processes.quarantine.watching import Watch
from codelaw.adapters.processes.rules.drawing import make_profile
from codelaw.adapters.processes.rules.listings import Listings
from codelaw.adapters.processes.rules.nested import Nested
from codelaw.adapters.processes.rules.profile import Profile
from codelaw.adapters.processes.rules.withheld import ChangedError, Walk, Withheld, nothing
from codelaw.adapters.processes.sandboxes import landlock, seatbelt
from codelaw.adapters.processes.sandboxes.finding import confine, find_means
from codelaw.adapters.processes.sandboxes.means import Confined, Kind, Means
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from codelaw.adapters.programs import own_programs
from codelaw.domain.chats import Notice
from codelaw.domain.safety.hosts import Network
from codelaw.domain.safety.obeyed import at_once
from codelaw.ports.editor import Editor
from codelaw.ports.finishing import outlast

__all__ = ["Confined", "Kind", "Means", "Sandbox"]

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
        self._means: Means | None = None

    async def means(self) -> Means:
        """What there is; tries it out at the first call, off the event loop."""
        async with self._looking:
            if self._means is None:
                await self.sweep()
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
            too_often, loop = asyncio.Event(), asyncio.get_running_loop()
            enter = partial(
                self._enter,
                means,
                argv,
                cwd,
                environment,
                network=network,
                way=way,
                withheld=withheld,
                opened=opened,
                stop=lambda: loop.call_soon_threadsafe(too_often.set),
            )
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
        means: Means,
        argv: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        *,
        network: Network,
        way: Way | None,
        withheld: Withheld,
        opened: Collection[Path],
        stop: Callable[[], object],
    ) -> tuple[Confined, Callable[[], None]]:
        folders = [*self._folders()]
        profile = self._draw(folders, environment, cwd, network, withheld=withheld, opened=opened)
        watch = self.watch()
        running = watch.begin(profile, [Path(os.path.realpath(folder)) for folder in folders], stop)
        nested = Nested(folders)
        try:
            if means.kind == "landlock":
                confined, end = self._enter_landlock(profile, argv, environment)
            elif means.kind == "seatbelt":
                confined, end = self._enter_seatbelt(profile, argv, environment)
            else:
                confined, end = self._enter_bubblewrap(means, profile, argv, environment, way)
        except BaseException:
            nested.close()
            watch.settle(running)
            raise

        def leave() -> None:
            end()
            confined.told += nested.settle(partial(watch.aside, running))
            settled = watch.settle(running)
            confined.told += settled.told
            confined.aside, confined.met = settled.aside, settled.met

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
                listings=self._listings,
                opened=opened,
                programs=own_programs(folders),
                closely=at_once(self._editor.name if self._editor is not None else ""),
            )

    def _enter_bubblewrap(
        self, means: Means, profile: Profile, argv: Sequence[str], environment: Mapping[str, str], way: Way | None
    ) -> tuple[Confined, Callable[[], None]]:
        if way is not None:
            profile = proxied.seen(profile)
            argv = proxied.command(way.channel, argv)
            environment = proxied.environment(environment, way.hosts)
        confined = confine(means, profile, self._scratch, argv, environment)
        confined.profile = profile

        def leave() -> None:
            for descriptor in made:
                os.close(descriptor)

        made = confined.descriptors
        confined.private = self._scratch.private()
        if way is not None:
            confined.descriptors = (*made, way.channel)
        return confined, leave

    def _enter_landlock(
        self, profile: Profile, argv: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[Confined, Callable[[], None]]:
        inside = landlock.environment_inside(environment, profile, self._scratch)
        line, orders = landlock.command(profile, self._scratch, argv)
        return Confined(line, inside, profile, private=self._scratch.private()), lambda: orders.unlink(missing_ok=True)

    def _enter_seatbelt(
        self, profile: Profile, argv: Sequence[str], environment: Mapping[str, str]
    ) -> tuple[Confined, Callable[[], None]]:
        inside = seatbelt.environment_inside(environment, profile, self._scratch)
        line = seatbelt.command(profile, self._scratch, argv)
        return Confined(line, inside, profile, private=self._scratch.private()), lambda: None

    def _look(self) -> Means:
        return find_means(self._scratch, [*self._folders()], self._environment, self._kinds)


def _retried(enter: Callable[[], tuple[Confined, Callable[[], None]]]) -> tuple[Confined, Callable[[], None]]:
    """Enter, once more where the workspace has changed while it was drawn.

    Raises:
        ChangedError: it never holds still.
    """
    for _ in range(LOOKS - 1):
        with contextlib.suppress(ChangedError):
            return enter()
    return enter()
