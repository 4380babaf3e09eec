"""Which processes live; inside a sandbox a process has another id than outside, so they are known by their words."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

T = TypeVar("T")


def command_lines() -> list[bytes]:
    """The command lines of all processes that live."""
    found: list[bytes] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(entry.read_bytes())
    return found


def own_seconds() -> str:
    """Half a minute, and a fraction that nobody else sleeps."""
    return f"31.{os.getpid()}{uuid4().int % 1_000_000}"


def sleeps(seconds: str) -> bool:
    """Whether somebody still sleeps so long."""
    return any(seconds.encode() in line for line in command_lines())


def kill(processes: Iterable[int]) -> None:
    """Those of them that still live."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


async def dies(lives: Callable[[], object]) -> bool:
    """Whether who was killed is gone at last: a signal that was sent may not have arrived."""
    for _ in range(7500):
        if not lives():
            return True
        await asyncio.sleep(0.02)
    return False


async def once_begun(run: Callable[[float], Awaitable[T]], begun: Callable[[T], bool]) -> T:
    """What `run` gives with the shortest time that lets it begin: on a busy machine half a second is over before."""
    for seconds in (0.5, 5.0):
        result = await run(seconds)
        if begun(result):
            return result
    return await run(50.0)
