"""Takes away what commands make under names that other programs obey, and keeps it for the user to decide (S-8).

What git or the connected editor would obey at once goes while the command runs, as soon as the kernel tells of it; the
rest when the command has ended. Nothing is ever put into the workspace. All commands of a server are watched by one
thread, as nobody can say which of several has made a name.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.quarantine import notes
from codelaw.adapters.processes.quarantine.events import Events
from codelaw.adapters.processes.quarantine.keeping import Keeping
from codelaw.adapters.processes.quarantine.names import Name, above, bare_parts, chains, is_bare, opened, strays
from codelaw.adapters.processes.quarantine.refs import Before, Refs
from codelaw.adapters.processes.rules.areas import within
from codelaw.adapters.processes.rules.profile import Profile, Watched
from codelaw.adapters.processes.rules.withheld import ChangedError
from codelaw.domain.chats import Notice
from codelaw.domain.files import SetAside

MOST_TAKEN = 50
"""From one command before it is stopped."""
TICK = 1.0
LOOK_AGAIN = 0.3
"""Seconds between two looks at what a checkout may be bringing; what is there twice and no ref held goes."""
TOO_OFTEN = "The command was stopped: again and again it made names that other programs obey."


@dataclass(eq=False, slots=True)
class Running:
    """One command that is watched."""

    profile: Profile
    before: Before
    roots: dict[Path, int]
    names: list[Name]
    tops: dict[Path, int]
    """Folders that were no repositories by what lies in them."""
    note: notes.Note
    stop: Callable[[], object]
    """Ends the command."""
    taken: list[SetAside] = field(default_factory=list[SetAside])
    """Whatever was taken away while it ran, by whichever command it was made."""
    told: list[str] = field(default_factory=list[str])

    def note_taken(self, one: SetAside) -> None:
        self.taken.append(one)
        if len(self.taken) == MOST_TAKEN:
            self.stop()


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of the watch over one command."""

    aside: tuple[SetAside, ...]
    """What the user is to be asked about, the newest of each name."""
    told: list[str]
    met: frozenset[Path]
    """What was taken away while it ran."""


