"""A server with a fake session behind it, over real pipes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.lsp.raw import RawClient, stdio

FAKE_SERVER = [sys.executable, str(Path(__file__).with_name("fake_server.py"))]


@pytest.fixture
async def fresh() -> AsyncIterator[RawClient]:
    """A client of a server that has not been initialized."""
    async with stdio(FAKE_SERVER) as client:
        yield client


@pytest.fixture
async def client(fresh: RawClient) -> RawClient:
    """An initialized client that declares everything."""
    await fresh.initialize()
    return fresh
