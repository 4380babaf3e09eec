"""Programs of ours that are asked something: git, and those that search; `programs` finds them (M-8, T-3)."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path


@contextlib.asynccontextmanager
async def started(
    *argv: str,
    env: Mapping[str, str],
    cwd: Path | str = "/",
    stdin: int = DEVNULL,
    stderr: int = DEVNULL,
    limit: int = 1 << 16,
) -> AsyncGenerator[Process]:
    """A program whose output is a pipe, read in lines of up to `limit` bytes.

    On leaving it is killed where it still runs, and has ended. To wait for it alone would be to wait for the ends of
    its pipes: for ever, where nobody has read all of them or a process that it has left behind holds one.

    Raises:
        OSError: it cannot be started.
        ValueError: a word holds a NUL character.
    """
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=limit, loop=loop),
        *argv,
        stdin=stdin,
        stdout=PIPE,
        stderr=stderr,
        cwd=cwd,
        env=env,
    )
    process = Process(transport, protocol, loop)
    try:
        yield process
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        for pipe in filter(None, map(transport.get_pipe_transport, range(3))):
            pipe.close()
        await asyncio.shield(process.wait())
