"""The name in a TLS greeting (S-4)."""

from __future__ import annotations

import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.adapters.processes.network.hello import NotTls, asked_name


def greeting(name: str | None) -> bytes:
    """What a real client sends first."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(into, out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def block(content: bytes, size: int) -> bytes:
    return len(content).to_bytes(size, "big") + content


def made(*extensions: tuple[int, bytes], rest: bytes = b"") -> bytes:
    listed = b"".join(kind.to_bytes(2, "big") + block(content, 2) for kind, content in extensions)
    body = b"\3\3" + bytes(32) + block(b"", 1) + block(b"\x13\x01", 2) + block(b"\0", 1) + block(listed, 2) + rest
    return b"\x16\x03\x01" + block(b"\x01" + block(body, 3), 2)


def named(*names: str) -> tuple[int, bytes]:
    return 0, block(b"".join(b"\0" + block(name.encode(), 2) for name in names), 2)


def test_the_name_that_a_real_client_asks_for() -> None:
    assert asked_name(greeting("Api.Example.org")) == "api.example.org"
    assert asked_name(greeting(None)) == ""


def test_it_may_come_byte_by_byte_and_in_several_records() -> None:
    whole = greeting("api.example.org")
    assert [asked_name(whole[:size]) for size in range(len(whole))] == [None] * len(whole)
    body = whole[5:]
    parts = [body[at : at + 7] for at in range(0, len(body), 7)]
    assert asked_name(b"".join(b"\x16\x03\x03" + block(part, 2) for part in parts)) == "api.example.org"


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GET / HTTP/1.1\r\n", "no TLS"),
        (b"SSH-2.0-x\r\n", "no TLS"),
        (b"\x16\x02", "no TLS"),
        (b"\x17\x03\x03\x00\x01x", "no TLS"),
        (b"\x16\x03\x01\x00\x01\x02", "no TLS greeting"),
        (b"\x16\x03\x01\x00\x00", "broken"),
        (b"\x16\x03\x01\xff\xff", "broken"),
        (b"\x16\x03\x01\x00\x04\x01\xff\xff\xff", "broken"),
        (b"\x16\x03\x01\x00\x05\x01\x00\x00\x01x", "broken"),
        (made(named("a.example", "evil.example")), "more than one name"),
        (made(named("a.example"), named("evil.example")), "broken"),
        (made(named("a.example"), (0xFE0D, b"x")), "hides the name"),
        (made((0, b"")), "broken"),
        (made((0, block(b"\1" + block(b"x", 2), 2))), "broken"),
        (b"\x16\x03\x01\x00\x01\x01" + b"\x16\x03\x01\x00\x01\x00" * 30_000, "without an end"),
    ],
)
def test_what_is_no_greeting_or_hides_its_name(sent: bytes, why: str) -> None:
    with pytest.raises(NotTls, match=why):
        asked_name(sent)


def test_a_made_one_is_read() -> None:
    assert asked_name(made(named("a.example"))) == "a.example"
    assert asked_name(made((16, b"x"))) == ""


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(noise: bytes) -> None:
    for sent in (noise, b"\x16\x03\x01" + noise, made((0, noise)), made((5, noise), rest=noise)):
        try:
            asked_name(sent)
        except NotTls:
            continue
