from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator

import pytest

from codelaw.lsp.transport import parent, stdio
from codelaw.lsp.transport.framing import Frame, frame
from codelaw.lsp.transport.stdio import PipeWire, read_pipe


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        try:
            os.close(descriptor)
        except OSError:
            assert descriptor is not None


def test_messages_are_written_in_order_before_the_end(pipe: tuple[int, int]) -> None:
    wire = PipeWire(pipe[1], pytest.fail)
    bodies = [b"x" * number for number in range(200)]
    for body in bodies:
        wire.send(body)
    wire.close(10)
    expected = b"".join(frame(body) for body in bodies)
    assert os.read(pipe[0], 1 << 20) == expected


def test_a_client_that_never_reads_is_given_up_once(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_QUEUED", 1 << 20)
    reasons: list[str] = []
    wire = PipeWire(pipe[1], reasons.append)
    for _ in range(100):
        wire.send(b"x" * 100_000)
    assert len(reasons) == 1
    assert "has not read" in reasons[0]
    assert wire._queued <= (1 << 20) + 200_000
    os.close(pipe[0])
    wire.close(10)


def test_one_large_message_is_not_a_stall(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_QUEUED", 1000)
    wire = PipeWire(pipe[1], pytest.fail)
    wire.send(b"x" * 5000)
    wire.close(10)
    assert len(os.read(pipe[0], 1 << 16)) > 5000


def test_a_closed_pipe_is_told(pipe: tuple[int, int]) -> None:
    told = threading.Event()
    wire = PipeWire(pipe[1], lambda _why: told.set())
    os.close(pipe[0])
    wire.send(b"{}")
    assert told.wait(150)
    wire.send(b"{}")
    wire.close(10)


async def test_frames_are_delivered_on_the_loop_and_then_the_end(pipe: tuple[int, int]) -> None:
    got: list[Frame] = []
    ended = asyncio.Event()
    read_pipe(pipe[0], asyncio.get_running_loop(), got.append, ended.set)
    bodies = [b"%d" % number for number in range(2000)]
    os.write(pipe[1], b"".join(frame(body) for body in bodies))
    os.close(pipe[1])
    async with asyncio.timeout(150):
        await ended.wait()
    assert got == bodies


@pytest.mark.parametrize("way", ["pidfd", "poll"])
async def test_the_end_of_a_process_is_noticed(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    if way == "poll":  # only now: asyncio may have needed it to start a process
        monkeypatch.delattr(os, "pidfd_open")
        monkeypatch.setattr(parent, "POLL_SECONDS", 0.01)
    watching = asyncio.create_task(parent.process_gone(process.pid))
    done, _ = await asyncio.wait([watching], timeout=0.1)
    assert not done
    process.kill()
    await process.wait()
    async with asyncio.timeout(150):
        await watching
        await parent.process_gone(process.pid)
