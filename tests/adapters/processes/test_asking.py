"""Requests to the proxy: what can be read in two ways is not taken (S-4)."""

from __future__ import annotations

import ssl
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.adapters.processes.network.asking import BadRequest, NotTls, ProxyRequest, asked_name, read_head


def head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


@pytest.mark.parametrize(
    ("lines", "host", "port"),
    [
        (["CONNECT a.example:443 HTTP/1.1", "Host: a.example:443"], "a.example", 443),
        (["CONNECT a.example:443 HTTP/1.0"], "a.example", 443),
        (["CONNECT A.Example.:22 HTTP/1.1", "host:a.example:22", "User-Agent: x"], "a.example", 22),
        (["CONNECT [2001:DB8::1]:443 HTTP/1.1", "Host: [2001:db8:0::1]:443"], "2001:db8::1", 443),
    ],
)
def test_a_tunnel(lines: list[str], host: str, port: int) -> None:
    asked = read_head(head(*lines))
    assert (str(asked.host), asked.port, asked.tunnel, asked.head) == (host, port, True, b"")


def test_a_plain_request_is_passed_on_alone_and_without_what_belongs_to_one_hop() -> None:
    asked = read_head(
        head(
            "POST http://A.Example.:8080/x?y=1 HTTP/1.1",
            "Host: a.example:8080",
            "Connection: keep-alive, X-Secret",
            "Proxy-Connection: keep-alive",
            "Proxy-Authorization: Basic eA==",
            "Upgrade: h2c",
            "X-Secret: 1",
            "Accept: */*",
            "Content-Length: 3",
        )
    )
    assert asked == ProxyRequest(
        "POST",
        "a.example",
        8080,
        tunnel=False,
        head=head(
            "POST /x?y=1 HTTP/1.1", "Host: a.example:8080", "Connection: close", "Accept: */*", "Content-Length: 3"
        ),
        body=3,
    )


@pytest.mark.parametrize(
    ("target", "path", "named"),
    [
        ("http://a.example", "/", "a.example"),
        ("HTTP://a.example?q", "/?q", "a.example"),
        ("http://[::1]:81/x", "/x", "[::1]:81"),
    ],
)
def test_the_target_of_a_plain_request(target: str, path: str, named: str) -> None:
    asked = read_head(head(f"GET {target} HTTP/1.1", f"Host: {named}"))
    assert asked.head == head(f"GET {path} HTTP/1.1", f"Host: {named}", "Connection: close")


BAD = [
    # Two readings of the host.
    (["GET http://a.example/ HTTP/1.1", "Host: evil.example"], "another host"),
    (["GET http://a.example:8080/ HTTP/1.1", "Host: a.example"], "another host"),
    (["GET http://a.example/ HTTP/1.1", "Host: a.example", "Host: evil.example"], "more than one field Host"),
    (["GET http://a.example/ HTTP/1.1", "Host: a.example, evil.example"], "cannot be read"),
    (["GET http://a.example/ HTTP/1.1"], "no field Host"),
    (["GET http://a.example/ HTTP/1.1", "Host : a.example"], "header field"),
    (["GET http://a.example/ HTTP/1.1", "X: y", " Host: evil.example", "Host: a.example"], "header field"),
    (["GET http://a.example/ HTTP/1.1", "Host: a.example\nHost: evil.example"], "header field"),
    (["GET http://a.example/ HTTP/1.1", "Host: a.example\0"], "header field"),
    (["CONNECT a.example:443 HTTP/1.1", "Host: evil.example:443"], "another host"),
    # Users, paths and other disguises.
    (["GET http://a.example@evil.example/ HTTP/1.1", "Host: evil.example"], "user and password"),
    (["GET http://a.example\\@evil.example/ HTTP/1.1", "Host: evil.example"], "user and password"),
    (["GET http://a.example%2eevil.example/ HTTP/1.1", "Host: a.example"], "host cannot be read"),
    (["GET http://a.example/#x HTTP/1.1", "Host: a.example"], "fragment"),
    (["GET http://a.example:0/ HTTP/1.1", "Host: a.example"], "port"),
    (["CONNECT a.example HTTP/1.1"], "port"),
    (["CONNECT a.example:443/x HTTP/1.1"], "host cannot be read"),
    (["CONNECT a..example:443 HTTP/1.1"], "not the name of a host"),
    # Addresses in disguise.
    (["CONNECT 0x7f.1:443 HTTP/1.1"], "four decimal numbers"),
    (["CONNECT 2130706433:443 HTTP/1.1"], "four decimal numbers"),
    (["CONNECT [fe80::1%eth0]:443 HTTP/1.1"], "host cannot be read"),
    (["CONNECT [127.0.0.1]:443 HTTP/1.1"], "not an IPv6 address"),
    # Other first lines.
    (["GET / HTTP/1.1", "Host: a.example"], "names no host"),
    (["GET https://a.example/ HTTP/1.1", "Host: a.example"], "must be CONNECT"),
    (["PRI * HTTP/2.0"], "first line"),
    (["GET http://a.example/ HTTP/1.1 ", "Host: a.example"], "first line"),
    (["get http://a.example/ HTTP/1.1", "Host: a.example"], "first line"),
    (["CONNECT a.example:443 HTTP/1.1\rHost: b"], "first line"),
    (["\x16\x03\x01"], "first line"),
    # Bodies that hide a second request.
    (["POST http://a.example/ HTTP/1.1", "Host: a.example", "Transfer-Encoding: chunked"], "without Content-Length"),
    (
        ["POST http://a.example/ HTTP/1.1", "Host: a.example", "Content-Length: 3", "Content-Length: 4"],
        "Content-Length",
    ),
    (["POST http://a.example/ HTTP/1.1", "Host: a.example", "Content-Length: +3"], "Content-Length"),
    (["POST http://a.example/ HTTP/1.1", "Host: a.example", "Content-Length: 9999999999999999"], "Content-Length"),
    (["CONNECT a.example:443 HTTP/1.1", "Content-Length: 5"], "no body"),
    (["GET http://a.example/ HTTP/1.1", "Host: a.example", *["X: y"] * 100], "too many"),
]


