"""Messages over this process's own standard input and output."""

from __future__ import annotations

import asyncio
import logging
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

from codelaw.lsp.transport.framing import Frame, Frames, frame

log = logging.getLogger(__name__)

MAX_QUEUED = 64 << 20
"""Bytes that may wait for a client that does not read."""
MAX_HANDED = 256
"""Frames read ahead of the event loop."""
CHUNK = 1 << 16


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
    return not any(told & (select.POLLERR | select.POLLNVAL) for _, told in waiting.poll(0))


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


class PipeWire:
    """Writes framed messages from a thread of its own, so that a client that does not read blocks nobody."""

    def __init__(self, descriptor: int, on_broken: Callable[[str], None]) -> None:
        """`on_broken` is called once, from any thread, when nothing can be written any more."""
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._state = threading.Condition()
        self._closing = False
        self._broken = False
        self._thread = threading.Thread(target=self._run, name="codelaw-writer", daemon=True)
        self._thread.start()

    def send(self, body: bytes) -> None:
        """Queue a message. Over `MAX_QUEUED` the client counts as gone."""
        with self._state:
            if self._closing or self._broken:
                return
            stalled = self._queued > 0 and self._queued + len(body) > MAX_QUEUED
            if not stalled:
                self._queue.append(frame(body))
                self._queued += len(self._queue[-1])
                self._state.notify()
        if stalled:
            self._break(f"the client has not read {self._queued} bytes")

    def close(self, seconds: float) -> None:
        """Write what is queued, for at most `seconds`."""
        with self._state:
            self._closing = True
            self._state.notify()
        self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._state:
                while not self._queue and not self._closing and not self._broken:
                    self._state.wait()
                if self._broken or not self._queue:
                    return
                data = self._queue.popleft()
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                self._break(str(error))
                return
            with self._state:
                self._queued -= len(data)

    def _break(self, why: str) -> None:
        with self._state:
            if self._broken:
                return
            self._broken = True
            self._queue.clear()
            self._state.notify()
        self._on_broken(why)


def read_pipe(
    descriptor: int,
    loop: asyncio.AbstractEventLoop,
    deliver: Callable[[Frame], None],
    on_end: Callable[[], None],
    on_closed: Callable[[], None] = lambda: None,
) -> None:
    """Start a thread that reads frames and delivers them on the loop; `on_end` is called there at the end of input.

    `on_closed` is called in the thread at that moment: the loop may be held up.
    """
    handed = threading.Semaphore(MAX_HANDED)

    def give(item: Frame) -> None:
        handed.release()
        deliver(item)

    def run() -> None:
        frames = Frames()
        try:
            while data := os.read(descriptor, CHUNK):
                for item in frames.feed(data):
                    handed.acquire()
                    loop.call_soon_threadsafe(give, item)
        except OSError as error:
            log.warning("Standard input broke: %s", error)
        except RuntimeError:
            return  # the loop is closed: nobody listens any more
        on_closed()
        try:
            loop.call_soon_threadsafe(on_end)
        except RuntimeError:
            return

    threading.Thread(target=run, name="codelaw-reader", daemon=True).start()
