from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator

import pytest

from codelaw.lsp.server import serve
from codelaw.lsp.transport import stdio
from codelaw.lsp.transport.messages import framed, next_frame
from codelaw.lsp.transport.stdio import PipeReader, PipeWriter


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
    writer = PipeWriter(pipe[1], pytest.fail)
    bodies = [b"x" * number for number in range(200)]
    for body in bodies:
        writer.send(body)
    writer.close(10)
    expected = b"".join(framed(body) for body in bodies)
    assert os.read(pipe[0], 1 << 20) == expected


def test_a_client_that_never_reads_is_given_up_once(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_QUEUED", 1 << 20)
    reasons: list[str] = []
    writer = PipeWriter(pipe[1], reasons.append)
    for _ in range(100):
        writer.send(b"x" * 100_000)
    assert len(reasons) == 1
    assert "has not read" in reasons[0]
    os.close(pipe[0])
    writer.close(10)


def test_one_large_message_is_not_a_stall(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "MAX_QUEUED", 1000)
    writer = PipeWriter(pipe[1], pytest.fail)
    writer.send(b"x" * 5000)
    writer.close(10)
    assert len(os.read(pipe[0], 1 << 16)) > 5000


def test_a_closed_pipe_is_told(pipe: tuple[int, int]) -> None:
    reported = threading.Event()
    writer = PipeWriter(pipe[1], lambda _why: reported.set())
    os.close(pipe[0])
    writer.send(b"{}")
    assert reported.wait(150)
    writer.send(b"{}")
    writer.close(10)


async def test_messages_are_read_in_order_and_then_the_end(pipe: tuple[int, int]) -> None:
    closed = threading.Event()
    reader = PipeReader(pipe[0], closed.set).reader
    bodies = [b"%d" % number for number in range(2000)] + [b"x" * (3 << 20)]

    def write() -> None:
        data = b"".join(framed(body) for body in bodies)
        while data:
            data = data[os.write(pipe[1], data) :]
        os.close(pipe[1])

    writing = asyncio.create_task(asyncio.to_thread(write))
    async with asyncio.timeout(150):
        got = [await next_frame(reader) for _ in bodies]
        assert await next_frame(reader) is None
        await writing
    assert got == bodies
    assert closed.is_set()


def test_a_client_that_sends_more_than_is_taken_is_not_read_far_ahead(pipe: tuple[int, int]) -> None:
    async def sent() -> int:
        PipeReader(pipe[0], lambda: None)
        os.set_blocking(pipe[1], False)
        count = 0
        for _ in range(200):
            try:
                count += os.write(pipe[1], b"x" * (1 << 20))
            except BlockingIOError:
                await asyncio.sleep(0.001)
        os.close(pipe[1])
        return count

    assert asyncio.run(sent()) < 4 << 20


@pytest.mark.parametrize("way", ["pidfd", "poll"])
async def test_the_end_of_a_process_is_noticed(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    if way == "poll":  # only now: asyncio may have needed it to start a process
        monkeypatch.delattr(os, "pidfd_open")
        monkeypatch.setattr(serve, "POLL_SECONDS", 0.01)
    watching = asyncio.create_task(serve.process_gone(process.pid))
    done, _ = await asyncio.wait([watching], timeout=0.1)
    assert not done
    process.kill()
    await process.wait()
    async with asyncio.timeout(150):
        await watching
        await serve.process_gone(process.pid)
