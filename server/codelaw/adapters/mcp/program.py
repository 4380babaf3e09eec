"""A server that is a program: started, spoken to over its standard streams, and ended with all it has started (V-3)."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from contextlib import AsyncExitStack

from codelaw.adapters.crash_journal.crash_journal import MARK
from codelaw.adapters.crash_journal.guardian_child import end_marked
from codelaw.adapters.mcp.bounds import LINE_BYTES
from codelaw.adapters.mcp.means import ServerMeans
from codelaw.adapters.processes.child import Child, within
from codelaw.adapters.processes.sandboxes.means import Confined
from codelaw.domain.served import Program
from codelaw.ports.cancelling import outlast

GRACE_SECONDS = 0.5
"""After the end of its input, and again after SIGTERM."""
KILL_SECONDS = 0.4
"""Between SIGKILL and giving up."""
DRAIN_SECONDS = 0.2
"""How long a program that has ended is still read when somebody else holds its output."""
ERROR_LINES = 8
"""Of its errors, the last, that are shown when it fails."""
ERROR_WIDTH = 300
LOGGED_LINES = 200
"""Of its errors, for each start, that go to the log."""

_log = logging.getLogger(__name__)


class RunningProgram:
    """A program that runs. `ended` is set when it has ended, or its output has."""

    def __init__(self, name: str, means: ServerMeans) -> None:
        self._name = name
        self._means = means
        self._leftovers = means.leftovers
        self._around = AsyncExitStack()
        self._hint = ""
        self._mark = os.urandom(12).hex()
        self._output = asyncio.StreamReader(limit=LINE_BYTES)
        self._errors = _Errors(name)
        self._input: asyncio.StreamWriter | None = None
        self._child: Child | None = None
        self._watch: asyncio.Task[None] | None = None
        self._by_us = False
        self.too_much = False
        """What it has said is too much to be read."""
        self.ended = asyncio.Event()

    async def start(self, program: Program) -> None:
        """Start it, in the sandbox where it has to be. Not to be cancelled: nobody would know of it then.

        Raises:
            OSError: it cannot be started, or not in the sandbox.
            ValueError: a word holds a NUL character.
        """
        if self._leftovers is not None:
            self._mark = f"{await asyncio.to_thread(self._leftovers.mark)}{self._mark}"
        cwd = program.cwd or self._means.cwd
        variables = {**program.env, "PWD": str(cwd), MARK: self._mark}
        fence = self._means.fence
        confined = Confined([program.command, *program.args], {**fence.environment, **variables})
        if program.network is not None:
            self._hint = fence.hint(program)
            around = fence.processes.confined(
                confined.argv, cwd=cwd, environment=fence.environment, server=program.network, variables=variables
            )
            confined = await self._around.enter_async_context(around)
        read, write = os.pipe()
        try:
            self._child = await Child.start(
                confined.argv,
                cwd=cwd,
                env=confined.environment,
                feeds=(self._feed, self._errors.feed),
                descriptors=confined.descriptors,
                before=confined.before,
                given=read,
            )
        except BaseException:
            os.close(write)
            raise
        finally:
            os.close(read)
        self._output.set_transport(self._child)  # pyright: ignore[reportArgumentType] - all that is asked of it
        self._input = await _writer(write)
        self._watch = asyncio.create_task(self._until_end(self._child))
        if self._leftovers is not None:
            await asyncio.to_thread(self._leftovers.guard, self._child.pid)

    async def line(self) -> bytes | None:
        """The next line of its output; None when there will be no more, or what comes cannot be read."""
        try:
            return await self._output.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            self.too_much = True
        except asyncio.IncompleteReadError:
            pass  # its last words have no end
        return None

    async def send(self, line: bytes) -> None:
        """Give it a line; waits while it does not read.

        Raises:
            OSError: it reads no more.
        """
        assert self._input is not None  # noqa: S101 - it was started
        if self._input.is_closing():
            raise BrokenPipeError("The program reads no more.")
        self._input.write(line + b"\n")
        await self._input.drain()

    def why(self) -> str:
        """Why it has ended by itself, as a sentence or two; nothing where it has not."""
        if self.too_much:
            return "It sent more in one message than can be read."
        if self._by_us:
            return ""
        code = None if self._child is None else self._child.returncode
        if code is None:
            said = "It has closed its output."
        elif code < 0:
            said = f"It was ended by signal {-code}."
        else:
            said = f"It has ended with exit code {code}."
        last = self._errors.last()
        return " ".join(filter(None, (said, f"Its last words: {last}" if last else "", self._hint)))

    async def end(self) -> None:
        """End it and what it has started, in less than two seconds; a cancel waits for that."""
        if self._child is None:
            await self._around.aclose()
            return
        ending = asyncio.ensure_future(self._end(self._child))
        cancelled = await outlast(ending)
        ending.result()
        if cancelled:
            raise asyncio.CancelledError

    async def _end(self, child: Child) -> None:
        try:
            self._by_us = not (self.ended.is_set() or child.exited.is_set())
            # What it still wants to say must not keep it from ending.
            self._stop_reading()
            child.resume_reading()
            if self._input is not None:
                self._input.close()
            await within(child.exited, GRACE_SECONDS)
            await child.terminate(grace=GRACE_SECONDS, patience=KILL_SECONDS)
            await asyncio.to_thread(_end_strays, self._mark)
        finally:
            child.close()
            if self._input is not None and self._input.transport.get_write_buffer_size():
                self._input.transport.abort()  # nobody reads what is left; without it the pipe has been closed
            if self._leftovers is not None:
                self._leftovers.unguard(child.pid)
            if self._watch is not None:
                self._watch.cancel()
                await asyncio.gather(self._watch, return_exceptions=True)
            await self._around.aclose()

    async def _until_end(self, child: Child) -> None:
        closed = asyncio.ensure_future(child.closed.wait())
        exited = asyncio.ensure_future(child.exited.wait())
        try:
            await asyncio.wait((closed, exited), return_when=asyncio.FIRST_COMPLETED)
            # The one tells why, the other lets us read what is left.
            await asyncio.wait((closed, exited), timeout=DRAIN_SECONDS)
        finally:
            closed.cancel()
            exited.cancel()
        self._stop_reading()

    def _stop_reading(self) -> None:
        self.ended.set()
        self._output.feed_eof()

    def _feed(self, data: bytes) -> None:
        if not self.ended.is_set():
            self._output.feed_data(data)


class _Errors:
    """What a program says beside its messages: the last of it, and some of it in the log."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._part = b""
        self._last: deque[str] = deque(maxlen=ERROR_LINES)
        self._logged = 0

    def feed(self, data: bytes) -> None:
        *lines, rest = (self._part + data).split(b"\n")
        self._part = rest[:ERROR_WIDTH]
        for line in lines[-LOGGED_LINES:]:
            if text := line[:ERROR_WIDTH].decode("utf-8", "replace").strip():
                self._last.append(text)
                self._logged += 1
                if self._logged <= LOGGED_LINES:
                    _log.info("%s: %r", self._name, text)

    def last(self) -> str:
        lines = [*self._last, self._part.decode("utf-8", "replace").strip()]
        return " / ".join(filter(None, lines))


async def _writer(descriptor: int) -> asyncio.StreamWriter:
    """The program's input; who writes waits while the program does not read."""
    loop = asyncio.get_running_loop()
    file = os.fdopen(descriptor, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _end_strays(mark: str) -> None:
    """Kill what has left the program's group, where `/proc` tells of it."""
    if os.path.exists("/proc/self/environ"):  # noqa: PTH110 - it is not a path of the user's
        end_marked([f"{MARK}={mark}".encode()])