class Watch:
    """Of one session; used from threads, touches the disk."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """`folder` is one of codelaw's own, which no command sees."""
        self.keeping = Keeping(folder / "kept")
        self._notes = folder / "running"
        self._refs = Refs(folder, environment)
        self._lock = threading.RLock()
        self._running: list[Running] = []
        self._events: Events | None = None
        self._thread: threading.Thread | None = None
        self._wanted: dict[tuple[int, str], dict[tuple[Running, Name | Path], None]] = {}
        self._pending: dict[tuple[Running, Name], tuple[float, list[tuple[str, ...]]]] = {}
        """What may be a checkout's: when it was looked at last, and what of it no ref held then."""
        self._claimed: set[Path] = set()
        """Places in the quarantine that somebody has been told of."""

    def begin(self, profile: Profile, folders: Sequence[Path], stop: Callable[[], object] = bool) -> Running:
        """Watch a command that is about to start; to be settled in the end. `stop` ends it, called from a thread.

        Raises:
            ChangedError: one of the names has come into being since it was looked for.
            OSError: it cannot be written down.
        """
        with self._lock:  # no other command begins meanwhile
            before = self._refs.before(folders, alone=not self._running)
        roots: dict[Path, int] = {}
        for root in dict.fromkeys([*(one.root for one in profile.watched), *folders]):
            descriptor = opened(root)
            if descriptor is not None:
                roots[root] = descriptor
        names = [Name(one, roots[one.root], _parts(one)) for one in profile.watched if one.root in roots]
        tops = {path: roots[path] for path in folders if path in roots and not is_bare(roots[path])}
        try:
            note = notes.begin(self._notes, _said(names, tops, before))
        except BaseException:
            _close(roots)
            raise
        running = Running(profile, before, roots=roots, names=names, tops=tops, note=note, stop=stop)
        with self._lock:
            self._running.append(running)
            try:
                self._start()
                self._arm(running, [name for name in names if name.watched.soon])
                for path, top in tops.items():
                    self._arm_top(running, path, top)
                self._hold_still(running)
            except BaseException:
                self._end(running)
                raise
        return running

    def settle(self, running: Running) -> Settled:
        """Take away what the command has left, and say what there is to say."""
        met = frozenset(one.path for one in running.taken)
        with self._lock:
            for name in running.names:
                if os.path.lexists(name.watched.path) and not self._opened_elsewhere(running, name.watched.path):
                    self._settle_name(running, name)
            for path, top in running.tops.items():
                self._look_at_top(running, path, top)
            for other in self._running:
                # What the user has allowed this one to make is no news to the others.
                if other is not running and running.profile.opened:
                    other.names = [
                        name
                        for name in other.names
                        if not within(name.watched.path, running.profile.opened)
                        or not os.path.lexists(name.watched.path)
                    ]
            self._end(running)
            fresh = [one for one in running.taken if one.kept not in self._claimed]
            self._claimed.update(one.kept for one in fresh)
        with contextlib.suppress(OSError):
            self._refs.after(running.before)
        newest = {one.path: one for one in fresh}
        for path, one in newest.items():
            more = sum(1 for other in fresh if other.path == path) - 1
            running.told.append(
                f"codelaw: the command made {path}, which other programs obey: it was taken away and lies in"
                f" {one.kept} now" + (f", and {more} more of that name beside it." if more else ".")
            )
        return Settled(tuple(newest.values()), running.told, met)

    def aside(self, running: Running, folder: int, name: str, path: Path) -> None:
        """Take away an entry of an open folder which other programs would obey.

        Raises:
            OSError: it cannot be moved.
        """
        kept = self.keeping.take(folder, name, path)
        if kept is not None:
            running.taken.append(SetAside(path, kept.place, asked=True))

    def sweep(self) -> list[Notice]:
        """Take away what commands of killed servers have left; says so."""
        told: list[Notice] = []
        with notes.dead(self._notes) as found:
            for said, alive in found:
                told += self._sweep(said, alive)
        return told

    def close(self) -> None:
        """Wait for the thread; no command runs any more."""
        with self._lock:
            thread = self._thread
            if self._events is not None:
                self._events.wake()
        if thread is not None:
            thread.join()

    # While commands run

    def _start(self) -> None:
        # Elsewhere the sandbox keeps names free by itself, and what is there in the end goes.
        if self._events is None and sys.platform == "linux":
            self._events = Events()
            self._thread = threading.Thread(target=self._run, args=(self._events,), daemon=True, name="quarantine")
            self._thread.start()

    def _hold_still(self, running: Running) -> None:
        for name in running.names:
            if os.path.lexists(name.watched.path) and not self._opened_elsewhere(running, name.watched.path):
                raise ChangedError(name.watched.path)

    def _run(self, events: Events) -> None:
        while True:
            with self._lock:
                if not self._running:
                    events.close()
                    self._events, self._thread = None, None
                    self._wanted.clear()
                    return
            for event in events.wait(LOOK_AGAIN if self._pending else TICK):
                with self._lock:
                    self._hear(event)
            with self._lock:
                for running in self._running:
                    running.note.alive()
                for (running, name), (looked, _) in [*self._pending.items()]:
                    if time.monotonic() >= looked + LOOK_AGAIN:
                        self._look_again(running, name)

    def _hear(self, event: tuple[int, str] | None) -> None:
        if event is not None:
            wanted = [*self._wanted.get(event, ())]
        else:
            wanted = [*dict.fromkeys(one for ones in self._wanted.values() for one in ones)]
        for running, name in wanted:
            if isinstance(name, Path):
                self._look_at_top(running, name, running.tops[name])
            else:
                self._look(running, name)

    def _arm(self, running: Running, names: Sequence[Name]) -> None:
        with chains(names) as folders:
            numbers = {folder: self._number(folder) for folder in {folder for _, folder, _ in folders}}
            for name, folder, part in folders:
                self._wanted.setdefault((numbers[folder], part), {})[running, name] = None

    def _arm_top(self, running: Running, path: Path, top: int) -> None:
        number = self._number(top)
        for part in bare_parts():
            self._wanted.setdefault((number, part), {})[running, path] = None

    def _number(self, folder: int) -> int:
        number = None if self._events is None else self._events.add(folder)
        return -1 if number is None else number

    def _look(self, running: Running, name: Name) -> None:
        self._arm(running, [name])
        if len(running.taken) > 4 * MOST_TAKEN or self._opened_elsewhere(running, name.watched.path):
            return
        with name.found() as found:
            if found is None:
                return
            folder, entry, path = found
            if running.before.tracks(path):
                self._pending.setdefault((running, name), (time.monotonic(), []))
            else:
                self._take(running, name.watched, folder, entry, path)

    def _look_again(self, running: Running, name: Name) -> None:
        with name.found() as found:
            if found is None or name not in running.names:
                del self._pending[running, name]
                return
            now = strays(*found, running.before)
            self._take_all(running, name, found, [one for one in now if one in self._pending[running, name][1]])
            self._pending[running, name] = time.monotonic(), now

    def _look_at_top(self, running: Running, path: Path, top: int) -> None:
        if is_bare(top):
            self._take(running, Watched(path / "HEAD", path), top, "HEAD", path / "HEAD")

    def _settle_name(self, running: Running, name: Name) -> None:
        with name.found() as found:
            if found is not None:
                self._take_all(running, name, found, strays(*found, running.before))

    def _take_all(
        self, running: Running, name: Name, found: tuple[int, str, Path], all_parts: Sequence[tuple[str, ...]]
    ) -> None:
        for parts in all_parts:
            with contextlib.suppress(FileNotFoundError), above(found[0], parts) as folder:
                self._take(running, name.watched, folder, parts[-1], found[2].parent.joinpath(*parts))

    def _take(self, running: Running, watched: Watched, folder: int, entry: str, path: Path) -> None:
        try:
            kept = self.keeping.take(folder, entry, path)
        except OSError as error:
            sentence = f"codelaw: the command made {path}, which other programs obey: remove it ({error.strerror})."
            if sentence not in running.told:
                running.told.append(sentence)
            return
        if kept is None:
            return
        asked = watched.path in running.profile.asked or watched.path.name == "HEAD"
        one = SetAside(path, kept.place, asked=asked)
        for other in self._running:
            if other is running or any(name.watched.path == watched.path for name in other.names):
                other.note_taken(one)

    def _opened_elsewhere(self, running: Running, path: Path) -> bool:
        return any(within(path, other.profile.opened) for other in self._running if other is not running)

    def _end(self, running: Running) -> None:
        self._running.remove(running)
        for one in [one for one in self._pending if one[0] is running]:
            del self._pending[one]
        for wanted in self._wanted.values():
            for one in [one for one in wanted if one[0] is running]:
                del wanted[one]
        running.note.end()
        _close(running.roots)
        if self._events is not None:
            self._events.wake()

    # After a server that was killed

    def _sweep(self, said: Mapping[str, Any], alive: float) -> Iterator[Notice]:
        before = Before.read(self._refs, said.get("refs", {}))
        for at, all_parts in said.get("names", {}).items():
            root = opened(Path(at))
            if root is None:
                continue
            try:
                for parts in all_parts:
                    name = Name(Watched(Path(at, *parts), Path(at)), root, tuple(parts))
                    yield from self._swept(name, before, alive)
                if at in said.get("tops", ()) and is_bare(root):
                    yield from self._swept(Name(Watched(Path(at, "HEAD"), Path(at)), root, ("HEAD",)), before, alive)
            finally:
                os.close(root)

    def _swept(self, name: Name, before: Before, alive: float) -> Iterator[Notice]:
        with name.found() as found:
            if found is None:
                return
            for parts in strays(*found, before):
                path = found[2].parent.joinpath(*parts)
                if notes.changed(path) > alive + notes.SLACK:
                    continue  # somebody else's by now
                with contextlib.suppress(OSError), above(found[0], parts) as folder:
                    kept = self.keeping.take(folder, parts[-1], path)
                    if kept is not None:
                        yield Notice(
                            "warning",
                            "set_aside",
                            f"A command was running when codelaw was killed, and it had made {path}, which other"
                            f" programs obey. It lies in {kept.place} now; move it back if you want it.",
                        )


def _parts(watched: Watched) -> tuple[str, ...]:
    return watched.path.relative_to(watched.root).parts


def _said(names: Sequence[Name], tops: Mapping[Path, int], before: Before) -> dict[str, Any]:
    by_root: dict[str, list[tuple[str, ...]]] = {}
    for name in names:
        by_root.setdefault(str(name.watched.root), []).append(name.parts)
    for path in tops:
        by_root.setdefault(str(path), [])
    return {"names": by_root, "tops": [str(path) for path in tops], "refs": before.written()}


def _close(roots: Mapping[Path, int]) -> None:
    for descriptor in roots.values():
        os.close(descriptor)
