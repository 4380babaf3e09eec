"""The real server over stdio, and a vendor on loopback."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.warm import warm
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient, stdio

SERVER = [sys.executable, "-m", "codelaw", "serve", "--stdio"]

Start = Callable[..., AbstractAsyncContextManager[RawClient]]


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackVendor]:
    async with LoopbackVendor() as made:
        yield made


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def server() -> Iterator[list[str]]:
    """A command that starts the real server, quickly."""
    with warm(
        SERVER,
        "codelaw.cli.main:entry",
        "tests.fakes.rehearsed:wire",
        "tests.fakes.rehearsed:tokens",
        "tests.fakes.rehearsed:engine",
    ) as command:
        yield [*command, "serve", "--stdio"] if command != SERVER else SERVER


@pytest.fixture
def start(vendor: LoopbackVendor, root: Path, home: Path, server: list[str]) -> Start:
    """Starts an initialized server on the same home and workspace, as often as wanted."""
    return starting(server, vendor, root, home)


def starting(command: list[str], vendor: LoopbackVendor, root: Path, home: Path) -> Start:
    """The same with a server of one's own."""

    @asynccontextmanager
    async def started(
        capabilities: dict[str, Any] | None = None, options: dict[str, Any] | None = None
    ) -> AsyncIterator[RawClient]:
        model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5"}
        env = {**os.environ, "CODELAW_HOME": str(home)}
        async with stdio(command, env=env) as client:
            given = {"model": model, "memory": {"timeoutMs": 20_000}, **(options or {})}
            await client.initialize(capabilities, folders=[root], options=given)
            yield client

    return started


def act(tool: str, arguments: str, thought: str = "think") -> str:
    """A reply in the text dialect."""
    return f"Thought: {thought}\nAction: {tool}[{arguments}]"


def finish(answer: str) -> str:
    return f"Thought: done\nAction: Finish[{answer}]"
