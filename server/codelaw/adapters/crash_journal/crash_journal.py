"""What a server has under way, in a folder of its own beside a lock that its death gives back (E-2, S-4, T-5).

The folder goes with the server. One that is found without a living server tells what was left: processes of commands,
files that were being written, and files as they were before a command.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from codelaw.adapters.crash_journal import guardian_child as program
from codelaw.adapters.crash_journal.file_snapshots import FileSnapshots, forget, left
from codelaw.adapters.crash_journal.guardian_child import end_marked
from codelaw.adapters.stores.sqlite.server_liveness import FileOwners, alone
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.ports.journal import HeldFile, Settle

MARK = "CODELAW_CALL"
"""The variable by which the processes of a server, and those of one call, know each other."""
BEAT_SECONDS = 1.0
"""Between two marks of life while a command runs."""
NAMED = 10
_WAIT_SECONDS = 10.0
_ID = re.compile(r"[0-9a-f]{24}")
_PART = re.compile(r"\.codelaw-[0-9a-f]{12}")

_log = logging.getLogger(__name__)


class CrashJournal:
    """Of one session; the folder is made when something is first under way. Implements `HeldImages`."""

    def __init__(self, folder: Path, report: Callable[[Notice], None] | None = None) -> None:
        """`report` is called with what was cleaned up after others."""
        self._folder = folder
        self._report = report
        self.database = ""
        """Tells in which database the chats are; set before anything is held."""
        self._beginning = threading.Lock()
        self._own: tuple[FileOwners, FileSnapshots, Guardian] | None = None
        self._beats: dict[str, asyncio.Task[None]] = {}
        self._holding = asyncio.Lock()

    # Commands that run

    def mark(self) -> str:
        """What the value of `MARK` begins with for every process of this server; touches the disk.

        Raises:
            OSError: the folder cannot be written.
        """
        return f"{self._begun()[0].id}-"

    def guard(self, group: int) -> None:
        """Let the processes of a group die with this server; touches the disk.

        Raises:
            OSError: nobody can be started who sees to it.
        """
        self._begun()[2].begin(group)

    def unguard(self, group: int) -> None:
        """The group has ended."""
        if self._own is not None:
            self._own[2].end(group)

    async def hold(
        self,
        call: tuple[str, str, str],
        files: Sequence[HeldFile],
        text: Callable[[str], str],
        edition: int,
        saved: Callable[[], Sequence[int]] = tuple,
    ) -> str:
        """See `HeldImages.hold`."""
        async with self._holding:
            _, images, _ = await asyncio.to_thread(self._begun)
            name = await asyncio.to_thread(images.hold, call, files, text, edition)
        self._beats[name] = asyncio.create_task(self._beat(images, name, saved))
        return name

    async def release(self, name: str, *, stored: bool = True) -> None:
        """See `HeldImages.release`."""
        beat = self._beats.pop(name, None)
        if beat is None:
            return  # it was closed meanwhile
        beat.cancel()
        await asyncio.gather(beat, return_exceptions=True)
        if stored and self._own is not None:
            await asyncio.to_thread(self._own[1].release, name)

    async def _beat(self, images: FileSnapshots, name: str, saved: Callable[[], Sequence[int]]) -> None:
        try:
            while True:
                await asyncio.sleep(BEAT_SECONDS)
                await asyncio.to_thread(images.touch, name, saved())
        finally:
            await asyncio.to_thread(images.touch, name, saved())

    # Files that are written

    @contextmanager
    def writing(self, folder: Path) -> Generator[str]:
        """A name for a file that is about to be written in `folder` and renamed; nothing is left of it afterwards.

        Raises:
            OSError: the folder of this server cannot be written.
        """
        name = f".codelaw-{os.urandom(6).hex()}"
        note = self._folder / self._begun()[0].id / "writes" / name
        try:
            note.write_text(json.dumps(str(folder)), "ascii")
            yield name
        finally:
            note.unlink(missing_ok=True)

    # The dead

    async def begin(self, url: str) -> None:
        """Say in which database the chats are, before anything is held, and clean up."""
        self.database = hashlib.sha256(url.encode()).hexdigest()
        await self.clean()

    async def clean(self) -> None:
        """End the processes and remove the files that dead servers have left, and tell of it."""
        async with self._dead() as dead:
            for server in dead:
                await asyncio.to_thread(self._clean, server)

    async def settle(self, settle: Settle) -> None:
        """See `HeldImages.settle`. What is left is cleaned up first, so that it is as it will stay."""
        async with self._dead() as dead:
            for server in dead:
                await asyncio.to_thread(self._clean, server)
                found = await asyncio.to_thread(left, server, self.database)
                for listing, command in found:
                    if await settle(command):
                        await asyncio.to_thread(forget, listing)
                await asyncio.to_thread(self._forget, server)

    async def close(self) -> None:
        """Nothing is under way any more; what could not be stored stays for the next server."""
        for name in [*self._beats]:
            await self.release(name, stored=False)
        if self._own is not None:
            (owners, _, guardian), self._own = self._own, None
            await asyncio.to_thread(guardian.close)
            own = self._folder / owners.id
            if not await asyncio.to_thread(_any, own / "calls"):
                await asyncio.to_thread(shutil.rmtree, own, ignore_errors=True)
            await asyncio.to_thread(owners.end)

    def _begun(self) -> tuple[FileOwners, FileSnapshots, Guardian]:
        with self._beginning:
            if self._own is None:
                owners = FileOwners(self._folder)
                owners.begin()
                own = self._folder / owners.id
                try:
                    for folder in (own, own / "writes"):
                        folder.mkdir(mode=0o700)
                    self._own = owners, FileSnapshots(own, self.database), Guardian(f"{MARK}={owners.id}-")
                except OSError:
                    shutil.rmtree(own, ignore_errors=True)
                    owners.end()
                    raise
            return self._own

    @asynccontextmanager
    async def _dead(self) -> AsyncGenerator[list[Path]]:
        """The folders of dead servers; while they are looked at no other server looks at them."""
        with ExitStack() as lock:

            def look() -> list[Path]:
                if not self._others():
                    return []
                lock.enter_context(alone(self._folder, _WAIT_SECONDS))
                owners, *_ = self._begun()
                return [other for other in self._others() if not owners.is_alive(other.name)]

            try:
                dead = await asyncio.to_thread(look)
            except (Refusal, OSError) as error:  # a full disk, say, must not keep anybody from reading
                _log.warning("what dead servers have left cannot be looked at now: %s", error)
                dead = []
            try:
                yield dead
            finally:
                await asyncio.to_thread(lock.close)

    def _others(self) -> list[Path]:
        own = None if self._own is None else self._own[0].id
        if not self._folder.is_dir():
            return []
        return [entry for entry in self._folder.iterdir() if _ID.fullmatch(entry.name) and entry.name != own]

    def _clean(self, server: Path) -> None:
        if names := _end(server.name):
            named = ", ".join([*dict.fromkeys(names)][:NAMED])
            message = f"Ended what a command had left running when codelaw was killed: {named} ({len(names)} in all)."
            self._say(Notice("info", "processes_ended", message))
        if removed := _remove_parts(server / "writes"):
            named = ", ".join(removed[:NAMED])
            message = f"Removed what a codelaw that was killed had begun to write and not put in place: {named}."
            self._say(Notice("info", "parts_removed", message))

    def _say(self, notice: Notice) -> None:
        _log.warning("%s", notice.message)
        if self._report is not None:
            self._report(notice)

    def _forget(self, server: Path) -> None:
        if not _any(server / "calls"):
            shutil.rmtree(server, ignore_errors=True)
            (self._folder / f"{server.name}.lock").unlink(missing_ok=True)


def _any(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _end(server: str) -> list[str]:
    if not os.path.exists("/proc/self/environ"):  # noqa: PTH110 - it is not a path of the user's
        return []  # who they are can be told by their environment alone
    return end_marked([f"{MARK}={server}-".encode()])


def _remove_parts(notes: Path) -> list[str]:
    """Remove the files that were being written; gives those that were there."""
    removed: list[str] = []
    for note in notes.glob(".codelaw-*") if notes.is_dir() else ():
        with contextlib.suppress(OSError, ValueError):
            part = Path(json.loads(note.read_text("ascii"))) / note.name
            facts = part.lstat()
            if _PART.fullmatch(note.name) and stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid():
                part.unlink()
                removed.append(str(part))
        note.unlink(missing_ok=True)
    return removed


class Guardian:
    """Started with the first command that needs it."""

    def __init__(self, mark: str) -> None:
        """`mark` begins a variable of all processes that are to be ended."""
        self._mark = mark
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()
        self._lock = threading.Lock()

    def begin(self, group: int) -> None:
        """A command runs, as a session and process group of that number.

        Raises:
            OSError: the guardian cannot be started.
        """
        with self._lock:
            self._groups.add(group)
            if self._process is None or self._process.poll() is not None:
                # Somebody has killed it, or it was never there.
                self._end()
                self._process = self._started()
                for known in self._groups:
                    self._report(f"+{known}\n")
            else:
                self._report(f"+{group}\n")

    def end(self, group: int) -> None:
        """The command has ended, and all its processes with it."""
        with self._lock:
            self._groups.discard(group)
            self._report(f"-{group}\n")

    def close(self) -> None:
        """End it and wait for its end: no command runs any more."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with process:  # closes its input and waits
                process.kill()

    def _started(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 - a program of ours
            [sys.executable, "-I", "-S", "-B", str(Path(program.__file__)), self._mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            bufsize=0,
            start_new_session=True,
        )
        assert process.stdin is not None  # noqa: S101 - narrowing
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def _report(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            # One that is gone is started anew for the next command.
            with contextlib.suppress(BrokenPipeError, BlockingIOError):
                self._process.stdin.write(line.encode())
