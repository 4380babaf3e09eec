"""What tests of stores in PostgreSQL do around them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time


@contextlib.asynccontextmanager
async def child(script, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, *arguments, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def until(true):
    end = time.monotonic() + 150
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


def cut(behind):
    """End the sessions of all stores, as a network that fails does."""
    behind(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
