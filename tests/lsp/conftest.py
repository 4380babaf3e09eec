"""A server with a fake session behind it, over real pipes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.fakes.warm import warm
from tests.lsp.raw import RawClient, stdio
from tests.scenarios.conftest import server  # noqa: F401 - a fixture

FAKE_SERVER = [sys.executable, str(Path(__file__).with_name("fake_server.py"))]


@pytest.fixture(scope="session")
def fake_server() -> Iterator[list[str]]:
    """A command that starts the server with a fake session, quickly."""
    with warm(
        FAKE_SERVER,
        "tests.lsp.fake_server:entry",
        "tests.lsp.fake_session",
        "tests.fakes.rehearsed:wire",
        "tests.fakes.rehearsed:tokens",
    ) as command:
        yield command


@pytest.fixture
async def fresh(fake_server: list[str]) -> AsyncIterator[RawClient]:
    """A client of a server that has not been initialized."""
    async with stdio(fake_server) as client:
        yield client


@pytest.fixture
async def client(fresh: RawClient) -> RawClient:
    """An initialized client that declares everything."""
    await fresh.initialize()
    return fresh
