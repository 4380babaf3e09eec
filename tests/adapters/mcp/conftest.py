"""Servers of the room's tests, and what speaks with them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from codelaw.adapters.mcp.means import Fence, ServerMeans
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.served import Address, Program, ServerAnswer, ServerQuestion, ServerSpec, ServerState

HERE = Path(__file__).parent


class Told:
    """The states that were told, in order."""

    def __init__(self) -> None:
        self.states: list[ServerState] = []
        self._came = asyncio.Event()

    def __call__(self, state: ServerState) -> None:
        self.states.append(state)
        self._came.set()

    async def until(self, name: str, state: str, *, after: int = 0) -> ServerState:
        while True:
            for one in self.states[after:]:
                if (one.name, one.state) == (name, state):
                    return one
                assert (one.name, one.state) != (name, "failed"), one.message
            self._came.clear()
            async with asyncio.timeout(150):
                await self._came.wait()


class Person:
    """Answers a server's questions in the same way each time."""

    def __init__(self, answer: ServerAnswer) -> None:
        self._answer = answer
        self.asked: list[ServerQuestion] = []
        self.heard: list[str] = []

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        self.asked.append(question)
        return self._answer

    def reported(self, line: str) -> None:
        self.heard.append(line)


async def no_calls() -> None:
    """Wait until no call is under way any more."""
    async with asyncio.timeout(150):
        while any("Server._do" in str(task.get_coro()) for task in asyncio.all_tasks()):
            await asyncio.sleep(0.01)


NOBODY = Person(ServerAnswer("decline"))


@pytest.fixture
def reported() -> Told:
    return Told()


@pytest.fixture
async def servers(reported: Told, tmp_path: Path) -> AsyncIterator[McpServers]:
    made = made_servers(tmp_path, reported)
    yield made
    await made.close()


def made_servers(folder: Path, reported: Told, **means: object) -> McpServers:
    fence = Fence(environment=dict(os.environ))
    return McpServers(replace(ServerMeans(cwd=folder, version="test", fence=fence), **means), reported)


def program(name: str, script: str, *args: str) -> ServerSpec:
    return ServerSpec(name, Program(sys.executable, (str(HERE / script), *args)), "test")


@pytest.fixture(params=["stdio new", "stdio old", "http new", "http old"])
async def well_behaved(request: pytest.FixtureRequest) -> AsyncIterator[ServerSpec]:
    """The same server in both eras of the protocol, over both transports."""
    way, era = request.param.split()
    if way == "stdio":
        yield program("good", "well_behaved.py", way, era)
        return
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "well_behaved.py"), way, era, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    port = int(await process.stdout.readline())
    yield ServerSpec("good", Address(f"http://127.0.0.1:{port}/mcp"), "test")
    process.terminate()
    await process.wait()


def processes(mark: Path) -> list[int]:
    """Those that live with this in their environment."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TEST_MARK={mark}".encode() in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found
