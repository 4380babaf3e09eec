"""When commands ran, so that a change of theirs is told from one of the user's, at any time after (S-8).

Told by the time of a file's last change of any kind (`st_ctime`), which no ordinary program can set. What is written
down outlives the server, and is shared by all servers with one data folder.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import logging
import math
import os
import stat
import threading
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.path_fds import unheld
from codelaw.adapters.processes.quarantine.keeping import Note, begin_note
from codelaw.adapters.processes.quarantine.refs import Refs, RefsBefore
from codelaw.adapters.processes.rules.listings import StampedCache
from codelaw.adapters.texts import small_text, write_whole

TICK = 0.02
"""Seconds by which the time of a change may lie before the clock's."""
MOST = 500
"""Times of one folder; of more, those that lie nearest to each other become one."""
LARGEST = 1 << 20
_READ = 64 << 20
_MOST_LINKS = 40
_KEPT = 32
"""States of refs that are held in memory."""

_log = logging.getLogger(__name__)

Ran = tuple[float, float, str]
"""Seconds since the epoch in which commands ran, from and to, and the name of what the refs held before."""


@dataclass(frozen=True, slots=True)
class NotedCommand:
    """A command that runs, or is about to start."""

    note: Note
    said: Mapping[str, Any]
    before: RefsBefore


