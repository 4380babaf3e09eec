"""Takes away what commands make under names that other programs obey, and keeps it for the user to decide (S-8).

What git or the connected editor would obey at once goes while the command runs, within milliseconds; the rest when the
command has ended. Nothing is ever put into the workspace. All commands of a server are watched by one thread, as nobody
can say which of several has made a name. It looks for the names again and again: they are few, most are not there, and
no event of the kernel's can be lost.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.path_fds import folder_below, folder_of_name
from codelaw.adapters.processes.quarantine.command_times import CommandTimes
from codelaw.adapters.processes.quarantine.keeping import SLACK, Keeping, Note, begin_note, dead_notes, last_change
from codelaw.adapters.processes.quarantine.names import Found, Name, strays
from codelaw.adapters.processes.quarantine.refs import RefsBefore
from codelaw.adapters.processes.rules.areas import within
from codelaw.adapters.processes.rules.new_repositories import NewRepositories, is_bare
from codelaw.adapters.processes.rules.profile import Profile, WatchedName
from codelaw.adapters.processes.rules.withheld import ChangedError
from codelaw.domain.chats import Notice
from codelaw.domain.files import SetAside
from codelaw.domain.safety.sensitive_files import ENDINGS

MOST_TAKEN = 50
"""From one command before it is stopped."""
LOOK_SECONDS = 0.005
"""Between two looks for names that are obeyed at once."""
MOST_LOOKING = 0.05
"""Of a processor's time that the thread takes, where the names are many."""
ALIVE_SECONDS = 1.0
LOOK_AGAIN = 0.3
"""Seconds between two looks at what a checkout may be bringing; what is there twice and no ref held goes."""
TOO_OFTEN = "The command was stopped: again and again it made names that other programs obey."