@pytest.mark.parametrize(("lines", "why"), BAD)
def test_what_could_be_read_in_two_ways_is_not_taken(lines: list[str], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        read_head(head(*lines))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_a_bad_one(noise: bytes) -> None:
    for text in (noise, b"CONNECT " + noise + b" HTTP/1.1", b"GET http://a.example/ HTTP/1.1\r\n" + noise):
        try:
            asked = read_head(text + b"\r\n\r\n")
        except BadRequest:
            continue
        # One request, for one host, whatever the bytes were.
        assert asked.head.count(b"\r\n\r\n") == (0 if asked.tunnel else 1)
        assert asked.head.lower().count(b"\r\nhost:") == (0 if asked.tunnel else 1)


# ------------------------------------------------------------------------------------------ the name in a TLS greeting


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


HIDDEN = (0xFE0D, b"\0" + bytes((0, 1, 0, 1, 7)) + block(bytes(32), 2) + block(bytes(99), 2))


def in_pieces(greeting: bytes, size: int) -> bytes:
    """The same message in several records."""
    parts = [greeting[at : at + size] for at in range(5, len(greeting), size)]
    return b"".join(b"\x16\x03\x03" + block(part, 2) for part in parts)


def test_the_name_that_a_real_client_asks_for() -> None:
    assert asked_name(greeting("Api.Example.org")) == "api.example.org"
    assert asked_name(greeting(None)) == ""


def test_it_may_come_byte_by_byte_and_in_several_records() -> None:
    whole = greeting("api.example.org")
    assert [asked_name(whole[:size]) for size in range(len(whole))] == [None] * len(whole)
    assert asked_name(in_pieces(whole, 7)) == "api.example.org"


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GET / HTTP/1.1\r\n", "no TLS"),
        (b"\x17\x03\x03\x00\x01x", "no TLS"),
        (b"\x16\x03\x01\xff\xff", "no TLS"),
        (b"\x16\x03\x01\x00\x04\x01\xff\xff\xff", "no TLS"),
        (b"\x16\x03\x01\x00\x05\x01\x00\x00\x01x", "no TLS"),
        (made(named("a.example", "evil.example")), "no TLS"),
        (made(named("a.example"), named("evil.example")), "no TLS"),
        (made(named("a.example"), HIDDEN), "hides the name"),
        (in_pieces(made(named("a.example"), HIDDEN), 3), "hides the name"),
        (made(named("a.example"), (0xFE0D, b"\0" + bytes((0, 16, 0, 1, 7)) + bytes(64))), "hides the name"),
        (made(named("a.example"), (0x1234, b""), (0x1234, b"")), "no TLS"),
        (made(named("a.ex\xe4mple")), "no TLS"),
        (made((0, b"")), "no TLS"),
        (made((0, block(b"\1" + block(b"x", 2), 2))), "no TLS"),
        (b"\x16\x03\x01\x00\x01\x01" + b"\x16\x03\x01\x00\x01\x00" * 30_000, "TLS"),
    ],
)
def test_what_is_no_greeting_or_hides_its_name(sent: bytes, why: str) -> None:
    with pytest.raises(NotTls, match=why):
        asked_name(sent)


def test_a_greeting_that_drips_costs_little() -> None:
    whole = made(*((0x1000 + number, bytes(100)) for number in range(100)), named("a.example"))
    begun = time.process_time()
    assert [asked_name(whole[:size]) for size in range(len(whole))] == [None] * len(whole)
    assert time.process_time() - begun < 1


def test_a_made_one_is_read() -> None:
    assert asked_name(made(named("a.example"))) == "a.example"
    assert asked_name(made((0x1234, b"x"))) == ""


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(noise: bytes) -> None:
    for sent in (noise, b"\x16\x03\x01" + noise, made((0, noise)), made((5, noise), rest=noise)):
        try:
            asked_name(sent)
        except NotTls:
            continue
