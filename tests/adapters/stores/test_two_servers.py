"""Two processes that write to one database at once; `benchmarks/two_servers.py` does it for a minute (D-4)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[3] / "benchmarks" / "two_servers.py"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    return str(tmp_path / "chats.db") if request.param == "sqlite" else request.getfixturevalue("postgres_url")


async def test_two_servers_that_write_at_once_lose_nothing(url):
    process = await asyncio.create_subprocess_exec(
        sys.executable, PROGRAM, url, "--seconds", "3", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, output.decode() + errors.decode()
    assert "nothing" in output.decode()