@dataclass(eq=False, slots=True)
class WatchedCommand:
    """One command that runs."""

    profile: Profile
    before: RefsBefore
    roots: dict[Path, int]
    names: list[Name]
    soon: list[tuple[str, Name]]
    """Those that are obeyed at once, by their signs."""
    nested: NewRepositories
    note: Note
    stop: Callable[[], object]
    """Ends the command."""
    held: ExitStack = field(default_factory=ExitStack)
    """Ends the watch over it."""
    taken: list[SetAside] = field(default_factory=list[SetAside])
    """Whatever was taken away while it ran, by whichever command it was made."""
    said: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of the watch over one command."""

    aside: tuple[SetAside, ...]
    """What the user is to be asked about, the newest of each name."""
    said: list[str]
    met: frozenset[Path]
    """What was taken away while it ran."""


class Watch:
    """Of one session; used from threads, touches the disk."""

    def __init__(self, folder: Path, times: CommandTimes) -> None:
        """`folder` is one of codelaw's own, which no command sees."""
        self.keeping = Keeping(folder / "kept")
        self._notes = folder / "running"
        self.times = times
        self._lock = threading.RLock()
        self._running: list[WatchedCommand] = []
        self._thread: threading.Thread | None = None
        self._pending: dict[tuple[WatchedCommand, Name], tuple[float, list[tuple[str, ...]]]] = {}
        """What may be a checkout's: when it was looked at last, and what of it no ref held then."""
        self._claimed: set[Path] = set()
        """Places in the quarantine that have been reported."""

    def begin(self, profile: Profile, folders: Sequence[Path], stop: Callable[[], object] = bool) -> WatchedCommand:
        """Watch a command that is about to start; to be settled in the end. `stop` ends it, called from a thread.

        Raises:
            ChangedError: one of the names has come into being since it was looked for.
            OSError: it cannot be written down.
        """
        with ExitStack() as held:
            running = self._begin(profile, folders, stop, held)
            with self._lock:
                self._running.append(running)
                held.callback(self._forget, running)
                self._start()
                self._hold_still(running)
            running.held = held.pop_all()
        return running

    def _begin(
        self, profile: Profile, folders: Sequence[Path], stop: Callable[[], object], held: ExitStack
    ) -> WatchedCommand:
        noted = self.times.begin(folders)
        held.callback(self.times.end, noted)
        roots: dict[Path, int] = {}
        for root in {*(one.root for one in profile.watched), *folders}:
            if (descriptor := folder_of_name(root)) is not None:
                held.callback(os.close, descriptor)
                roots[root] = descriptor
        names = [Name(one, roots[one.root]) for one in profile.watched if one.root in roots]
        tops = [path for path in folders if path in roots and not is_bare(roots[path])]
        names += [Name(WatchedName(path / "HEAD", path), roots[path], bare=True) for path in dict.fromkeys(tops)]
        nested = held.enter_context(closing(NewRepositories(folders)))
        written = [(str(name.watched.root), name.parts, name.bare) for name in names]
        note = begin_note(self._notes, {"names": written, "refs": noted.before.written(), "nested": nested.written()})
        held.callback(note.end)
        soon = [(name.sign, name) for name in names if name.watched.soon]
        return WatchedCommand(profile, noted.before, roots, names, soon, nested=nested, note=note, stop=stop)

    def settle(self, running: WatchedCommand) -> Settled:
        """Take away what the command has left, and say what there is to say."""
        met = frozenset(one.path for one in running.taken)
        running.said += running.nested.settle(partial(self._aside, running))
        with self._lock:
            for name in (*running.names, *_workspaces(running)):
                if self._is_there(running, name):
                    self._settle_name(running, name)
            for other in self._running:
                # What the user has allowed this one to make is no news to the others.
                if other is not running and running.profile.opened:
                    known = {name for name in other.names if within(name.watched.path, running.profile.opened)}
                    other.names = [
                        name for name in other.names if name not in known or not os.path.lexists(name.watched.path)
                    ]
            running.held.close()
            fresh = [one for one in running.taken if one.kept not in self._claimed]
            self._claimed.update(one.kept for one in fresh)
        newest = {one.path: one for one in fresh}
        for path, one in newest.items():
            more = sum(other.path == path for other in fresh) - 1
            running.said.append(
                f"codelaw: the command made {path}, which other programs obey: it was taken away and lies in"
                f" {one.kept} now" + (f", and {more} more of that name beside it." if more else ".")
            )
        return Settled(tuple(newest.values()), running.said, met)

    def sweep(self) -> list[Notice]:
        """Take away what commands of killed servers have left; says so."""
        with dead_notes(self._notes) as found:
            return [notice for said, alive in found for notice in self._sweep(said, alive)]

    def close(self) -> None:
        """Wait for the thread; no command runs any more."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    # While commands run

    def _start(self) -> None:
        # Elsewhere the sandbox keeps names free by itself, and what is there in the end goes.
        if self._thread is None and sys.platform == "linux":
            self._thread = threading.Thread(target=self._run, daemon=True, name="quarantine")
            self._thread.start()

    def _hold_still(self, running: WatchedCommand) -> None:
        for name in running.names:
            if not name.bare and self._is_there(running, name):
                with name.found() as found:
                    if found is None:
                        continue  # a folder that another command has made meanwhile
                raise ChangedError(name.watched.path)

    def _run(self) -> None:
        alive = 0.0
        while True:
            begun, spent = time.monotonic(), time.thread_time()
            with self._lock:
                if not self._running:
                    self._thread = None
                    return
                for running in self._running if begun >= alive else ():
                    running.note.alive()
                    alive = begun + ALIVE_SECONDS
                soon = ((running, *one) for running in self._running for one in running.soon)
                # A link that leads nowhere for us may lead somewhere for others: `/proc/self/cwd`.
                there = [one for one in soon if os.access(one[1], os.F_OK, follow_symlinks=False)]
                for running, _, name in there:
                    self._look(running, name)
                for (running, name), (looked, _) in [*self._pending.items()]:
                    if begun >= looked + LOOK_AGAIN:
                        self._look_again(running, name)
            time.sleep(max(LOOK_SECONDS, (time.thread_time() - spent) / MOST_LOOKING))

    def _look(self, running: WatchedCommand, name: Name) -> None:
        known = (running, name) in self._pending or name not in running.names
        if known or len(running.taken) > 4 * MOST_TAKEN or self._opened_elsewhere(running, name.watched.path):
            return
        with name.found() as found:
            if found is not None and not name.bare and running.before.tracks(found[2]):
                self._pending[running, name] = (time.monotonic(), [])
            elif found is not None:
                self._take(running, name.watched, *found)

    def _look_again(self, running: WatchedCommand, name: Name) -> None:
        with name.found() as found:
            if found is None or name not in running.names:
                del self._pending[running, name]
                return
            now = strays(*found, running.before)
            self._take_all(running, name, found, [one for one in now if one in self._pending[running, name][1]])
            self._pending[running, name] = time.monotonic(), now

    def _settle_name(self, running: WatchedCommand, name: Name) -> None:
        with name.found() as found:
            if found is not None:
                parts = [(found[1],)] if name.bare else strays(*found, running.before)
                self._take_all(running, name, found, parts)

    def _take_all(
        self, running: WatchedCommand, name: Name, found: Found, all_parts: Sequence[tuple[str, ...]]
    ) -> None:
        for parts in all_parts:
            with contextlib.suppress(FileNotFoundError), folder_below(found[0], parts[:-1]) as folder:
                self._take(running, name.watched, folder, parts[-1], found[2].parent.joinpath(*parts))

    def _aside(self, running: WatchedCommand, folder: int, name: str, path: Path) -> None:
        kept = self.keeping.take(folder, name, path)
        if kept is not None:
            running.taken.append(SetAside(path, kept, asked=kept.parent != path.parent))

    def _take(self, running: WatchedCommand, watched: WatchedName, folder: int, entry: str, path: Path) -> None:
        try:
            kept = self.keeping.take(folder, entry, path)
        except OSError as error:
            sentence = f"codelaw: the command made {path}, which other programs obey: remove it ({error.strerror})."
            running.said += [] if sentence in running.said else [sentence]
            return
        if kept is None:
            return
        known = watched.path in running.profile.asked or watched.path.name == "HEAD" or _is_workspace(entry)
        asked = known and kept.parent != path.parent
        for other in self._running:
            if other is running or any(name.watched.path == watched.path for name in other.names):
                other.taken.append(SetAside(path, kept, asked=asked))
                if len(other.taken) == MOST_TAKEN:
                    other.stop()

    def _is_there(self, running: WatchedCommand, name: Name) -> bool:
        return os.path.lexists(name.sign) and not self._opened_elsewhere(running, name.watched.path)

    def _opened_elsewhere(self, running: WatchedCommand, path: Path) -> bool:
        return any(within(path, other.profile.opened) for other in self._running if other is not running)

    def _forget(self, running: WatchedCommand) -> None:
        with self._lock:
            self._running.remove(running)
            for one in [one for one in self._pending if one[0] is running]:
                del self._pending[one]

    # After a server that was killed

    def _sweep(self, said: Mapping[str, Any], alive: float) -> Iterator[Notice]:
        before = RefsBefore.read(self.times.refs, said.get("refs", {}))
        for at, parts, bare in said.get("names", ()):
            root = folder_of_name(Path(at))
            if root is not None:
                try:
                    name = Name(WatchedName(Path(at, *parts), Path(at)), root, bare)
                    yield from self._swept(name, before, alive)
                finally:
                    os.close(root)
        notices: list[Notice] = []
        with closing(NewRepositories.read(said.get("nested", {}))) as nested:
            nested.settle(lambda folder, name, path: notices.extend(self._kept(folder, name, path, alive)))
        yield from notices

    def _swept(self, name: Name, before: RefsBefore, alive: float) -> Iterator[Notice]:
        with name.found() as found:
            if found is None:
                return
            for parts in strays(*found, before):
                with contextlib.suppress(OSError), folder_below(found[0], parts[:-1]) as folder:
                    yield from self._kept(folder, parts[-1], found[2].parent.joinpath(*parts), alive)

    def _kept(self, folder: int, name: str, path: Path, alive: float) -> Iterator[Notice]:
        # What was changed later is somebody else's.
        if last_change(path) <= alive + SLACK and (kept := self.keeping.take(folder, name, path)):
            yield Notice(
                "warning",
                "set_aside",
                f"A command was running when codelaw was killed, and it had made {path}, which other"
                f" programs obey. It lies in {kept} now; move it back if you want it.",
            )


def _workspaces(running: WatchedCommand) -> Iterator[Name]:
    """Files of an editor's at the top that are called as anybody likes, and were not there before the command."""
    known = running.profile.asked | running.profile.opened
    for root, descriptor in running.roots.items():
        for entry in filter(_is_workspace, os.listdir(descriptor)):  # noqa: PTH208 - of a descriptor
            if root / entry not in known:
                yield Name(WatchedName(root / entry, root), descriptor)


def _is_workspace(entry: str) -> bool:
    return entry.lower().endswith(tuple(ENDINGS))
