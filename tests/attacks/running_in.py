"""Commands in the sandbox that counts, for attacks that look at them while they run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from codelaw.adapters.processes.local import LocalProcesses
from tests.attacks.row import NotRun
from tests.attacks.world import World


@asynccontextmanager
async def locked_in(world: World) -> AsyncIterator[LocalProcesses]:
    """Raises `NotRun` where there is none."""
    sandbox = world.sandbox("bubblewrap")
    means = await sandbox.means()
    if means.kind is None:
        raise NotRun(means.detail)
    try:
        yield world.processes(sandbox, means)
    finally:
        await sandbox.close()
