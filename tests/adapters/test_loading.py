"""What is loaded in a thread that nobody waits for at the end (V-3)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from codelaw.adapters.loading import load


async def test_a_failure_is_raised_where_it_is_waited_for() -> None:
    with pytest.raises(KeyError, match="gone"):
        await load(lambda: {}["gone"])


async def test_a_waiter_may_give_up() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await load(lambda: 1)


def test_a_loop_that_ends_does_not_wait() -> None:
    program = (
        "import asyncio, sys, time\n"
        "from codelaw.adapters.loading import load\n"
        "async def main():\n"
        "    asyncio.ensure_future(load(lambda: time.sleep(987654)))\n"
        "    await asyncio.sleep(0)\n"
        "asyncio.run(main())\n"
    )
    server = str(Path(__file__).parents[2] / "server")
    ended = subprocess.run([sys.executable, "-c", program], cwd=server, capture_output=True, timeout=150, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
