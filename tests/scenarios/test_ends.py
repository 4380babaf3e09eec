"""Every end of the real server, as a process of its own over stdio, whatever it is doing (V-3)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient, stdio
from tests.scenarios.conftest import SERVER, Start, act, finish

BOUND = 120.0
"""Seconds: many times the 2 s of V-3, as a busy machine takes its time; what is held would never end."""
SLEEP = "sleep 987654"

End = Callable[[RawClient], Awaitable[int]]


async def by_sigterm(client: RawClient) -> int:
    os.kill(client.process.pid, signal.SIGTERM)
    return 128 + signal.SIGTERM


async def by_end_of_input(client: RawClient) -> int:
    client.writer.close()
    return 1


async def by_exit(client: RawClient) -> int:
    await client.notify("exit")
    return 1


ENDS = [by_sigterm, by_end_of_input, by_exit]


async def ended(client: RawClient, end: End) -> None:
    """End the server, and see that it is gone in time and with the right status."""
    status = await end(client)
    began = time.monotonic()
    assert await client.process.wait() == status
    assert time.monotonic() - began < BOUND


@pytest.mark.parametrize("end", ENDS)
async def test_while_the_model_is_silent(start: Start, vendor: LoopbackVendor, end: End) -> None:
    vendor.reset([VendorReply(broken="hang", times=0)])
    async with start() as client:
        await client.start("codelaw/chat/send", {"text": "go"})
        await client.event("turn_started")
        await ended(client, end)


@pytest.mark.parametrize("end", ENDS)
async def test_while_a_command_runs_its_processes_end_too(
    start: Start, vendor: LoopbackVendor, root: Path, end: End
) -> None:
    command = f"(trap '' TERM; {SLEEP}) & {SLEEP}"
    vendor.reset([VendorReply(text=act("Bash", json.dumps({"command": command})), times=0)])
    async with start(options={"tools": {"bash": {"sandbox": "off"}}}) as client:
        client.answers["codelaw/approval/request"] = lambda params: {"optionId": params["options"][0]["id"]}
        await client.start("codelaw/chat/send", {"text": "go"})
        await client.event("tool_call", status="running")
        await until(lambda: len(sleepers(root)) == 2)
        await ended(client, end)
        await until(lambda: not sleepers(root))


@pytest.mark.parametrize("end", ENDS)
async def test_while_the_database_is_held_by_another_program(
    start: Start, vendor: LoopbackVendor, home: Path, end: End
) -> None:
    vendor.reset([VendorReply(text=finish("x"), times=0)])
    async with start() as client:
        await client.request("codelaw/chat/send", {"text": "go"})
        held = sqlite3.connect(home / "codelaw.db", isolation_level=None)
        held.execute("BEGIN EXCLUSIVE")
        await client.start("codelaw/chat/send", {"text": "again"})
        await client.start("codelaw/chat/create", {})
        await ended(client, end)
        held.close()


@pytest.mark.parametrize("end", ENDS)
async def test_while_the_engine_is_still_loading(start: Start, end: End) -> None:
    async with start() as client:
        await ended(client, end)


async def test_after_shutdown_nothing_is_left(tmp_path: Path) -> None:
    """Leaving at once is no crash: the log of the database is moved into it, and no lock or folder stays behind."""
    environment = os.environ | {"CODELAW_HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path)}
    async with stdio(SERVER, env=environment) as client:
        await client.initialize()
        await client.request("codelaw/chat/send", {"text": "go"})
        assert await client.shut_down() == 0
    assert sorted(path.name for path in (tmp_path / "home").glob("codelaw.db*")) == ["codelaw.db"]
    assert not list((tmp_path / "home" / "owners").glob("*.lock"))
    assert not list(tmp_path.glob("codelaw-*"))


def sleepers(folder: Path) -> list[str]:
    """The processes of the command, by what they were started with and where."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if words.startswith(SLEEP) and (process / "cwd").resolve().is_relative_to(folder):
                found.append(words)
    return found


async def until(true: Callable[[], bool]) -> None:
    """Wait for something that must come."""
    async with asyncio.timeout(150):
        while not true():
            await asyncio.sleep(0.02)
