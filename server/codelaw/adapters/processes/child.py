"""One process, started and waited for by a thread of its own (T-6, S-4).

The thread can take rules upon itself that the process inherits and the server does not have. It lives as long as the
process: to the kernel it is the parent, and a process that must not outlive its parent would die with it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

Feed = Callable[[bytes], None]

_log = logging.getLogger(__name__)


class Child:
    """A process group that has been started. `returncode` is as that of `subprocess.Popen`.

    It stays None where nobody can say how the process ended; the log has the reason.

    `exited` is set at the end of the process itself, `closed` when nobody holds its pipes any more: a process left in
    the background may hold them for long.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._pipes: list[asyncio.ReadTransport] = []
        self._open = 2

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        feeds: tuple[Feed, Feed],
        descriptors: Sequence[int] = (),
        before: Callable[[], None] | None = None,
        given: int | bytes = b"",
    ) -> Child:
        """Start `argv` as a session of its own; `feeds` get its output and its errors as they come.

        `given` is its input, or the descriptor of it. `descriptors` stay open in it, under their
        numbers. `before` is called in the thread that starts the process.
        Not to be cancelled: nobody would know of the process then.

        Raises:
            OSError: it cannot be started.
            ValueError: a word holds a NUL character.
        """
        loop = asyncio.get_running_loop()
        begun: asyncio.Future[int] = loop.create_future()
        ended: asyncio.Future[int] = loop.create_future()
        pipes = (os.pipe(), os.pipe())

        def live() -> None:
            waited_for = begun
            try:
                if before is not None:
                    before()
                with _file_of(given) as source:
                    process = subprocess.Popen(
                        argv,
                        cwd=cwd,
                        env=env,
                        stdin=source,
                        stdout=pipes[0][1],
                        stderr=pipes[1][1],
                        pass_fds=descriptors,
                        start_new_session=True,
                    )
                _soon(loop, begun.set_result, process.pid)
                waited_for = ended
                _soon(loop, ended.set_result, process.wait())
            except BaseException as error:  # noqa: BLE001 - it is raised, or logged, where it is waited for
                _soon(loop, waited_for.set_exception, error)

        try:
            threading.Thread(target=live, name="codelaw-command", daemon=True).start()
            child = cls(await begun)
        except BaseException:
            for read, _ in pipes:
                os.close(read)
            raise
        finally:
            for _, write in pipes:
                os.close(write)
        ended.add_done_callback(child._set_ended)
        for (read, _), feed in zip(pipes, feeds, strict=True):
            file = os.fdopen(read, "rb", buffering=0)
            pipe, _ = await loop.connect_read_pipe(lambda feed=feed: _Pipe(feed, child._lost), file)
            child._pipes.append(pipe)
        return child

    def pause_reading(self) -> None:
        """Take no more of its output for now: it waits when the pipe is full."""
        if not self._pipes[0].is_closing():
            self._pipes[0].pause_reading()

    def resume_reading(self) -> None:
        """Take its output again."""
        if not self._pipes[0].is_closing():
            self._pipes[0].resume_reading()

    def close(self) -> None:
        """Close our ends of the pipes, whoever holds the others."""
        for pipe in self._pipes:
            pipe.close()

    async def terminate(self, *, grace: float, patience: float) -> None:
        """End the group: SIGKILL comes `grace` seconds after SIGTERM, and its effect is waited for with `patience`.

        A program that runs as another user, by `sudo`, cannot be killed by us: it is left.
        """
        if not self.exited.is_set():
            self._signal(signal.SIGTERM)
            await within(self.exited, grace)
        self._signal(signal.SIGKILL)
        await within(self.exited, patience)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _set_ended(self, ended: asyncio.Future[int]) -> None:
        try:
            self.returncode = ended.result()
        except Exception:  # noqa: BLE001 - it is logged, and whoever waits must go on
            _log.exception("processes: how process %d ended is not known", self.pid)
        finally:
            self.exited.set()

    def _lost(self) -> None:
        self._open -= 1
        if not self._open:
            self.closed.set()


async def within(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but no longer than that."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


@contextmanager
def _file_of(given: int | bytes) -> Generator[IO[bytes] | int]:
    """What a process reads: a file without a name, so that one which reads nothing of it keeps nobody waiting."""
    if isinstance(given, int) or not given:
        yield given if isinstance(given, int) else subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file


class _Pipe(asyncio.Protocol):
    def __init__(self, feed: Feed, lost: Callable[[], None]) -> None:
        self._feed = feed
        self._lost = lost

    def data_received(self, data: bytes) -> None:
        self._feed(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the signature is asyncio's
        self._lost()


def _soon(loop: asyncio.AbstractEventLoop, what: Callable[[Any], None], result: object) -> None:
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(what, result)
