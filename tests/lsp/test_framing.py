from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.lsp.transport.framing import Frame, Frames, Oversized, Unframed, frame


def fed(data: bytes, size: int = 1 << 16, limit: int = 1 << 20) -> list[Frame]:
    frames = Frames(limit)
    return [item for start in range(0, len(data), size) for item in frames.feed(data[start : start + size])]


@given(st.lists(st.binary(max_size=200), max_size=10), st.integers(1, 64))
def test_any_cutting_of_the_stream_gives_the_same_bodies(bodies: list[bytes], size: int) -> None:
    assert fed(b"".join(frame(body) for body in bodies), size) == bodies


@given(st.binary(max_size=400), st.integers(1, 64))
def test_garbage_never_raises_and_the_cutting_does_not_matter(data: bytes, size: int) -> None:
    assert fed(data, size) == fed(data)


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
    assert fed(header + b"{}" + frame(b"[]")) == [b"{}", b"[]"]


@pytest.mark.parametrize("header", [b"Content-Length: -1", b"Content-Length: two", b"Length: 2", b"garbage"])
def test_a_header_without_a_length_is_told_and_the_next_message_is_read(header: bytes) -> None:
    found = fed(header + b"\r\n\r\n" + frame(b"{}"))
    assert isinstance(found[0], Unframed)
    assert found[1:] == [b"{}"]


def test_a_length_that_is_too_short_loses_one_message_only() -> None:
    found = fed(b'Content-Length: 3\r\n\r\n{"a": 1}' + frame(b"{}") + frame(b"[]"))
    assert found == [b'{"a', b"{}", b"[]"]


def test_an_oversized_body_is_skipped_and_told_with_its_id() -> None:
    body = b'{"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"text": "' + b"x" * 2000 + b'"}}'
    found = fed(frame(body) + frame(b"{}"), size=100, limit=1000)
    assert isinstance(found[0], Oversized)
    assert (found[0].length, found[0].request_id()) == (len(body), 7)
    assert found[1:] == [b"{}"]


def test_an_id_inside_the_params_is_not_the_id() -> None:
    assert Oversized(1, b'{"method": "m", "params": {"id": 7').request_id() is None
    assert Oversized(1, b'{"id": "a-7", "method": "m"').request_id() == "a-7"


def test_a_skipped_body_is_not_kept() -> None:
    frames = Frames(10)
    frames.feed(b"Content-Length: 999999999999\r\n\r\n")
    for _ in range(100):
        assert frames.feed(b"x" * 10_000) == []
    assert len(frames._buffer) + len(frames._head) < 1000


def test_an_endless_line_is_not_kept() -> None:
    frames = Frames()
    for _ in range(100):
        frames.feed(b"x" * 10_000)
    assert len(frames._buffer) < 20_000
    assert [type(item) for item in frames.feed(b"\n\n" + frame(b"{}"))] == [Unframed, bytes]
