"""The base protocol's framing: whatever is sent, the next message is read (S-6, V-2)."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.lsp.transport.messages import CHUNK, BadMessage, Frame, Incoming, framed, next_frame


def fed(data: bytes, size: int = 1 << 16, limit: int = 1 << 20) -> list[Frame]:
    async def read() -> list[Frame]:
        reader = Incoming()
        taking = asyncio.ensure_future(taken(reader, limit))
        for start in range(0, len(data), size):
            reader.feed_data(data[start : start + size])
            await asyncio.sleep(0)
            assert len(reader._buffer) <= max(limit, 2 * CHUNK) + size  # type: ignore[attr-defined]
        reader.feed_eof()
        return await taking

    return asyncio.run(read())


async def taken(reader: Incoming, limit: int) -> list[Frame]:
    frames: list[Frame] = []
    while (item := await next_frame(reader, limit)) is not None:
        frames.append(item)
    return frames


@given(st.lists(st.binary(max_size=200), max_size=10), st.integers(1, 64))
def test_any_cutting_of_the_stream_gives_the_same_bodies(bodies: list[bytes], size: int) -> None:
    assert fed(b"".join(framed(body) for body in bodies), size) == bodies


@given(st.binary(max_size=400), st.integers(1, 64))
def test_garbage_never_raises_and_the_cutting_does_not_matter(data: bytes, size: int) -> None:
    assert list(map(str, fed(data, size))) == list(map(str, fed(data)))


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nX-Other: 1\r\n\r\n",
        b"\r\n\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_headers_are_read_as_clients_write_them(header: bytes) -> None:
    assert fed(header + b"{}" + framed(b"[]")) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    "header", [b"Content-Length: -1", b"Content-Length: two", b"Length: 2", b"garbage", b"x" * 1_000_000 + b"\n"]
)
def test_a_header_without_a_length_is_told_and_the_next_message_is_read(header: bytes) -> None:
    found = fed(header + b"\r\n\r\n" + framed(b"{}"))
    assert isinstance(found[0], BadMessage)
    assert "Content-Length" in found[0].error.message
    assert found[1:] == [b"{}"]


def test_a_length_that_is_too_short_loses_one_message_only() -> None:
    found = fed(b'Content-Length: 3\r\n\r\n{"a": 1}' + framed(b"{}") + framed(b"[]"))
    assert found == [b'{"a', b"{}", b"[]"]


@pytest.mark.parametrize("size", [100, CHUNK - 1, CHUNK, 4 * CHUNK])
def test_a_header_is_found_at_the_end_of_a_line_that_is_too_long(size: int) -> None:
    stray = b"x" * (CHUNK + 5000)
    assert fed(stray + framed(b"{}") + framed(b"[]"), size) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    ("head", "request_id"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"text": "', 7),
        (b'{"id": "a-7", "method": "m", "x": "', "a-7"),
        (b'{"method": "m", "params": {"id": 7, "text": "', None),
    ],
)
def test_an_oversized_body_is_skipped_and_told_with_its_id(head: bytes, request_id: int | str | None) -> None:
    body = head + b"x" * 200_000 + b'"}}'
    found = fed(framed(body) + framed(b"{}"), size=100, limit=1000)
    assert isinstance(found[0], BadMessage)
    assert found[0].request_id == request_id
    assert str(len(body)) in found[0].error.message
    assert found[1:] == [b"{}"]
