"""Messages over this process's own standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import select
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from codelaw.lsp.transport.messages import CHUNK, Incoming, framed

log = logging.getLogger(__name__)

MAX_QUEUED = 64 << 20
"""Bytes that may wait for a client that does not read."""
MAX_HANDED = 16
"""Chunks that wait for the event loop, beside those that it has taken and nobody has read."""


def closed_stream() -> str | None:
    """Which of standard input and output leads nowhere from the start; None: neither does."""
    if _is_nothing(0):
        return "Standard input"
    return "Standard output" if _is_nothing(1) or not _has_reader(1) else None


def _is_nothing(descriptor: int) -> bool:
    """Whether it is closed, or the null device that was put in the place of a closed one."""
    try:
        return os.path.samestat(os.fstat(descriptor), Path(os.devnull).stat())
    except OSError:
        return True


def _has_reader(descriptor: int) -> bool:
    """Whether what is written there may reach somebody."""
    try:
        os.write(descriptor, b"")  # fails where it is open for reading alone
    except OSError:
        return False
    if not hasattr(select, "poll"):
        return True
    waiting = select.poll()
    waiting.register(descriptor, 0)
    return not any(events & (select.POLLERR | select.POLLNVAL) for _, events in waiting.poll(0))


def take_stdio() -> tuple[int, int]:
    """Private descriptors of standard input and output.

    The public ones then lead to nothing and to standard error, so that neither a stray print, nor a library's C code,
    nor a child process can reach the stream of messages.
    """
    sys.stdout.flush()
    stdin, stdout = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return stdin, stdout


class PipeWriter:
    """Writes messages from a thread of its own, so that a client that does not read blocks nobody."""

    def __init__(self, descriptor: int, on_broken: Callable[[str], None]) -> None:
        """`on_broken` is called, from any thread, when nothing can be written any more."""
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._given = self._written = 0
        """Bytes; each is counted by one thread alone."""
        self._broken = False
        self._thread = threading.Thread(target=self._run, name="codelaw-writer", daemon=True)
        self._thread.start()

    def send(self, body: bytes) -> None:
        """Queue a message. Over `MAX_QUEUED` the client counts as gone."""
        waiting = self._given - self._written
        if self._broken:
            return
        if waiting and waiting + len(body) > MAX_QUEUED:
            self._break(f"the client has not read {waiting} bytes")
            return
        data = framed(body)
        self._given += len(data)
        self._queue.put(data)

    def close(self, seconds: float) -> None:
        """Write what is queued, for at most `seconds`."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while (data := self._queue.get()) is not None and not self._broken:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._descriptor, view) :]
                self._written += len(data)
        except OSError as error:
            self._break(str(error))

    def _break(self, why: str) -> None:
        if not self._broken:
            self._broken = True
            self._on_broken(why)


class PipeReader(asyncio.ReadTransport):
    """What comes through a pipe, read by a thread of its own into `reader`, and no faster than that is read.

    `on_closed` is called in the thread at the end of the input: the loop may be held up.
    """

    def __init__(self, descriptor: int, on_closed: Callable[[], None]) -> None:
        super().__init__()
        self.reader = Incoming()
        self.reader.set_transport(self)
        self._descriptor = descriptor
        self._on_closed = on_closed
        self._loop = asyncio.get_running_loop()
        self._handed = threading.Semaphore(MAX_HANDED)
        self._wanted = threading.Event()
        self._wanted.set()
        threading.Thread(target=self._run, name="codelaw-reader", daemon=True).start()

    def pause_reading(self) -> None:
        """Nothing more is wanted for now."""
        self._wanted.clear()

    def resume_reading(self) -> None:
        """More is wanted."""
        self._wanted.set()

    def _run(self) -> None:
        try:
            while data := os.read(self._descriptor, CHUNK):
                self._wanted.wait()
                self._handed.acquire()
                self._loop.call_soon_threadsafe(self._take, data)
        except OSError as error:
            log.warning("Standard input broke: %s", error)
        except RuntimeError:
            return  # the loop is closed: nobody listens any more
        self._on_closed()
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.reader.feed_eof)

    def _take(self, data: bytes) -> None:
        self.reader.feed_data(data)
        self._handed.release()