class CommandTimes:
    """Of the commands of every server; used from threads, touches the disk."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """`folder` is one of codelaw's own, which no command sees."""
        self.refs = Refs(folder, environment)
        self._folder = folder / "times"
        self._lock = threading.RLock()
        self._ended = StampedCache[dict[Path, list[Ran]]]()
        self._before: dict[str, RefsBefore] = {}

    def begin(self, folders: Sequence[Path]) -> NotedCommand:
        """Write down that a command is about to start; it may change what lies in `folders`, whose paths are real.

        Raises:
            OSError: it cannot be written down.
        """
        with self._lock:  # no other begins meanwhile
            before = self.refs.before(folders, [self._refs_before(said["refs"]) for said in self._live()])
            refs = json.dumps(before.written()).encode()
            name = hashlib.sha256(refs).hexdigest()[:24]
            if name not in self._before:
                self._keep(name, before)
                place = self._folder / "refs" / name
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_whole(place, refs)
            said = {"folders": [*map(str, folders)], "begun": time.time(), "refs": name}
            return NotedCommand(begin_note(self._folder / "running", said), said, before)

    def end(self, noted: NotedCommand) -> None:
        """The command has ended, and nothing of it runs any more."""
        with self._lock:
            with contextlib.suppress(OSError):
                self.refs.after(noted.before)
            try:
                self._close(noted.said)
            except OSError as error:
                _log.warning("the end of a command cannot be written down, so it counts as running: %s", error)
            else:
                noted.note.end()

    def changed_by(self, path: Path, *, gone: bool = False, as_far: bool = False) -> RefsBefore | None:
        """What the refs held before the first command that may have made a file what it is; None where none has.

        `path` is absolute, and how the file is looked for: each folder and link on the way may be a command's, too.
        With `gone` it is about a file that is not there any more, with `as_far` about the way as far as it leads.

        Raises:
            OSError: it is gone by now; never with `gone` or `as_far`.
        """
        with self._lock:
            times = self._times()
        found: list[Ran] = []
        steps: list[tuple[Path, os.stat_result]] = []
        if gone:  # told by the folder in which the name is missing, or that is the nearest to it
            nearest = next(one for one in path.parents if one.is_dir())
            steps = [(nearest, nearest.lstat())]
        with contextlib.suppress(OSError) if as_far else nullcontext():
            steps += () if gone else _steps(path)
        # Who saves a file has seen it, whatever a command has put beside it before.
        saved = 0.0 if gone or as_far else steps[-1][1].st_ctime - TICK
        for step, facts in steps:
            for root, ran in times.items():
                if root in step.parents or (gone and root == step):
                    at = bisect_right(ran, facts.st_ctime + TICK, key=lambda one: one[0]) - 1
                    older = stat.S_ISDIR(facts.st_mode) and at >= 0 and ran[at][1] < saved
                    if at >= 0 and facts.st_ctime <= ran[at][1] and not older:
                        found.append(ran[at])
        return self._refs_before(min(found)[2]) if found else None

    def _refs_before(self, name: str) -> RefsBefore:
        with self._lock:
            if name not in self._before:
                self._keep(name, RefsBefore.read(self.refs, _said(self._folder / "refs" / name)))
            return self._before[name]

    def _keep(self, name: str, before: RefsBefore) -> None:
        self._before[name] = before
        while len(self._before) > _KEPT:
            del self._before[next(iter(self._before))]

    def _times(self) -> Mapping[Path, list[Ran]]:
        """By folder, when commands ran in it or still run."""
        now: dict[Path, list[Ran]] = {}
        for said in self._live():
            for root in said["folders"]:
                now.setdefault(Path(root), []).append((said["begun"], math.inf, said["refs"]))
        try:
            known = self._ended.look(str(self._folder / "ended"), "", self._read, follow=False)
        except FileNotFoundError:
            return now
        if not now:
            return known
        return {root: _joined([*known.get(root, ()), *now.get(root, ())]) for root in {**known, **now}}

    def _live(self) -> list[Mapping[str, Any]]:
        """What is written down of the commands that run, of any server; those of dead ones have ended by now."""
        live: list[Mapping[str, Any]] = []
        for file in sorted((self._folder / "running").glob("[0-9a-f]*")):
            said = _said(file)
            if not said:
                continue  # it has ended just now
            try:
                with unheld(file):  # its server is dead: until now it may have gone on
                    self.refs.after(self._refs_before(said["refs"]))
                    self._close(said)
                    file.unlink(missing_ok=True)
            except OSError:
                live.append(said)
        return live

    def _read(self) -> dict[Path, list[Ran]]:
        found: dict[Path, list[Ran]] = {}
        for line in (small_text(self._folder / "ended", _READ) or "").splitlines():
            with contextlib.suppress(ValueError):  # a line that was cut
                root, begun, ended, name = json.loads(line)
                found.setdefault(Path(root), []).append((begun, ended, name))
        return {root: _joined(ran) for root, ran in found.items()}

    def _close(self, said: Mapping[str, Any]) -> None:
        """Write down when a command ran that has ended by now; a clock that was set meanwhile makes it longer."""
        file, (begun, ended) = self._folder / "ended", sorted((said["begun"], time.time()))
        with (self._folder / "lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # no other server writes meanwhile
            with file.open("a", encoding="ascii") as lines:
                lines.write("".join(json.dumps([root, begun, ended, said["refs"]]) + "\n" for root in said["folders"]))
                large = lines.tell() > LARGEST
            if large:
                kept = [(str(root), *one) for root, ran in self._read().items() for one in _fewest(ran)]
                write_whole(file, "".join(f"{json.dumps(one)}\n" for one in kept).encode("ascii"))
                named = {said["refs"], *(name for *_, name in kept)}
                for place in (self._folder / "refs").iterdir():
                    if place.name not in named:  # one of a command that runs is unknown then, and the user is asked
                        place.unlink(missing_ok=True)


def _said(file: Path) -> Mapping[str, Any]:
    """What stands in a file; nothing where it is gone, or was cut with the machine's power."""
    try:
        return json.loads(small_text(file, _READ) or "{}")
    except ValueError:
        return {}


def _joined(ran: Iterable[Ran]) -> list[Ran]:
    """In order, those that overlap as one."""
    found: list[Ran] = []
    for begun, ended, name in sorted(ran):
        if found and begun <= found[-1][1]:
            found[-1] = found[-1][0], max(ended, found[-1][1]), found[-1][2]
        else:
            found.append((begun, ended, name))
    return found


def _fewest(ran: Sequence[Ran]) -> list[Ran]:
    """At most `MOST`: between those that lie nearest to each other nobody but a command has changed anything."""
    gaps = sorted(range(1, len(ran)), key=lambda at: ran[at][0] - ran[at - 1][1])
    nearest = set(gaps[: max(0, len(ran) - MOST)])
    return _joined((ran[at - 1][1] if at in nearest else one[0], *one[1:]) for at, one in enumerate(ran))


def _steps(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Each name on the way to a file, over links as they lead, and what the file system says of it.

    Raises:
        OSError: one of them is not there.
    """
    at, waiting, links = Path(path.anchor), [*path.parts[:0:-1]], 0
    while waiting:
        part = waiting.pop()
        if part == "..":
            at = at.parent
            continue
        step = at / part
        facts = step.lstat()
        yield step, facts
        if not stat.S_ISLNK(facts.st_mode):
            at = step
            continue
        if (links := links + 1) > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = step.readlink()
        at = Path(target.anchor) if target.anchor else at
        waiting += [part for part in target.parts[::-1] if part != target.anchor]
